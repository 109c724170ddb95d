internal import Basics
import Foundation
import Synchronization

/// Reads lines that a person edits at a terminal.
///
/// The work is done by libedit, which blocks the thread that calls it. It therefore runs on a thread
/// of its own, for a main thread blocked in it would starve the main actor. Only that thread touches
/// libedit; all others leave an order in a mailbox and wake it, also in the middle of a line. That is
/// how the prompt can change and output appear above the line while a person types.
///
/// Emacs and vi keys and `~/.editrc` work as in every program on libedit; Tab completes, Ctrl-R
/// searches the history.
///
/// For terminals only: with standard input or output elsewhere, read lines the plain way.
package final class LineEditor: Sendable {
  package enum Outcome: Sendable, Equatable {
    /// A line, without its newline.
    case line(String)
    /// Ctrl-C: the line is dropped.
    case interrupted
    /// Ctrl-D on an empty line, or the terminal is gone.
    case endOfInput
  }

  private let mailbox: EditorMailbox
  /// Held as long as the editor lives: a Ctrl-C between two lines, with nothing to interrupt, must
  /// not end the shell.
  private let claim: Signals.Claim

  /// - Parameters:
  ///   - program: what sections of `~/.editrc` call this program.
  ///   - historyPath: where lines are remembered; nil to remember them for this session only.
  ///   - historyLimit: the number of lines remembered.
  ///   - completer: says what could stand at the cursor.
  package init(
    program: String,
    historyPath: String? = nil,
    historyLimit: Int = 10_000,
    completer: @escaping Completer = { _, cursor in
      Completion(replacing: cursor..<cursor, candidates: [])
    }
  ) {
    Signals.shared.start()
    claim = Signals.shared.claim { _ in }
    let mailbox = EditorMailbox()
    self.mailbox = mailbox
    OSThread("line editor") {
      EditorSession(
        program: program,
        history: historyPath.map { HistoryFile(path: $0, limit: historyLimit) },
        historyLimit: historyLimit,
        completer: completer,
        mailbox: mailbox
      ).serve()
      // The session is no more, and the terminal as it was.
      mailbox.leave()
    }.detach()
  }

  deinit {
    claim.release()
    mailbox.close(nil)
  }

  /// Shows `prompt` and reads a line.
  ///
  /// One line is read at a time: to ask for another before the first came stops with a message.
  ///
  /// The prompt is one line, and may hold `ESC [ … m` sequences. When the task is cancelled, the line
  /// typed so far is dropped and the read ends as interrupted.
  package func readLine(prompt: String) async -> Outcome {
    let id = mailbox.newRead()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        mailbox.ask(id, prompt: prompt, continuation)
        // Cancelled before the request was there to be found: the handler missed it.
        if Task.isCancelled { mailbox.interrupt(id) }
      }
    } onCancel: {
      mailbox.interrupt(id)
    }
  }

  /// Changes the prompt, also under a person's hands.
  package func setPrompt(_ prompt: String) {
    mailbox.setPrompt(prompt)
  }

  /// Shows `text` above the line being edited, which is drawn anew below it.
  ///
  /// While no line is being edited the text waits for the next prompt, so that it never lands
  /// within a command's output.
  package func printAbove(_ text: String) {
    mailbox.print(text)
  }

  /// Gives the terminal back as it was found.
  ///
  /// Lines read after this are at end of input.
  package func close() async {
    await withCheckedContinuation { mailbox.close($0) }
    claim.release()
  }
}
