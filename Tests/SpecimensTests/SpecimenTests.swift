import Limiters
import Specimens
import Synchronization
import TestSupport
import Testing

/// Each specimen breaks in the interleaving that the head of its file tells, and the right limiter
/// survives the same script, job for job as far as it has the same jobs.
@Suite(.watched) struct `A specimen` {
  private static func right(_ limiter: ConcurrencyLimiter) -> Admission {
    { body in try await limiter.run(body) }
  }

  // MARK: - Double resume

  /// t1 runs, t2 waits; t1 departs, and before t2 has taken a step, t2 is cancelled.
  private static func grantThenCancel(_ admission: @escaping Admission) -> Trial {
    let trial = Trial()
    trial.startStaying(1, admission)
    trial.run()
    let second = trial.start(2, admission)
    trial.run()
    trial.release(1)
    // One job: t1's body ends and t1 departs.
    trial.executor.runOne()
    second.cancel()
    trial.run()
    return trial
  }

  @Test func `that grants and then cancels resumes its waiter twice`() {
    let reports = Mutex<[String]>([])
    let semaphore = DoubleResumeSemaphore(limit: 1) { what in
      reports.withLock { $0.append(what) }
    }
    let trial = Self.grantThenCancel { body in try await semaphore.run(body) }
    #expect(reports.withLock { $0 } == ["the waiter's continuation"])
    #expect(trial.outcome.stuck == [])
  }

