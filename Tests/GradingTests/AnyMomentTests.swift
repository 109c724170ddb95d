import ExplorableLimiters
import ExplorableSynchronization
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercise on a design that are right at the limits, urgencies, crowds and times that were asked
/// before.
@Suite(.watched, .serialized) struct `Limiters at any moment` {
  /// What is wrong with a limiter.
  protocol MomentFlaw: SendableMetatype {
    /// How many permits there are.
    static func permits(_ limit: Int) -> Int
    /// How often a task yields before it joins the line.
    static func turnsBefore(_ priority: TaskPriority) -> Int
    /// How often one that is cancelled yields before it leaves the line.
    static var turnsToLeave: Int { get }
    /// Whether one that is cancelled stays in the line until its turn comes.
    static func stays(_ limit: Int, _ priority: TaskPriority) -> Bool
    /// Whether the last in line takes the place of one who leaves it.
    static func swaps(_ limit: Int, waiting: Int) -> Bool
    /// Whether a permit that was handed to one who is cancelled is lost.
    static func loses(_ limit: Int, _ priority: TaskPriority) -> Bool
    /// How many may wait; who comes then is let in.
    static var room: Int { get }
    /// How many may come before the newest goes first.
    static var visits: Int { get }
    /// How long one may wait.
    static var patience: Duration? { get }
    /// How often the whole line is gone through when one departs.
    static var scans: Int { get }
  }

  private final class Flawed<F: MomentFlaw>: LearnerLimiter {
    private struct State {
      var free: Int
      var came = 0
      var line: [(signal: Signal, since: ContinuousClock.Instant)] = []
    }

    private let limit: Int
    private let state: Mutex<State>

    init(limit: Int) {
      self.limit = limit
      state = Mutex(State(free: F.permits(limit)))
    }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      let priority = Task.currentPriority
      for _ in 0..<F.turnsBefore(priority) { await Task.yield() }
      let (condition, signal) = Condition.makeCondition()
      let mustWait = state.withLock { state in
        state.came += 1
        if state.free > 0 || state.line.count >= F.room {
          state.free -= 1
          return false
        }
        state.line.append((signal, .now))
        return true
      }
      if mustWait {
        if F.stays(limit, priority) {
          try await condition.waitUncancellably()
          if Task.isCancelled {
            giveBack()
            throw CancellationError()
          }
        } else {
          do { try await condition.wait() } catch {
            for _ in 0..<F.turnsToLeave { await Task.yield() }
            if !leave(signal), !F.loses(limit, priority) { giveBack() }
            throw error
          }
        }
      }
      defer { giveBack() }
      return try await body()
    }

    private func leave(_ signal: Signal) -> Bool {
      state.withLock { state in
        guard let place = state.line.firstIndex(where: { $0.signal === signal }) else {
          return false
        }
        if F.swaps(limit, waiting: state.line.count) {
          state.line.swapAt(place, state.line.count - 1)
          state.line.removeLast()
        } else {
          state.line.remove(at: place)
        }
        return true
      }
    }

