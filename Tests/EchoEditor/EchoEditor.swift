import Basics
import Foundation
import Glibc
import Shell
import Synchronization

/// Echoes the lines it reads: the line editor with nothing around it, for tests to drive through a
/// pseudo-terminal.
///
/// `ECHO_EDITOR_HISTORY` names a history file, `ECHO_EDITOR_CONTROL` a named pipe whose lines are
/// orders carried out while a line is being typed: `print TEXT`, `prompt TEXT`, `resume`, and `resume interrupted`
/// or `resume answered`, once Ctrl-C has come or an answer was read. The lines `live` and `live 3` show a live region, endless or of three frames; `pause` waits
/// for `resume`, and `wait` for Ctrl-C; `ask` reads an answer until `resume` cancels it.
@main
struct EchoEditor {
  static let words = ["run", "running", "replay", "help", "history", "limit=", "quit"]

  private static let isAnswered = Atomic(false)

  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    let editor = LineEditor(
      program: "echo-editor",
      historyPath: environment["ECHO_EDITOR_HISTORY"],
      completer: { line, cursor in
        let start = line[..<cursor].lastIndex(of: " ").map { line.index(after: $0) }
        let range = (start ?? line.startIndex)..<cursor
        return Completion(
          replacing: range,
          candidates: words.filter { $0.hasPrefix(line[range]) }.map {
            Completion.Candidate($0, ending: $0.hasSuffix("=") ? "" : " ")
          }
        )
      }
    )
    let (resumptions, resume) = AsyncStream.makeStream(of: Void.self)
    var resumption = resumptions.makeAsyncIterator()
    if let path = environment["ECHO_EDITOR_CONTROL"] {
      obey(path, editor, resume: { resume.yield() })
    }
    while true {
      switch await editor.readLine(prompt: environment["ECHO_EDITOR_PROMPT"] ?? "echo> ") {
      case .line("quit"): return await leave(editor)
      case .line("live"): say("live: \(await live(lastTick: .max))")
      case .line("live 3"): say("live: \(await live(lastTick: 3))")
      case .line("pause"):
        say("pausing")
        await resumption.next()
      case .line("ask"):
        isAnswered.store(false, ordering: .sequentiallyConsistent)
        let question = Task {
          let answer = await editor.readLine(prompt: "answer? ")
          isAnswered.store(true, ordering: .sequentiallyConsistent)
          return answer
        }
        await resumption.next()
        question.cancel()
        say("answer: \(await question.value)")
      case .line("wait"): say(await waitForInterrupt() ? "waited" : "not interrupted")
      case .line(let line): say("line: \(line)")
      case .interrupted: say("interrupted")
      case .endOfInput:
        say("end")
        return await leave(editor)
      }
    }
  }

  private static func say(_ text: String) {
    try? OutputWriter.standardOutput.write(text + "\n")
  }

  /// Shows a counter of the frames, and the size of the window.
  private static func live(lastTick: Int) async -> LiveRegion.Ending {
    let ticks = Mutex(0)
    return await LiveRegion.show(keepsLastFrame: true) { size in
      let tick = ticks.withLock { ticks in
        ticks += 1
        return ticks
      }
      let edge = String(repeating: "=", count: size.columns)
      return LiveRegion.Frame(
        lines: [edge, "tick \(tick)", "\(size.columns) columns"],
        isLast: tick == lastTick
      )
    }
  }

  private static func waitForInterrupt() async -> Bool {
    let events = Signals.shared.events()
    say("waiting")
    return await events.contains(.interrupt)
  }

  private static func leave(_ editor: LineEditor) async {
    await editor.close()
    say("closed")
  }

  private static func obey(
    _ path: String,
    _ editor: LineEditor,
    resume: @escaping @Sendable () -> Void
  ) {
    let thread = Thread {
      // Open for writing too: so it does not end when the first test to write to it is done.
      guard let pipe = fopen(path, "r+") else { return }
      var buffer: UnsafeMutablePointer<CChar>?
      var capacity = 0
      while getline(&buffer, &capacity, pipe) > 0, let line = buffer {
        let order = String(cString: line).trimmingCharacters(in: .newlines)
        if order == "resume interrupted" {
          while Signals.shared.interrupts == 0 { sched_yield() }
        }
        if order == "resume answered" {
          while !isAnswered.load(ordering: .sequentiallyConsistent) { sched_yield() }
        }
        if order.hasPrefix("resume") { resume() }
        if order.hasPrefix("print ") { editor.printAbove(String(order.dropFirst(6))) }
        if order.hasPrefix("prompt ") { editor.setPrompt(String(order.dropFirst(7))) }
      }
    }
    thread.start()
  }
}