  @Test func `that resumes twice stops with a message when nobody listens`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let semaphore = DoubleResumeSemaphore(limit: 1)
      _ = Self.grantThenCancel { body in try await semaphore.run(body) }
    }
    let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(output.contains("the waiter's continuation was resumed twice"))
  }

  @Test func `that resumes twice is sound until somebody is cancelled at that moment`() {
    let semaphore = DoubleResumeSemaphore(limit: 1)
    let trial = Trial()
    let admission: Admission = { body in try await semaphore.run(body) }
    trial.startStaying(1, admission)
    let tasks = (2...5).map { trial.start($0, admission) }
    trial.run()
    tasks[1].cancel()
    trial.run()
    #expect(trial.outcome.stuck == [1, 2, 4, 5])
    trial.release(1)
    trial.run()
    #expect(trial.outcome == .init(admitted: [1, 2, 4, 5], peak: 1, stuck: []))
    #expect(semaphore.permitsInUse == 0)
  }

  // MARK: - Leaked permit

  @Test func `that looks at the cancellation once more loses the permit it was handed`() {
    let limiter = LeakedPermitLimiter(limit: 1)
    let trial = Self.grantThenCancel { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1], peak: 1, stuck: []))
    #expect(limiter.permitsInUse == 1)
    let late = trial.start(3) { body in try await limiter.run(body) }
    trial.run()
    #expect(trial.outcome.stuck == [3])
    late.cancel()
    trial.run()
  }

  @Test func `of grant-then-cancel is survived by the limiter, which runs the body`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let trial = Self.grantThenCancel(Self.right(limiter))
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
    #expect(limiter.running == 0)
  }

  @Test func `that leaks is sound when the cancellation comes before the hand-off`() {
    let limiter = LeakedPermitLimiter(limit: 1)
    let admission: Admission = { body in try await limiter.run(body) }
    let trial = Trial()
    trial.startStaying(1, admission)
    let second = trial.start(2, admission)
    trial.start(3, admission)
    trial.run()
    second.cancel()
    trial.release(1)
    trial.run()
    #expect(trial.outcome == .init(admitted: [1, 3], peak: 1, stuck: []))
    #expect(limiter.permitsInUse == 0)
  }

  // MARK: - Lost wake-up

  /// t1 runs; t2 arrives and looks, in two jobs at most; t1 departs before t2 does anything else.
  private static func lookThenDepart(_ admission: @escaping Admission) -> Trial {
    let trial = Trial()
    trial.startStaying(1, admission)
    trial.run()
    trial.start(2, admission)
    trial.executor.runOne()
    trial.executor.runOne()
    trial.release(1)
    trial.executor.runAllButOldest()
    trial.run()
    return trial
  }

  @Test func `that looks and then parks sleeps through the departure in between`() {
    let limiter = LostWakeUpLimiter(limit: 1)
    let trial = Self.lookThenDepart { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1], peak: 1, stuck: [2]))
  }

  @Test func `of lost wake-up is survived by the limiter, which looks and joins in one step`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let trial = Self.lookThenDepart(Self.right(limiter))
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
  }

  @Test func `that looks and then parks is sound once it has parked`() {
    let limiter = LostWakeUpLimiter(limit: 1)
    let admission: Admission = { body in try await limiter.run(body) }
    let trial = Trial()
    trial.startStaying(1, admission)
    trial.start(2, admission)
    trial.start(3, admission)
    trial.run()
    trial.release(1)
    trial.run()
    #expect(Set(trial.outcome.admitted) == [1, 2, 3])
    #expect(trial.outcome.peak == 1)
  }

  // MARK: - Check, then act

  /// Two tasks arrive, and nobody is inside.
  private static func arriveTogether(_ admission: @escaping Admission) -> Trial {
    let trial = Trial()
    trial.start(1, admission)
    trial.start(2, admission)
    trial.run()
    return trial
  }

  @Test func `that checks and then acts lets two in on one permit`() {
    let limiter = CheckThenActLimiter(limit: 1)
    let trial = Self.arriveTogether { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 2, stuck: []))
  }

  @Test func `of check-then-act is survived by the limiter, which decides in one step`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let trial = Self.arriveTogether(Self.right(limiter))
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
  }

  @Test func `that checks and then acts is sound when tasks come one at a time`() {
    let limiter = CheckThenActLimiter(limit: 1)
    let admission: Admission = { body in try await limiter.run(body) }
    let trial = Trial()
    trial.startStaying(1, admission)
    trial.run()
    trial.start(2, admission)
    trial.run()
    #expect(trial.outcome.admitted == [1])
    trial.release(1)
    trial.run()
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
  }

  // MARK: - Throwing body

  /// A task whose body throws, then another.
  private static func throwThenArrive(_ admission: @escaping Admission) -> Trial {
    let trial = Trial()
    trial.start(1, failing: true, admission)
    trial.run()
    trial.start(2, admission)
    trial.run()
    return trial
  }

  @Test func `that gives back after the body loses the permit of a body that throws`() {
    let limiter = ThrowingBodyLimiter(limit: 1)
    let trial = Self.throwThenArrive { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1], peak: 1, stuck: [2]))
    #expect(limiter.permitsInUse == 1)
  }

  @Test func `of a throwing body is survived by the limiter, which gives back in any case`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let trial = Self.throwThenArrive(Self.right(limiter))
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
  }

  @Test func `that gives back after the body is sound while no body throws`() {
    let limiter = ThrowingBodyLimiter(limit: 1)
    let trial = Self.arriveTogether { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
    #expect(limiter.permitsInUse == 0)
  }

  // MARK: - Stranded waiter

  private final class Element: Sendable {}

  /// Builds an element after a moment, but fails the first time.
  private static func failingOnce() -> @Sendable () async throws -> Element {
    let builds = Mutex(0)
    return {
      let number = builds.withLock { count in
        count += 1
        return count
      }
      await Task.yield()
      if number == 1 { throw Trial.Failure() }
      return Element()
    }
  }

  @Test func `that does not tell its waiters of a failed build strands them`() {
    let pool = StrandedWaiterPool(maxElements: 1, builder: Self.failingOnce())
    let trial = Self.arriveTogether { body in try await pool.withElement { _ in try await body() } }
    #expect(trial.outcome == .init(admitted: [], peak: 0, stuck: [2]))
    #expect(pool.lent == 0)
  }

  @Test func `of a failed build is survived by the pool, whose waiter builds in turn`() {
    let pool = AsyncPool(maxElements: 1, elementBuilder: Self.failingOnce())
    let trial = Self.arriveTogether { body in try await pool.withElement { _ in try await body() } }
    #expect(trial.outcome == .init(admitted: [2], peak: 1, stuck: []))
  }

  @Test func `that strands its waiters is sound while nothing fails`() {
    let pool = StrandedWaiterPool(maxElements: 1) { Element() }
    let trial = Self.arriveTogether { body in try await pool.withElement { _ in try await body() } }
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
    #expect(pool.lent == 0)
  }

  // MARK: - Barging

  /// t1 runs, t2 waits; t1 departs, and t3 arrives before t2 has taken a step.
  private static func departThenArrive(_ admission: @escaping Admission) -> Trial {
    let trial = Trial()
    trial.startStaying(1, admission)
    trial.start(2, admission)
    trial.run()
    trial.release(1)
    trial.start(3, admission)
    trial.run()
    return trial
  }

  @Test func `that frees its permit lets a newcomer overtake`() {
    let limiter = BargingLimiter(limit: 1)
    let trial = Self.departThenArrive { body in try await limiter.run(body) }
    #expect(trial.outcome == .init(admitted: [1, 3, 2], peak: 1, stuck: []))
    #expect(limiter.permitsInUse == 0)
  }

  @Test func `of barging is survived by the limiter, which hands its permit on`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let trial = Self.departThenArrive(Self.right(limiter))
    #expect(trial.outcome == .init(admitted: [1, 2, 3], peak: 1, stuck: []))
  }

  // MARK: - Nested limits

  @Test func `that takes two limits in either order deadlocks`() {
    let limits = NestedLimits(limit: 1)
    let trial = Trial()
    let tasks = [
      trial.start(1) { body in try await limits.run(.download, body) },
      trial.start(2) { body in try await limits.run(.upload, body) },
    ]
    trial.run()
    #expect(trial.outcome == .init(admitted: [], peak: 0, stuck: [1, 2]))
    // Only a cancellation can end it.
    tasks[0].cancel()
    trial.run()
    #expect(trial.outcome == .init(admitted: [2], peak: 1, stuck: []))
    #expect(limits.permitsInUse == 0)
  }

  @Test func `of two limits is survived when all take them in one order`() {
    let limits = NestedLimits(limit: 1)
    let trial = Self.arriveTogether { body in try await limits.run(.download, body) }
    #expect(trial.outcome == .init(admitted: [1, 2], peak: 1, stuck: []))
    #expect(limits.permitsInUse == 0)
  }
}