    private func giveBack() {
      let next: Signal? = state.withLock { state in
        for _ in 0..<F.scans { _ = state.line.count { $0.signal == state.line[0].signal } }
        if let patience = F.patience {
          while let first = state.line.first, .now - first.since > patience {
            state.line.removeFirst()
          }
        }
        if state.line.isEmpty || state.free < 0 {
          state.free += 1
          return nil
        }
        return (state.came > F.visits ? state.line.removeLast() : state.line.removeFirst()).signal
      }
      next?.signal()
    }
  }

  enum NoFlaw: MomentFlaw {}

  enum BackgroundYields: MomentFlaw {
    static func turnsBefore(_ priority: TaskPriority) -> Int { priority < .medium ? 20 : 0 }
  }

  enum StaysFromFiveOn: MomentFlaw {
    static func stays(_ limit: Int, _ priority: TaskPriority) -> Bool { limit > 4 }
  }

  enum LowStays: MomentFlaw {
    static func stays(_ limit: Int, _ priority: TaskPriority) -> Bool { priority < .medium }
  }

  enum LeavesLater: MomentFlaw {
    static let turnsToLeave = 8
  }

  enum SwapsAtSome: MomentFlaw {
    static func swaps(_ limit: Int, waiting: Int) -> Bool { (4...50).contains(limit) }
  }

  enum LosesAtSome: MomentFlaw {
    static func loses(_ limit: Int, _ priority: TaskPriority) -> Bool { (4...50).contains(limit) }
  }

  enum UrgentLoses: MomentFlaw {
    static func loses(_ limit: Int, _ priority: TaskPriority) -> Bool { priority > .medium }
  }

  enum ThirtyTwoBits: MomentFlaw {
    static func permits(_ limit: Int) -> Int { Int(UInt32(truncatingIfNeeded: limit)) }
  }

  enum SwapsInLongLines: MomentFlaw {
    static func swaps(_ limit: Int, waiting: Int) -> Bool { waiting > 5_000 }
  }

  enum FullAtTwoBytes: MomentFlaw {
    static let room = 65_536
  }

  enum NewestFirstAfterMany: MomentFlaw {
    static let visits = 262_143
  }

  enum WaitsThreeSeconds: MomentFlaw {
    static let patience: Duration? = .seconds(3)
  }

  enum GoesThroughTheLine: MomentFlaw {
    static let scans = 3
  }

  private func design<F: MomentFlaw>(_ flaw: F.Type) -> GradeBook { Grader.design(Flawed<F>.self) }

  @Test func `are refused that are wrong for some limits or urgencies`() async {
    let name = "any_moment"
    let late = "was still there when another task had had 6 turns"
    let lost = "permits are in use: one was lost"
    await expect(design(BackgroundYields.self), name, refusedSaying: "which came later, went first")
    await expect(design(StaysFromFiveOn.self), name, refusedSaying: "limit 5, seed 1: number")
    await expect(design(LowStays.self), name, refusedSaying: late)
    await expect(design(LeavesLater.self), name, refusedSaying: late)
    await expect(design(SwapsAtSome.self), name, refusedSaying: "which came later, went first")
    await expect(design(LosesAtSome.self), name, refusedSaying: lost)
    await expect(design(UrgentLoses.self), name, refusedSaying: lost)
    await expect(design(NoFlaw.self), name)
  }

  @Test func `are refused whose limit has too few bits`() async {
    await expect(
      design(ThirtyTwoBits.self),
      "whole_limit",
      refusedSaying: "20 tasks at once, limit 4294967296: 0 ran at once"
    )
  }

  @Test(.long) func `are refused whose line or numbers come to an end`() async {
    let name = "long_run"
    await expect(design(FullAtTwoBytes.self), name, refusedSaying: "ran at once")
    await expect(design(NewestFirstAfterMany.self), name, refusedSaying: "was overtaken more")
    await expect(design(NoFlaw.self), name)
  }

  @Test(.long) func `are refused whose long line loses its order or is gone through`() async {
    await expect(
      design(SwapsInLongLines.self),
      "cancelled_crowd",
      refusedSaying: "in the line was overtaken"
    )
    await expect(
      design(GoesThroughTheLine.self),
      "grown_line",
      refusedSaying: "take the first, and look at no other"
    )
    for name in ["cancelled_crowd", "grown_line"] { await expect(design(NoFlaw.self), name) }
  }

  @Test func `are refused that send away who has waited for some seconds`() async {
    await expect(
      design(WaitsThreeSeconds.self),
      "held_for_a_year",
      refusedSaying: "Who waits is served, however long it takes"
    )
    await expect(design(NoFlaw.self), "held_for_a_year")
  }
}

extension `Limiters at any moment`.MomentFlaw {
  static func permits(_ limit: Int) -> Int { limit }
  static func turnsBefore(_ priority: TaskPriority) -> Int { 0 }
  static var turnsToLeave: Int { 0 }
  static func stays(_ limit: Int, _ priority: TaskPriority) -> Bool { false }
  static func swaps(_ limit: Int, waiting: Int) -> Bool { false }
  static func loses(_ limit: Int, _ priority: TaskPriority) -> Bool { false }
  static var room: Int { .max }
  static var visits: Int { .max }
  static var patience: Duration? { nil }
  static var scans: Int { 0 }
}
