import Foundation
import Shell
import Terminal

/// The interactive shell: reads a line, has the session carry it out, and so on.
struct Prompt {
  private let session: Session
  private let console: Console

  init(_ session: Session, _ console: Console) {
    self.session = session
    self.console = console
  }

  func run(withBanner banner: Bool) async {
    if banner { console.write(Banner.text(console.display)) }
    let editor = LineEditor(
      program: "lab",
      historyPath: StateDirectory.path(
        for: "history",
        environment: ProcessInfo.processInfo.environment
      ),
      completer: { [session] line, cursor in Self.complete(session, line, cursor) }
    )
    loop: while !console.isClosed {
      let prompt = await session.prompt
      let outcome = await keepingCurrent(editor) { await editor.readLine(prompt: prompt) }
      switch outcome {
      case .interrupted: continue
      case .endOfInput:
        console.write("\n")
        break loop
      case .line(let line):
        console.remember(line)
        let claim = Signals.shared.claim { [session] event in
          if event == .interrupt { session.interrupt() }
        }
        let outcome = await session.execute(
          line,
          at: .prompt(columns: CellWidth.of(prompt))
        )
        claim.release()
        if outcome == .quit { break loop }
      }
    }
    await session.leave()
    await editor.close()
  }

  /// While `body` reads a line, keeps the counts in the prompt right and tells when the background
  /// run has ended, above the line.
  private func keepingCurrent<Value: Sendable>(
    _ editor: LineEditor,
    _ body: () async -> Value
  ) async -> Value {
    guard await session.isBackgroundLive else { return await body() }
    let refresher = Task { [session] in
      var shown = ""
      while !Task.isCancelled {
        if let news = await session.news { editor.printAbove(news + "\n") }
        let prompt = await session.prompt
        if prompt != shown { editor.setPrompt(prompt) }
        shown = prompt
        try? await Task.sleep(for: .milliseconds(250))
      }
    }
    let value = await body()
    refresher.cancel()
    return value
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
