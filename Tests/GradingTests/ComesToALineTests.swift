import ExplorableLimiters
import ExplorableSynchronization
import Grading
import TestSupport
import Testing

/// Limiters that look under one lock and join a long line under another.
@Suite(.watched, .serialized) struct `Who comes to a long line` {
  /// From how many in line on the look and the joining are two steps.
  private protocol Length: SendableMetatype {
    static var most: Int { get }
  }

  private enum Four: Length {
    static let most = 4
  }

  private enum Nine: Length {
    static let most = 9
  }

  private enum AnyLength: Length {
    static let most = Int.max
  }

  private final class JoinsLate<L: Length>: LearnerLimiter, LearnerPool {
    private let state: Mutex<(isFree: Bool, line: [Signal])>

    init(limit: Int) { state = Mutex((true, [])) }

    init(size: Int, waiting: Waiting) { state = Mutex((true, [])) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      _ = await take()
      defer { giveBack(1) }
      return try await body()
    }

    func take() async -> Int {
      let (condition, signal) = Condition.makeCondition()
      let mustWait = state.withLock { state -> Bool? in
        if state.isFree {
          state.isFree = false
          return false
        }
        if state.line.count >= L.most { return nil }
        state.line.append(signal)
        return true
      }
      if mustWait == nil { state.withLock { $0.line.append(signal) } }
      if mustWait != false { try? await condition.waitUncancellably() }
      return 1
    }

    func giveBack(_ element: Int) {
      let next = state.withLock { state -> Signal? in
        if !state.line.isEmpty { return state.line.removeFirst() }
        state.isFree = true
        return nil
      }
      next?.signal()
    }
  }

  @Test(.long) func `joins it in the step in which it finds that nothing is free`() async {
    let lost = "nothing can run any more, and task 1 and task 13 never finish"
    await expect(
      Grader.limiter(JoinsLate<Four>.self),
      "comes_to_line",
      refusedSaying: lost
    )
    await expect(
      Grader.cancellableLimiter(JoinsLate<Nine>.self),
      "comes_to_line",
      refusedSaying: lost
    )
    await expect(Grader.design(JoinsLate<Four>.self), "comes_to_line", refusedSaying: lost)
    await expect(Grader.pool(JoinsLate<Nine>.self), "comes_to_line", refusedSaying: lost)
    await expect(Grader.limiter(JoinsLate<AnyLength>.self), "comes_to_line")
    await expect(Grader.pool(JoinsLate<AnyLength>.self), "comes_to_line")
  }
}
