import Synchronization
import TestSupport
import Testing

@testable import Limiters

/// Calls a probe whenever a job becomes ready: inside of the call that resumes a task.
private final class ProbingExecutor: TaskExecutor {
  private let executor = HandDrivenExecutor()
  private let probe = Mutex<(@Sendable () -> Void)?>(nil)

  func enqueue(_ job: consuming ExecutorJob) {
    probe.withLock { $0 }?()
    executor.enqueue(job)
  }

  func runAll(_ probe: @escaping @Sendable () -> Void) {
    executor.runAll()
    self.probe.withLock { $0 = probe }
    executor.runAll()
  }
}

/// Calls a probe whenever it is read.
private final class ProbingClock: Clock {
  private let probe = Mutex<(@Sendable () -> Void)?>(nil)

  var now: HandClock.Instant {
    probe.withLock { $0 }?()
    return HandClock.Instant(time: .zero)
  }
  var minimumResolution: Duration { .zero }

  func call(_ probe: @escaping @Sendable () -> Void) { self.probe.withLock { $0 = probe } }
  func sleep(until deadline: HandClock.Instant, tolerance: Duration?) async throws {}
}

// A task that is resumed while a lock is held can deadlock with the runtime's own locks. Each probe takes
// the lock that the resuming code must not hold; the standard library's lock stops a program whose thread
// takes it twice. Hence the processes.

@Suite(.watched) struct `No task is resumed under the lock` {
  @Test func `of a limiter`() async {
    await #expect(processExitsWith: .success) {
      let executor = ProbingExecutor()
      let limiter = ConcurrencyLimiter(concurrency: 1)
      let permit = try await limiter.acquire()
      let waiters = (1...5).map { _ in
        Task(executorPreference: executor) { try await limiter.run {} }
      }
      executor.runAll { _ = limiter.waiting }
      waiters[2].cancel()
      permit.release()
      limiter.setConcurrency(2)
      limiter.close()
      executor.runAll {}
    }
  }

  @Test func `of a condition`() async {
    await #expect(processExitsWith: .success) {
      let executor = ProbingExecutor()
      let (condition, signal) = Condition.makeCondition()
      let waiters = (1...3).map { _ in
        Task(executorPreference: executor) { try await condition.wait() }
      }
      let uncancellable = Task(executorPreference: executor) {
        try await condition.waitUncancellably()
      }
      executor.runAll { signal.signal() }
      waiters[1].cancel()
      signal.signal()
      executor.runAll {}
      try await uncancellable.value
    }
  }

  @Test func `of a pool`() async {
    await #expect(processExitsWith: .success) {
      let executor = ProbingExecutor()
      let pool = AsyncPool(maxElements: 1) { 1 }
      let lease = try await pool.lease()
      let waiters = (1...3).map { _ in
        Task(executorPreference: executor) { try await pool.lease().discard() }
      }
      executor.runAll { _ = pool.waiting }
      waiters[0].cancel()
      lease.return()
      executor.runAll {}
    }
  }

  @Test func `of a queue`() async {
    await #expect(processExitsWith: .success) {
      let executor = ProbingExecutor()
      let queue = FIFOQueue(executor: executor)
      queue.enqueue { await Task.yield() }
      let waiters = (1...3).map { _ in
        Task(executorPreference: executor) { try await queue.enqueueAndWait {} }
      }
      executor.runAll { _ = queue.waiting }
      waiters[0].cancel()
      executor.runAll {}
    }
  }
}

@Suite(.watched) struct `No clock is read under the lock` {
  @Test func `of a limiter`() async {
    await #expect(processExitsWith: .success) {
      let (executor, clock) = (HandDrivenExecutor(), ProbingClock())
      let limiter = ConcurrencyLimiter(concurrency: 1, clock: clock)
      clock.call { _ = limiter.waiting }
      let permit = try await limiter.acquire()
      let waiters = (1...3).map { _ in
        Task(executorPreference: executor) { try await limiter.run {} }
      }
      Task(executorPreference: executor) { await limiter.runUncancellably {} }
      Task(executorPreference: executor) {
        try await limiter.run(waitingAtMost: .seconds(1), clock: clock) {}
      }
      executor.runAll()
      waiters[1].cancel()
      _ = limiter.statistics
      permit.release()
      limiter.setConcurrency(2)
      limiter.close()
      executor.runAll()
    }
  }

  @Test func `of a pool`() async {
    await #expect(processExitsWith: .success) {
      let clock = ProbingClock()
      let pool = AsyncPool(maxElements: 1, idleTimeout: .seconds(1), clock: clock) { 1 }
      clock.call { _ = pool.waiting }
      try await pool.lease().return()
      await pool.shutdown()
    }
  }
}

/// Asks its pool how many lie idle, as it goes.
private final class Talkative: Sendable {
  /// Where it finds its pool, once there is one.
  final class Address: Sendable { let pool = Mutex<AsyncPool<Talkative>?>(nil) }

  private let address: Address

  init(_ address: Address) { self.address = address }

  deinit { _ = address.pool.withLock { $0 }?.idle }
}

@Suite(.watched) struct `No element is released under the lock` {
  @Test func `of a pool that gives it up, or ends`() async {
    await #expect(processExitsWith: .success) {
      let (executor, clock, address) = (HandDrivenExecutor(), HandClock(), Talkative.Address())
      let pool = AsyncPool(
        maxElements: 1,
        idleTimeout: .seconds(1),
        clock: clock,
        executor: executor
      ) { Talkative(address) }
      address.pool.withLock { $0 = pool }
      try await pool.withElement { _ in }
      executor.runAll()
      clock.advance(by: .seconds(1))
      executor.runAll()
      #expect(pool.idle == 0)
      try await pool.withElement { _ in }
      await pool.shutdown()
      #expect(pool.idle == 0)
    }
  }

  @Test func `of a pool that becomes smaller`() async {
    await #expect(processExitsWith: .success) {
      let address = Talkative.Address()
      let pool = AsyncPool(maxElements: 2) { Talkative(address) }
      address.pool.withLock { $0 = pool }
      let first = try await pool.lease()
      try await pool.withElement { _ in }
      first.return()
      pool.setMaxElements(1)
      #expect(pool.idle == 1)
    }
  }
}
