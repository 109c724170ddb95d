import ExplorableSynchronization
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Outboxes that look into messages, or count them.
@Suite(.watched, .serialized) struct `Outboxes that look into messages` {
  protocol MessageFlaw: SendableMetatype {
    /// What is taken for a message.
    static func texts(_ message: String) -> [String]
    /// Whether a message is dropped that equals the one that waits.
    static var dropsEqual: Bool { get }
    /// After how many in one go it looks for messages under one lock, and says that it rests under another.
    static var many: Int { get }
  }

  enum Sound: MessageFlaw {}

  enum LineByLine: MessageFlaw {
    static func texts(_ message: String) -> [String] {
      message.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
  }

  enum OfAHundred: MessageFlaw {
    static func texts(_ message: String) -> [String] { [String(message.prefix(100))] }
  }

  enum NoDoubleClick: MessageFlaw {
    static let dropsEqual = true
  }

  enum RestsAfterSeven: MessageFlaw {
    static let many = 7
  }

  private final class Draining<F: MessageFlaw>: LearnerOutbox {
    private final class Line: Sendable {
      let state = Mutex((isBusy: false, messages: [String]()))
    }

    private let receiver: Receiver
    private let line = Line()

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      let mustStart = line.state.withLock { state in
        if F.dropsEqual, state.messages == [message] { return false }
        state.messages += F.texts(message)
        defer { state.isBusy = true }
        return !state.isBusy
      }
      if mustStart { Task { [line, receiver] in await Self.drain(line, to: receiver) } }
    }

    private static func drain(_ line: Line, to receiver: Receiver) async {
      var taken = 0
      while true {
        let message = line.state.withLock { state in
          if state.messages.isEmpty, taken < F.many { state.isBusy = false }
          return state.messages.isEmpty ? nil : state.messages.removeFirst()
        }
        guard let message else { break }
        await receiver.take(message)
        taken += 1
      }
      if taken >= F.many { line.state.withLock { $0.isBusy = false } }
    }
  }

  private func outbox<F: MessageFlaw>(_ flaw: F.Type) -> GradeBook {
    Grader.outbox(Draining<F>.self)
  }

  @Test func `change them, or drop one that equals another`() async {
    await expect(outbox(LineByLine.self), "texts", refusedSaying: "of two lines was taken")
    await expect(outbox(OfAHundred.self), "texts", refusedSaying: "of 300 characters was taken")
    await expect(
      outbox(NoDoubleClick.self),
      "equal",
      refusedSaying: "a message that was sent is never taken"
    )
    for name in ["texts", "equal"] { await expect(outbox(Sound.self), name) }
  }

  @Test func `lose one that comes after many`() async {
    await expect(
      outbox(RestsAfterSeven.self),
      "later_after_many",
      refusedSaying: "a message that was sent is never taken"
    )
    await expect(outbox(Sound.self), "later_after_many")
  }
}

extension `Outboxes that look into messages`.MessageFlaw {
  static func texts(_ message: String) -> [String] { [message] }
  static var dropsEqual: Bool { false }
  static var many: Int { .max }
}
