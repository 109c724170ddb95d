import ExplorableSynchronization
import Grading
import TestSupport
import Testing

@testable import Grading

/// Outboxes that are right as long as few wait, messages are short, and nobody looks at what is kept.
@Suite(.watched, .serialized) struct `Outboxes that live long` {
  /// How many bytes the answers here keep.
  private static let bytes = PlainCount()

  /// What is wrong with an outbox.
  protocol LateFlaw: SendableMetatype {
    /// What becomes of a message.
    static func text(_ message: String) -> String
    /// How many may wait before what an urgent task sends goes first.
    static var patience: Int { get }
    /// How many of those that were taken are kept.
    static var kept: Int { get }
    /// Of which lengths, in bytes, those that are kept are multiples.
    static var keptLengths: Int { get }
  }

  private final class Pumping<F: LateFlaw>: LearnerOutbox {
    private let receiver: Receiver
    private let state = Mutex((line: [String](), taken: [String](), isBusy: false))

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      let isUrgent = Task.currentPriority > .medium
      let begins = state.withLock { state in
        let place = isUrgent && state.line.count > F.patience ? 0 : state.line.count
        state.line.insert(F.text(message), at: place)
        defer { state.isBusy = true }
        return !state.isBusy
      }
      if begins { Task { await pump() } }
    }

    private func next() -> String? {
      state.withLock { state in
        guard !state.line.isEmpty else {
          state.isBusy = false
          return nil
        }
        let first = state.line.removeFirst()
        if F.kept > 0, first.utf8.count.isMultiple(of: F.keptLengths) {
          state.taken.append(first)
          `Outboxes that live long`.bytes.add(first.utf8.count)
          if state.taken.count > F.kept {
            `Outboxes that live long`.bytes.add(-state.taken.removeFirst().utf8.count)
          }
        }
        return first
      }
    }

    private func pump() async { while let message = next() { await receiver.take(message) } }
  }

  enum NoFlaw: LateFlaw {}

  enum LinesOfUnix: LateFlaw {
    static func text(_ message: String) -> String { message.replacing("\r\n", with: "\n") }
  }

  enum CutsLong: LateFlaw {
    static func text(_ message: String) -> String { String(message.prefix(100_000)) }
  }

  enum UrgentFirst: LateFlaw {
    static let patience = 100
  }

  enum KeepsAHundred: LateFlaw {
    static let kept = 100
  }

  enum KeepsOneLengthInSixteen: LateFlaw {
    static let kept = Int.max
    static let keptLengths = 16
  }

  private func outbox<F: LateFlaw>(_ flaw: F.Type) -> GradeBook { Grader.outbox(Pumping<F>.self) }

  private static let heap: @Sendable () -> Int64 = { Int64(bytes.value) }

  @Test func `that change what stands in a message are refused`() async {
    await expect(
      outbox(LinesOfUnix.self),
      "texts",
      refusedSaying: "as Windows writes them was taken as another"
    )
    await expect(
      outbox(CutsLong.self),
      "texts",
      refusedSaying: "of a million characters was taken as another"
    )
    await expect(outbox(NoFlaw.self), "texts")
  }

  @Test func `that let urgent messages go first when a hundred wait are refused`() async {
    await expect(
      outbox(UrgentFirst.self),
      "many_wait",
      refusedSaying: "and taken '1', '600', '597'"
    )
    await expect(outbox(NoFlaw.self), "many_wait")
  }

  @Test func `that keep the last hundred that were taken, or those of some lengths, are refused`()
    async
  {
    await expect(
      outbox(KeepsAHundred.self),
      "kept_long",
      refusedSaying: "Keep nothing of what was taken",
      heap: Self.heap
    )
    await expect(
      outbox(KeepsOneLengthInSixteen.self),
      "kept_long",
      refusedSaying: "all have been taken, and 5 MB more are in use",
      heap: Self.heap
    )
    await expect(outbox(NoFlaw.self), "kept_long", heap: Self.heap)
  }
}

extension `Outboxes that live long`.LateFlaw {
  static func text(_ message: String) -> String { message }
  static var patience: Int { .max }
  static var kept: Int { 0 }
  static var keptLengths: Int { 1 }
}
