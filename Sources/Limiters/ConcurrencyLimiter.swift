// At most N at once.
//
// A limiter has N permits. `run` takes one, runs the body on the calling task, and gives it back. When
// none is free the task waits in line, suspended, holding no thread.
//
// Structure: here are the calls, and in `LimiterCore` what they do: an atomic word for while permits are free, a
// lock around a value that decides (`LimiterState`) for while they are not, and a Condition for each task that
// waits. While permits are free, a call costs two atomic exchanges, one in and one out, and for `run` a look
// whether the task is cancelled, inlined where it is written: no lock, no allocation, no cancellation handler, no
// hop to an actor. Only a task that finds no permit makes a Condition, puts its Signal in the line, and waits.
// (Both are faces of one object, one atomic word: see Condition.swift. Without the word for free permits, weights,
// deadlines and what else is below, the same limiter is thirty lines: see Limiters.docc/ALimiterInThirtyLines.md.)
//
// Inlined: by `@inline(always)`, because `@inlinable` only allows it. The compiler (6.3.1) used that in some callers
// and not in others, and where it did not, a call took twice the time, for the frame of an asynchronous function.
// Not in debug builds: what waits in inlined code is found at no line of the code that calls, and an exploration
// tells that line.
//
// Order: first come, first served. A departing task hands its permit to the first in line by signalling
// (a hand-off). If it freed the permit while others wait, a newcomer could take it first (barging): faster
// on average, but one waiter may lose again and again, without bound. Monitors have the same choice:
// Hoare's signal hands over (Monitors, CACM 1974), Mesa's only wakes the waiter, which must look again
// (Lampson and Redell, Experience with processes and monitors in Mesa, CACM 1980).
//
// Cancellation: the lock decides. Under it, a waiter is removed from the line either by a departing task,
// which so gives it the permit, or by its cancellation handler, which so denies it. The code that removed
// the waiter wakes it; no other code does. So a cancellation that races with a hand-off comes either first
// (the body does not run, the permit goes to the next) or second (the body runs, and sees that its task is
// cancelled): never both and never neither. If the waiter also looked at `Task.isCancelled` after waking,
// it could hold a permit and throw: a leak.
//
// A limiter built from a Condition and a Signal is published, as an actor with a count and a line of
// signals (Andy Finnell, Swift async/await: do you even need a queue?, losingfight.com, 2024). That design
// pays two hops to an actor and a Condition on every call, and its cancelled waits return as if they were
// admitted. `PublishedLimiter`, among the specimens, is that design, to be measured and broken.
/// Lets at most a given number of tasks run a piece of code at once.
///
/// ```swift
/// let limiter = ConcurrencyLimiter(concurrency: 4)
/// let page = try await limiter.run { try await download(url) }
/// ```
///
/// Tasks are admitted in order of arrival. A body that calls `run` of the same limiter waits for a permit
/// while it holds one: with enough such bodies, nobody can go on. Take one permit at a time.
///
/// A limiter that is made with ``Order/priority(agingAfter:)`` admits the most important task first instead.
///
/// ``run(weight:file:line:_:)`` gives its permits back however its body ends. Code that has no such scope
/// takes a ``Permit`` with ``acquire(weight:file:line:)``.
public final class ConcurrencyLimiter: Sendable {
  /// Which waiter is admitted first.
  public enum Order: Hashable, Sendable {
    /// The one that came first.
    case fifo
    /// The task of the highest priority; among equals, the one that came first.
    ///
    /// A waiter that has waited for `agingAfter` goes before all others, so nobody starves. The limiter has no
    /// timer for that: it looks when a task arrives or leaves, and when the limit changes. A task counts with
    /// the priority it has when it arrives: if it is raised while it waits, it keeps its place. The
    /// limiter does not raise the tasks that hold permits while a more important one waits: it does not
    /// know them.
    case priority(agingAfter: Duration)
  }

  @usableFromInline let core: LimiterCore

