internal import Basics

/// A clock whose time only the exploration moves.
///
/// Make it inside the closure that is explored. A sleep ends when the schedule says so: time goes forward
/// from deadline to deadline, in their order, and may do so while other tasks could still run, as a slow
/// machine would have it. So a timeout of an hour can come before work that takes no time at all. Code
/// that is right only because it is fast is found out. All clocks of one schedule show the same time.
public struct VirtualClock: Clock {
  /// A point in time, counted from the beginning of the schedule.
  public struct Instant: InstantProtocol {
    let nanoseconds: Int64

    /// Whether `one` comes first.
    public static func < (one: Instant, other: Instant) -> Bool {
      one.nanoseconds < other.nanoseconds
    }

    /// The instant `duration` later; parts of a nanosecond are dropped.
    ///
    /// Time ends after 292 years: a longer way leads there, so a sleep of `.seconds(Int64.max)` is one for ever.
    public func advanced(by duration: Duration) -> Instant {
      let (seconds, attoseconds) = duration.components
      let end = duration < .zero ? Int64.min : .max
      let (whole, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
      let (way, isTooFar) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
      let (sum, isBehind) = nanoseconds.addingReportingOverflow(way)
      return Instant(nanoseconds: isTooLong || isTooFar || isBehind ? end : sum)
    }

    /// How long it is to `other`.
    public func duration(to other: Instant) -> Duration {
      .nanoseconds(other.nanoseconds) - .nanoseconds(nanoseconds)
    }
  }

  private let executor: ExplorationExecutor

  /// - Precondition: called by code that is being explored.
  public init() {
    guard let current = GlobalPoolHook.current else {
      fatalError(
        "a VirtualClock was made outside an exploration; make it inside the closure that explore runs"
      )
    }
    executor = current
  }

  /// The time that the schedule has got to.
  public var now: Instant { Instant(nanoseconds: executor.now) }

  /// A nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the calling task until `deadline`, and longer if the schedule says so.
  ///
  /// A deadline that has passed returns at once. Tolerance makes no difference.
  ///
  /// - Throws: `CancellationError`, without time passing, when the task is or becomes cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    if deadline > now { try await executor.pause(until: deadline.nanoseconds) }
  }
}
