import ExplorableLimiters
import ExplorableSynchronization
import TestSupport
import Testing

@testable import Grading

/// Answers that are right as long as few wait, nobody throws, and there is one permit.
@Suite(.watched, .serialized) struct `Long lines and what is kept` {
  /// How many bytes the answers here keep.
  private static let bytes = PlainCount()

  private func heap() -> @Sendable () -> Int64 { { Int64(Self.bytes.value) } }

  @Test func `memory that shrinks by something else hides nothing that is kept`() async {
    func grows(_ heaps: [Int64]) async -> Bool {
      let last = heaps[heaps.count - 1]
      let left = Mutex(heaps[...])
      let trial = HeapTrial(heap: { left.withLock { $0.popFirst() } ?? last })
      return await trial.grows { {} }
    }
    let (kept, lot): (Int64, Int64) = (64_000, 10_000_000)
    let grown = [0, kept, 0, kept, 0, kept, 0, kept]
    let more = [0, 16 * kept]
    #expect(await grows(grown + more))
    #expect(await grows([0, kept, lot, kept] + grown.dropLast(2) + more))
    // Once it stays as it is.
    #expect(await !grows([0, kept, 0, kept, 0, 0] + grown + more))
    // Each try met another thread, which keeps a thousand blocks to use again.
    #expect(await !grows(grown + [0, 2 * kept]))
    // It only shrinks.
    #expect(await !grows((0..<20).map { lot - $0 * kept }))
  }

  // MARK: Limiters

  /// What is wrong with a limiter.
  protocol LimiterFlaw: SendableMetatype {
    /// Whether something is kept of a body that throws.
    static var keepsThrown: Bool { get }
    /// Whether something is kept of who was cancelled before.
    static var keepsCancelled: Bool { get }
    /// How many may wait in order.
    static var room: Int { get }
    /// Whether a permit is taken by a second step where there are more than one.
    static var takesLater: Bool { get }
    /// How many permits there are.
    static func permits(_ limit: Int) -> Int
    /// Whether a task inside of any limiter needs no permit of another.
    static var opensAll: Bool { get }
    /// How many may wait before urgent ones go first.
    static var patience: Int { get }
    /// Whether the permit of an urgent task whose body throws is lost.
    static var losesUrgent: Bool { get }
  }

  @TaskLocal private static var isInside = false

  private final class Flawed<F: LimiterFlaw>: LearnerLimiter {
    private let state: Mutex<(free: Int, line: [(signal: Signal, priority: TaskPriority)])>

    init(limit: Int) { state = Mutex((F.permits(limit), [])) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      guard F.opensAll else { return try await visit(body) }
      if `Long lines and what is kept`.isInside { return try await body() }
      return try await `Long lines and what is kept`.$isInside.withValue(true) {
        try await visit(body)
      }
    }

    private func visit<Value>(_ body: () async throws -> Value) async throws -> Value {
      if F.keepsCancelled, Task.isCancelled { `Long lines and what is kept`.bytes.add(8) }
      if F.takesLater, state.withLock({ $0.free > 1 }) {
        state.withLock { $0.free -= 1 }
      } else {
        try await take()
      }
      let value: Value
      do {
        value = try await body()
      } catch {
        if F.keepsThrown { `Long lines and what is kept`.bytes.add(8) }
        if !F.losesUrgent || Task.currentPriority <= .high { giveBack() }
        throw error
      }
      giveBack()
      return value
    }

