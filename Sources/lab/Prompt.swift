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
      )
    )
    loop: while !console.isClosed {
      let prompt = await session.prompt
      switch await editor.readLine(prompt: prompt) {
      case .interrupted: continue
      case .endOfInput:
        console.write("\n")
        break loop
      case .line(let line):
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
    await editor.close()
  }
}
