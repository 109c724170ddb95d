// At most N at once.
//
// A limiter has N permits. `run` takes one, runs the body on the calling task, and gives it back. When
// none is free the task waits in line, suspended, holding no thread.
//
// Structure: a lock around a value that decides (`LimiterState`), and a Condition for each task that
// waits. While permits are free, a call costs two passes through an uncontended lock, one in and one out:
// no allocation, no cancellation handler, no hop to an actor. Only a task that finds no permit makes a
// Condition, puts its Signal in the line, and waits.
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
public final class ConcurrencyLimiter: Sendable {
  private let state: Lock<LimiterState<Signal>>

  /// Makes a limiter with `concurrency` permits.
  ///
  /// - Precondition: `concurrency` is at least 1.
  public init(concurrency: Int) {
    Self.check(concurrency)
    state = Lock(LimiterState(limit: concurrency))
  }

  /// The number of permits.
  public var concurrency: Int { state.withLock { $0.limit } }

  /// How many bodies hold a permit: a snapshot, out of date as soon as it is taken while tasks run.
  ///
  /// Exact, and 0, when no call is under way. May exceed ``concurrency`` after that was lowered.
  public var running: Int { state.withLock { $0.running } }

  /// How many tasks wait for a permit: a snapshot, out of date as soon as it is taken while tasks run.
  public var waiting: Int { state.withLock { $0.waiting } }

  /// Runs `body` once there is a permit, on the calling task and in the caller's isolation.
  ///
  /// The permit is given back when `body` returns or throws.
  ///
  /// - Parameter body: Need not be `Sendable`, nor what it returns: they stay where the caller is.
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before it is
  ///   admitted: it leaves the line at once and `body` does not run. Once admitted, `body` runs,
  ///   cancelled or not.
  public func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    if !state.withLock({ $0.admitAtOnce() }) { try await waitForPermit() }
    defer { depart() }
    return try await body()
  }

  /// Runs `body` once there is a permit, waiting for it even if the task is cancelled meanwhile.
  ///
  /// Otherwise as ``run(_:)``. For bodies that must run, such as cleaning up. Code that awaits the
  /// cancelled task waits as long.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Throws: What `body` throws, nothing of its own.
  public func runUncancellably<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    if !state.withLock({ $0.admitAtOnce() }) { await waitForPermitUncancellably() }
    defer { depart() }
    return try await body()
  }

  /// Changes the number of permits, while tasks run and wait.
  ///
  /// More permits admit waiters at once, in order. With fewer, bodies that run go on to their end, and
  /// no task is admitted until fewer run than the new limit.
  ///
  /// - Precondition: `concurrency` is at least 1.
  /// - Complexity: O(n) for n waiters admitted.
  public func setConcurrency(_ concurrency: Int) {
    Self.check(concurrency)
    let admitted = state.withLock { $0.setLimit(concurrency) }
    for signal in admitted { signal.signal() }
  }

  @inline(__always)
  private func waitForPermit() async throws {
    let (condition, signal) = Condition.makeCondition()
    guard let ticket = state.withLock({ $0.arrive(signal) }) else { return }
    try await condition.wait(leavingWith: { state.withLock { $0.leave(ticket) } })
  }

  private func waitForPermitUncancellably() async {
    let (condition, signal) = Condition.makeCondition()
    if state.withLock({ $0.arrive(signal) }) != nil { await condition.waitInLine() }
  }

  private func depart() {
    let next = state.withLock { $0.depart() }
    next?.signal()
  }

  private static func check(_ concurrency: Int) {
    guard concurrency >= 1 else {
      stop(
        "ConcurrencyLimiter: concurrency is \(concurrency), but must be at least 1; "
          + "with fewer permits no body could ever run"
      )
    }
  }
}
