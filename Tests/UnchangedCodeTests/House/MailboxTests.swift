import Dispatch
import Exploration
import Synchronization
import TestSupport
import Testing

/// The one place of this package besides the limiters where a cancellation handler and whoever resumes the
/// continuation meet at a lock: the editor's mailbox, as it is, with what it talks to in few lines.
@Suite(.inTurn, .watched) struct `The editor's mailbox, explored` {
  /// As `LineEditor.readLine` has it.
  static func readLine(_ mailbox: EditorMailbox) async -> LineEditor.Outcome {
    let id = mailbox.newRead()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        mailbox.ask(id, prompt: "> ", continuation)
        if Task.isCancelled { mailbox.interrupt(id) }
      }
    } onCancel: {
      mailbox.interrupt(id)
    }
  }

  /// As the editor's thread has it, but that a line is there as soon as it is asked for.
  static func edit(_ mailbox: EditorMailbox, hasLine: Bool) {
    while mailbox.nextWork() == .read {
      while true {
        let orders = mailbox.takeOrders()
        if orders.interrupted {
          mailbox.finish(with: .interrupted)
          break
        }
        if hasLine || orders.closed {
          mailbox.finish(with: hasLine ? .line("run 1 limiter") : .endOfInput)
          break
        }
        WakePipe.wait(for: mailbox.wakeDescriptor)
      }
    }
    mailbox.leave()
  }

  @Test(arguments: [true, false])
  func `a line comes, or its cancellation does, and the editor's thread ends`(hasLine: Bool) throws
  {
    let verdict = try explore("a line, cancelled") {
      let mailbox = EditorMailbox()
      let editor = Task.detached { Self.edit(mailbox, hasLine: hasLine) }
      let reader = Task.detached { await Self.readLine(mailbox) }
      reader.cancel()
      let outcome = await reader.value
      try require(
        outcome == .interrupted || hasLine && outcome == .line("run 1 limiter"),
        "\(outcome)"
      )
      mailbox.close(nil)
      await editor.value
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a mailbox that is closed while a line is awaited tells who reads and who closes`()
    throws
  {
    let verdict = try explore("a line, closed") {
      let mailbox = EditorMailbox()
      let editor = Task.detached { Self.edit(mailbox, hasLine: false) }
      let reader = Task.detached { await Self.readLine(mailbox) }
      await withCheckedContinuation { mailbox.close($0) }
      let outcome = await reader.value
      try require(outcome == .endOfInput, "\(outcome)")
      await editor.value
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }
}

// What the mailbox is made with, as far as it is asked.

enum LineEditor {
  enum Outcome: Sendable, Equatable {
    case interrupted, endOfInput
    case line(String)
  }
}

enum Signals {
  enum Event: Sendable { case interrupt, resize, stopping, resumed }
}

/// Where the real one has a pipe and `poll`.
struct WakePipe: Sendable {
  private static let all = Mutex<[DispatchSemaphore]>([])

  private let news = DispatchSemaphore(value: 0)
  let readEnd: Int32

  init() {
    let news = news
    readEnd = Self.all.withLock {
      $0.append(news)
      return Int32($0.count - 1)
    }
  }

  func wake() { news.signal() }

  func drain() -> [UInt8] {
    var taken: [UInt8] = []
    while news.wait(timeout: .now()) == .success { taken.append(0) }
    return taken
  }

  func wait() -> [UInt8] {
    Self.wait(for: readEnd)
    return drain()
  }

  /// Returns when there is something to be drained.
  static func wait(for readEnd: Int32) {
    let news = all.withLock { $0[Int(readEnd)] }
    news.wait()
    news.signal()
  }
}
