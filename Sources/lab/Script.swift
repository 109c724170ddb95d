internal import Basics
import Foundation
import Shell

/// Runs commands that nobody types: from options, files and standard input.
struct Script {
  enum Source {
    case text(String)
    case file(String)
    case standardInput
  }

  /// How a script ended.
  struct Ending {
    var status: Int32
    /// Whether a prompt may follow.
    var goesOn = true
  }

  private let session: Session
  private let console: Console
  private let parts: [(name: String, lines: any AsyncSequence<String, Never>)]

  /// Reads every file before anything runs: what cannot be read is wrong usage.
  init(_ sources: [Source], _ session: Session, _ console: Console) throws(ShellError) {
    self.session = session
    self.console = console
    var parts: [(name: String, lines: any AsyncSequence<String, Never>)] = []
    let texts = sources.count { if case .text = $0 { true } else { false } }
    for source in sources {
      switch source {
      case .text(let text):
        // Of several options, an error names which one; the texts come before the files.
        parts.append((texts > 1 ? "-c \(parts.count + 1)" : "-c", Lines.of(text)))
      case .file(let path):
        do {
          parts.append((path, Lines.of(try WholeFile.text(of: path))))
        } catch {
          throw ShellError("cannot read \(path): \(WholeFile.reason(error, reading: path))")
        }
      case .standardInput: parts.append(("-", Lines.ofStandardInput()))
      }
    }
    self.parts = parts
  }

  /// Runs the sources one after the other.
  func run() async -> Ending {
    var outcome = Session.Outcome.done
    for (name, lines) in parts {
      var number = 0
      for await line in lines {
        number += 1
        outcome.formUnion(await execute(line, at: .script(name: name, line: number)))
        if session.ends(with: outcome) {
          let goesOn = outcome.isDisjoint(with: [.interrupted, .quit])
          return Ending(status: console.status(outcome.status), goesOn: goesOn)
        }
      }
    }
    return Ending(status: console.status(outcome.status))
  }

  /// Carries out a line, which an interrupt stops.
  ///
  /// Between lines, while standard input is waited for, no claim is held: an interrupt then ends the
  /// program.
  private func execute(_ line: String, at place: Session.Place) async -> Session.Outcome {
    let claim = Signals.shared.claim { [session] event in
      if event == .interrupt { session.interrupt() }
    }
    let outcome = await session.execute(line, at: place)
    claim.release()
    // One that came after the last command's end concerns the script all the same.
    return session.isInterrupted ? outcome.union(.interrupted) : outcome
  }
}

/// Lines, one by one.
enum Lines {
  static func of(_ text: String) -> AsyncStream<String> {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .map(String.init)
    if lines.last == "" { lines.removeLast() }
    return AsyncStream { continuation in
      for line in lines { continuation.yield(line) }
      continuation.finish()
    }
  }

  /// The lines of standard input as they come, read on a thread of their own: a main thread that
  /// waited for them would keep the main actor from its work.
  static func ofStandardInput() -> AsyncStream<String> {
    let (stream, continuation) = AsyncStream<String>.makeStream()
    OSThread("standard input") {
      while let line = readLine() { continuation.yield(line) }
      continuation.finish()
    }.detach()
    return stream
  }
}