    private func take() async throws {
      let (condition, signal) = Condition.makeCondition()
      let waits = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return false
        }
        let priority = Task.currentPriority
        let place =
          state.line.count > F.patience
          ? state.line.firstIndex { $0.priority < priority } : nil
        state.line.insert((signal, priority), at: place ?? state.line.count)
        return true
      }
      guard waits else { return }
      do {
        try await condition.wait()
      } catch {
        let wasInLine = state.withLock { state in
          guard let place = state.line.firstIndex(where: { $0.signal === signal }) else {
            return false
          }
          state.line.remove(at: place)
          return true
        }
        if !wasInLine { giveBack() }
        throw error
      }
    }

    private func giveBack() {
      let next: Signal? = state.withLock { state in
        if state.line.isEmpty {
          state.free += 1
          return nil
        }
        return (state.line.count > F.room ? state.line.removeLast() : state.line.removeFirst())
          .signal
      }
      next?.signal()
    }
  }

  enum NoFlaw: LimiterFlaw {}

  enum KeepsThrown: LimiterFlaw {
    static let keepsThrown = true
  }

  enum KeepsCancelled: LimiterFlaw {
    static let keepsCancelled = true
  }

  enum TwoThousandInOrder: LimiterFlaw {
    static let room = 2_000
  }

  enum LooksThenTakes: LimiterFlaw {
    static let takesLater = true
  }

  enum ThirtyTwoForLess: LimiterFlaw {
    static func permits(_ limit: Int) -> Int { (25...31).contains(limit) ? 32 : limit }
  }

  enum OpensAll: LimiterFlaw {
    static let opensAll = true
  }

  enum UrgentBeyondTwenty: LimiterFlaw {
    static let patience = 20
  }

  enum LosesUrgent: LimiterFlaw {
    static let losesUrgent = true
  }

  private func design<F: LimiterFlaw>(_ flaw: F.Type) -> GradeBook { Grader.design(Flawed<F>.self) }

  @Test(.long)
  func `a limiter that keeps something of bodies that throw, or of the cancelled, is refused`()
    async
  {
    let advice = "Look what is put into an array"
    await expect(design(KeepsThrown.self), "kept_thrown", refusedSaying: advice, heap: heap())
    await expect(
      design(KeepsCancelled.self),
      "kept_cancelled",
      refusedSaying: advice,
      heap: heap()
    )
    await expect(design(NoFlaw.self), "kept_thrown", heap: heap())
    await expect(design(NoFlaw.self), "kept_cancelled", heap: heap())
  }

  @Test func `a limiter is refused that turns its line round when thousands wait`() async {
    await expect(
      design(TwoThousandInOrder.self),
      "grown_line",
      refusedSaying: "A line that needs more room keeps its order"
    )
    await expect(design(NoFlaw.self), "grown_line")
  }

  @Test
  func `a limiter is refused that is wrong for some limits, inside of others or for urgent ones`()
    async
  {
    await expect(
      design(ThirtyTwoForLess.self),
      "whole_limit",
      refusedSaying: "limit 25: 32 ran at once, 7 too many"
    )
    await expect(design(OpensAll.self), "nested", refusedSaying: "3 bodies ran at once")
    await expect(
      design(UrgentBeyondTwenty.self),
      "urgencies",
      refusedSaying: "served in the order"
    )
    await expect(design(LosesUrgent.self), "urgencies", refusedSaying: "served were only")
    for name in ["whole_limit", "nested", "urgencies"] { await expect(design(NoFlaw.self), name) }
  }

  @Test(.long) func `a limiter is refused that looks for two permits and takes one later`() async {
    await expect(
      design(LooksThenTakes.self),
      "inside_two",
      refusedSaying: "3 running, limit 2"
    )
    await expect(design(NoFlaw.self), "inside_two")
  }

  // MARK: Outboxes

  /// What is wrong with an outbox.
  protocol OutboxFlaw: SendableMetatype {
    static var room: Int { get }
    /// Whether something is kept each time when nothing is left.
    static var keepsRests: Bool { get }
    /// Whether something is kept of a message whose sender was cancelled.
    static var keepsCancelled: Bool { get }
  }

  private final class Pumping<F: OutboxFlaw>: LearnerOutbox {
    private let receiver: Receiver
    private let state = Mutex((line: [String](), isBusy: false))

    init(receiver: Receiver) { self.receiver = receiver }

    func send(_ message: String) {
      if F.keepsCancelled, Task.isCancelled { `Long lines and what is kept`.bytes.add(8) }
      let begins = state.withLock { state in
        if state.line.count < F.room { state.line.append(message) }
        defer { state.isBusy = true }
        return !state.isBusy
      }
      if begins { Task { await pump() } }
    }

    private func next() -> String? {
      state.withLock { state in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.isBusy = false
        if F.keepsRests { `Long lines and what is kept`.bytes.add(8) }
        return nil
      }
    }

    private func pump() async { while let message = next() { await receiver.take(message) } }
  }

  enum NoLeak: OutboxFlaw {}

  enum RoomForTwoThousand: OutboxFlaw {
    static let room = 2_000
  }

  enum KeepsRests: OutboxFlaw {
    static let keepsRests = true
  }

  enum KeepsCancelledSenders: OutboxFlaw {
    static let keepsCancelled = true
  }

  private func outbox<F: OutboxFlaw>(_ flaw: F.Type) -> GradeBook { Grader.outbox(Pumping<F>.self) }

  @Test(.long) func `an outbox that keeps something each time it comes to rest is refused`() async {
    let advice = "memory grows with each"
    await expect(outbox(KeepsRests.self), "kept_one_by_one", refusedSaying: advice, heap: heap())
    await expect(
      outbox(KeepsCancelledSenders.self),
      "kept_one_by_one",
      refusedSaying: advice,
      heap: heap()
    )
    await expect(outbox(NoLeak.self), "kept_one_by_one", heap: heap())
  }

  @Test(.long) func `an outbox that drops what it has no room for is not told of locks`() async {
    await expect(
      outbox(RoomForTwoThousand.self),
      "threads",
      refusedSaying: "However many wait, none is lost or overtaken"
    )
  }

  // MARK: Gauges

  /// Counts to 300,000.
  private final class Counting: LearnerGauge {
    private let state = Mutex((came: 0, went: 0, cameAt: Duration.zero, wentAt: Duration.zero))

    func arrived(at time: Duration) {
      state.withLock { state in
        state.came = min(state.came + 1, 300_000)
        state.cameAt += time
      }
    }

    func departed(at time: Duration) {
      state.withLock { state in
        state.went = min(state.went + 1, 300_000)
        state.wentAt += time
      }
    }

    func reading(at time: Duration) -> Reading {
      let (came, went, cameAt, wentAt) = state.withLock { $0 }
      let area = time * (came - went) - cameAt + wentAt
      return Reading(
        inside: area / time,
        rate: Double(came) / (time / .seconds(1)),
        response: came == went ? area / came : nil
      )
    }
  }

  @Test func `a gauge that counts to 300,000 is refused`() async {
    await expect(Grader.gauge(Counting.self), "kept", refusedSaying: "after 400000 requests")
  }
}

extension `Long lines and what is kept`.LimiterFlaw {
  static var keepsThrown: Bool { false }
  static var keepsCancelled: Bool { false }
  static var room: Int { .max }
  static var takesLater: Bool { false }
  static func permits(_ limit: Int) -> Int { limit }
  static var opensAll: Bool { false }
  static var patience: Int { .max }
  static var losesUrgent: Bool { false }
}

extension `Long lines and what is kept`.OutboxFlaw {
  static var room: Int { .max }
  static var keepsRests: Bool { false }
  static var keepsCancelled: Bool { false }
}