  /// Makes a limiter with `concurrency` permits.
  ///
  /// ```swift
  /// let limiter = ConcurrencyLimiter(concurrency: 4)
  /// ```
  ///
  /// With `detectsNesting`, ``run(weight:file:line:_:)`` throws ``NestedRun`` where the task would wait and
  /// is inside of a body of the same limiter that still runs. Each `run` then costs more: it sets a
  /// task-local value, with one entry for each body, of any limiter that detects nesting, that the task is
  /// inside of.
  ///
  /// In order of arrival, no wait is timed, since that would cost each visit that waits several readings of a clock:
  /// ``Statistics/longestWait`` of ``statistics`` stays zero. To have it, give a clock. An order by priority, which
  /// lets waiters age, is timed by the `ContinuousClock`.
  ///
  /// - Precondition: `concurrency` is at least 1; more than `Int32.max` count as that many.
  public convenience init(
    concurrency: Int,
    order: Order = .fifo,
    detectsNesting: Bool = false,
    file: StaticString = #file,
    line: UInt = #line
  ) {
    let limit = Self.check(concurrency, file: file, line: line)
    switch order {
    case .fifo: self.init(limit, order, detectsNesting, timedBy: nil)
    case .priority:
      self.init(limit, order, detectsNesting, timedBy: stopwatch(on: ContinuousClock()))
    }
  }

  /// Makes a limiter with `concurrency` permits that measures by `clock` how long tasks wait.
  ///
  /// ```swift
  /// let limiter = ConcurrencyLimiter(concurrency: 4, clock: .continuous)
  /// let longest = limiter.statistics.longestWait
  /// ```
  ///
  /// For aging and ``Statistics/longestWait``. Otherwise as without a clock.
  ///
  /// - Precondition: `concurrency` is at least 1; more than `Int32.max` count as that many.
  public convenience init<C: Clock>(
    concurrency: Int,
    order: Order = .fifo,
    detectsNesting: Bool = false,
    clock: C,
    file: StaticString = #file,
    line: UInt = #line
  ) where C.Duration == Duration {
    let limit = Self.check(concurrency, file: file, line: line)
    self.init(limit, order, detectsNesting, timedBy: stopwatch(on: clock))
  }

  private init(
    _ limit: Int,
    _ order: Order,
    _ detectsNesting: Bool,
    timedBy clock: (@Sendable () -> Duration)?
  ) {
    let agingAfter: Duration? =
      switch order {
      case .fifo: nil
      case .priority(let agingAfter): agingAfter
      }
    core = LimiterCore(limit, agingAfter, detectsNesting, timedBy: clock)
  }

  deinit { core.outliveLimiter() }

  /// The number of permits.
  public var concurrency: Int { core.decide { $0.limit } }

  /// How many permits are in use: a snapshot, out of date as soon as it is taken while tasks run.
  ///
  /// Exact, and 0, when no call is under way and nobody holds a ``Permit``. May exceed ``concurrency``
  /// after that was lowered, and does while a body runs alone that needs more permits than there are.
  public var running: Int { core.decide { $0.running } }

  /// How many tasks wait for a permit: a snapshot, out of date as soon as it is taken while tasks run.
  public var waiting: Int { core.decide { $0.waiting } }

