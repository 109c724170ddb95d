internal import Basics
import Dispatch
import Foundation
import Shell
import Synchronization

/// The interactive shell: reads a line, has the session carry it out, and so on.
struct Prompt {
  private let session: Session
  private let console: Console

  init(_ session: Session, _ console: Console) {
    self.session = session
    self.console = console
  }

  func run(withBanner banner: Bool) async {
    OpenedPages.removeLeft()
    if banner { console.write(Banner.text(console.display, lessons: session.lessonsFolder)) }
    let editor = LineEditor(
      program: "lab",
      historyPath: console.historyPath,
      completer: { [session] line, cursor in Self.complete(session, line, cursor) }
    )
    loop: while !console.isClosed {
      let prompt = PromptRefresher(await session.prompt, editor)
      let outcome = await editor.readLine(prompt: prompt.shown)
      prompt.stop()
      switch outcome {
      case .interrupted: await session.endQuestion()
      case .endOfInput: if await session.endInput() == .quit { break loop }
      case .line(let line):
        console.remember(line)
        // Before interrupts can come to it: what comes from here on is meant for this line.
        session.beginLine()
        let claim = Signals.shared.claim { [session] event in
          if event == .interrupt { session.interrupt() }
        }
        console.pages.withLock { $0 = true }
        let outcome = await session.execute(
          line,
          at: .prompt(columns: CellWidth.of(prompt.shown))
        )
        console.pages.withLock { $0 = false }
        claim.release()
        if outcome.contains(.quit) { break loop }
      }
    }
    await session.leave()
    await editor.close()
  }

  private static func complete(
    _ session: Session,
    _ line: String,
    _ cursor: String.Index
  ) -> Completion {
    let column = line.distance(from: line.startIndex, to: cursor)
    let found = session.completions(of: line, cursor: column)
    let start = line.index(line.startIndex, offsetBy: found.range.lowerBound)
    return Completion(
      replacing: start..<cursor,
      candidates: found.candidates.map {
        Completion.Candidate(
          $0.text,
          description: $0.description,
          ending: $0.isWhole ? " " : ""
        )
      }
    )
  }
}

/// Keeps the counts in the prompt right while a line is typed, and tells above it when the
/// background run has ended.
///
/// On a thread of its own: the run may hold every thread of the pool, and its timers with them.
private final class PromptRefresher: Sendable {
  private let text: Mutex<String>
  private let stopped = DispatchSemaphore(value: 0)
  private let gone = DispatchSemaphore(value: 0)

  init(_ prompt: PromptText, _ editor: LineEditor) {
    text = Mutex(prompt.text)
    guard prompt.isLive else {
      gone.signal()
      return
    }
    OSThread("prompt") { [self] in
      while stopped.wait(timeout: .now() + .milliseconds(250)) == .timedOut {
        if let news = prompt.news { editor.printAbove(news + "\n") }
        let next = prompt.text
        let isNew = text.withLock { shown in
          defer { shown = next }
          return shown != next
        }
        if isNew { editor.setPrompt(next) }
      }
      gone.signal()
    }.detach()
  }

  /// The prompt as it is to be seen.
  var shown: String { text.withLock { $0 } }

  /// Returns when nothing will change the prompt any more.
  func stop() {
    stopped.signal()
    gone.wait()
  }
}