  /// Runs `body` once there is a permit, on the calling task and in the caller's isolation.
  ///
  /// ```swift
  /// let page = try await limiter.run { try await download(url) }
  /// ```
  ///
  /// The permit is given back when `body` returns or throws. Neither `body` nor what it returns need be
  /// `Sendable`: they stay where the caller is.
  ///
  /// A body may need several permits at once: its `weight`. It waits until that many are free, and nobody
  /// behind it is admitted meanwhile. If it needs more than there are, it runs alone.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Precondition: `weight` is at least 1.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before it is
  ///   admitted: it leaves the line at once and `body` does not run. Once admitted, `body` runs,
  ///   cancelled or not. ``LimiterClosed`` after ``close()``; ``NestedRun`` if the limiter detects it.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func run<Value>(
    weight: Int = 1,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    if !core.takeIfFree(weight, file: file, line: line) { try await core.waitForPermit(weight) }
    return try await core.hold(weight, body)
  }

  /// Runs `body` as ``run(weight:file:line:_:)`` does, if there is a permit in time.
  ///
  /// ```swift
  /// let page = try await limiter.run(waitingAtMost: .seconds(2)) { try await download(url) }
  /// ```
  ///
  /// `duration` bounds the wait for the permit; the body may run as long as it likes. `clock` measures it;
  /// its `sleep` must end when it is cancelled, as those of the standard library do. The end of the time
  /// must be an instant of the clock: `.seconds(Int64.max)` from now is none, and stops the program if the
  /// task must wait.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: As ``run(weight:file:line:_:)``; a task that must wait starts a child task, its timer.
  /// - Precondition: `weight` is at least 1.
  /// - Throws: ``WaitTimedOut``, and what ``run(weight:file:line:_:)`` throws. A permit that comes
  ///   together with the end of the time is either used or passed on.
  public func run<Value, C: Clock>(
    weight: Int = 1,
    waitingAtMost duration: C.Duration,
    clock: C = ContinuousClock(),
    file: StaticString = #file,
    line: UInt = #line,
    _ body: () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    if !core.takeIfFree(weight, file: file, line: line) {
      try await core.waitForPermit(weight, until: clock.now.advanced(by: duration), clock)
    }
    return try await core.hold(weight, body)
  }

  /// Runs `body` as ``run(weight:file:line:_:)`` does, if there is a permit before `deadline`.
  ///
  /// ```swift
  /// let deadline = ContinuousClock.now + .seconds(2)
  /// let page = try await limiter.run(waitingUntil: deadline) { try await download(url) }
  /// ```
  ///
  /// As ``run(weight:waitingAtMost:clock:file:line:_:)``, for several waits that share one deadline. If it is over
  /// already, a permit that is free is taken all the same.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: As ``run(weight:waitingAtMost:clock:file:line:_:)``.
  /// - Precondition: `weight` is at least 1.
  /// - Throws: As ``run(weight:waitingAtMost:clock:file:line:_:)``.
  public func run<Value, C: Clock>(
    weight: Int = 1,
    waitingUntil deadline: C.Instant,
    clock: C = ContinuousClock(),
    file: StaticString = #file,
    line: UInt = #line,
    _ body: () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    if !core.takeIfFree(weight, file: file, line: line) {
      try await core.waitForPermit(weight, until: deadline, clock)
    }
    return try await core.hold(weight, body)
  }

  /// Runs `body` once there is a permit, waiting for it even if the task is cancelled meanwhile.
  ///
  /// ```swift
  /// await limiter.runUncancellably { await cleanUp() }
  /// ```
  ///
  /// Otherwise as ``run(weight:file:line:_:)``. For bodies that must run, such as cleaning up. Code that
  /// awaits the cancelled task waits as long. A closed limiter admits it all the same.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Precondition: `weight` is at least 1.
  /// - Throws: What `body` throws, nothing of its own.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func runUncancellably<Value, Failure: Error>(
    weight: Int = 1,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if !core.takeIfFree(weight, file: file, line: line) {
      await core.waitForPermitUncancellably(weight)
    }
    return try await core.hold(weight, body)
  }

  /// Runs `body` if there is a permit now; returns nil at once if there is none.
  ///
  /// ```swift
  /// let page = try await limiter.runIfFree { try await download(url) } ?? "busy"
  /// ```
  ///
  /// Does not overtake: while anybody waits, there is none. Nor is there one after ``close()``.
  ///
  /// - Complexity: O(1).
  /// - Precondition: `weight` is at least 1.
  /// - Throws: What `body` throws, nothing of its own.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func runIfFree<Value, Failure: Error>(
    weight: Int = 1,
    file: StaticString = #file,
    line: UInt = #line,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value? {
    guard
      core.takeIfFree(weight, file: file, line: line) || core.takeUnderLock(weight)
    else { return nil }
    return try await core.hold(weight, body)
  }

  /// Takes a permit, waiting for it in line.
  ///
  /// ```swift
  /// let permit = try await limiter.acquire()
  /// defer { permit.release() }
  /// let page = try await download(url)
  /// ```
  ///
  /// - Returns: The permit, of `weight`, as for ``run(weight:file:line:_:)``.
  /// - Complexity: As ``run(weight:file:line:_:)``.
  /// - Precondition: `weight` is at least 1.
  /// - Throws: As ``run(weight:file:line:_:)``, but looks at cancellation only if it must wait.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func acquire(
    weight: Int = 1,
    file: StaticString = #file,
    line: UInt = #line
  ) async throws -> Permit {
    if !core.takeIfFree(weight, file: file, line: line) { try await core.waitForPermit(weight) }
    return Permit(self, weight: weight)
  }

  /// Takes a permit, waiting for it as long as ``run(weight:waitingAtMost:clock:file:line:_:)`` does.
  ///
  /// ```swift
  /// let permit = try await limiter.acquire(waitingAtMost: .seconds(2))
  /// defer { permit.release() }
  /// ```
  public func acquire<C: Clock>(
    weight: Int = 1,
    waitingAtMost duration: C.Duration,
    clock: C = ContinuousClock(),
    file: StaticString = #file,
    line: UInt = #line
  ) async throws -> Permit {
    if !core.takeIfFree(weight, file: file, line: line) {
      try await core.waitForPermit(weight, until: clock.now.advanced(by: duration), clock)
    }
    return Permit(self, weight: weight)
  }

  /// Takes a permit, waiting for it until `deadline`, as ``run(weight:waitingUntil:clock:file:line:_:)`` does.
  ///
  /// ```swift
  /// let permit = try await limiter.acquire(waitingUntil: deadline)
  /// defer { permit.release() }
  /// ```
  public func acquire<C: Clock>(
    weight: Int = 1,
    waitingUntil deadline: C.Instant,
    clock: C = ContinuousClock(),
    file: StaticString = #file,
    line: UInt = #line
  ) async throws -> Permit {
    if !core.takeIfFree(weight, file: file, line: line) {
      try await core.waitForPermit(weight, until: deadline, clock)
    }
    return Permit(self, weight: weight)
  }

  /// Takes a permit if there is one now, as ``runIfFree(weight:file:line:_:)`` does.
  ///
  /// ```swift
  /// guard let permit = limiter.tryAcquire() else { return }
  /// defer { permit.release() }
  /// ```
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func tryAcquire(
    weight: Int = 1,
    file: StaticString = #file,
    line: UInt = #line
  ) -> Permit? {
    guard
      core.takeIfFree(weight, file: file, line: line) || core.takeUnderLock(weight)
    else { return nil }
    return Permit(self, weight: weight)
  }

  /// Changes the number of permits, while tasks run and wait.
  ///
  /// ```swift
  /// limiter.setConcurrency(8)
  /// ```
  ///
  /// More permits admit waiters at once, in order. With fewer, bodies that run go on to their end, and
  /// no task is admitted until fewer run than the new limit. A waiter that needs more than there are
  /// now runs alone when its turn comes.
  ///
  /// - Precondition: `concurrency` is at least 1.
  /// - Complexity: O(n) for n waiters admitted.
  public func setConcurrency(
    _ concurrency: Int,
    file: StaticString = #file,
    line: UInt = #line
  ) {
    let limit = Self.check(concurrency, file: file, line: line)
    core.setLimit(limit)
  }

  /// Closes the limiter: tasks that wait, and tasks that arrive later, get ``LimiterClosed``.
  ///
  /// ```swift
  /// limiter.close()
  /// await limiter.closed()
  /// ```
  ///
  /// Bodies that run go on to their end; ``closed()`` waits for them. What does not wait, as
  /// ``tryAcquire(weight:file:line:)``, returns nil. A task in
  /// ``runUncancellably(weight:file:line:_:)`` is admitted all the same.
  ///
  /// - Complexity: O(n) for n waiters.
  public func close() {
    core.close()
  }

  /// Waits until the limiter is closed and all its permits are back, even if the task is cancelled.
  ///
  /// ```swift
  /// limiter.close()
  /// await limiter.closed()
  /// ```
  ///
  /// So it waits for bodies that run, for every ``Permit``, and for tasks that wait uncancellably.
  ///
  /// - Complexity: O(1).
  public func closed() async { await core.closed() }

  /// What the limiter has done so far, and does now: a snapshot.
  ///
  /// ```swift
  /// let statistics = limiter.statistics
  /// show("\(statistics.admitted) admitted, \(statistics.waiting) waiting")
  /// ```
  public var statistics: Statistics { core.statistics }

  /// What a limiter has done so far, and does now.
  public struct Statistics: Hashable, Sendable {
    /// Permits in use.
    public var running: Int
    /// How many bodies and ``Permit``s hold them: fewer than ``running`` if some weigh more than 1.
    public var borrowers: Int
    /// Tasks in line.
    public var waiting: Int
    /// How many got their permits.
    public var admitted: Int
    /// How many left the line because their task was cancelled.
    public var cancelled: Int
    /// How many left it because their time was over.
    public var timedOut: Int
    /// The longest time anybody was in line, including those still in line; zero if the limiter was made
    /// without a clock and admits in order of arrival.
    public var longestWait: Duration
  }

  // MARK: - Misuse

  private static func check(_ concurrency: Int, file: StaticString, line: UInt) -> Int {
    guard concurrency >= 1 else {
      stop(
        "ConcurrencyLimiter: concurrency is \(concurrency), but must be at least 1; "
          + "with fewer permits no body could ever run",
        file: file,
        line: line
      )
    }
    return min(concurrency, PermitWord.mostPermits)
  }
}
