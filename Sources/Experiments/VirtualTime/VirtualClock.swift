/// A clock whose time moves only when its scheduler can run nothing.
///
/// Sleeping on it takes no time on the wall clock: the scheduler jumps to the next deadline as soon as
/// every task waits for something. Code meant for virtual time takes `any Clock<Duration>` or a `VirtualClock`
/// and sleeps on that; `Task.sleep` without a clock goes to the process's own timers and is never
/// seen here.
package struct VirtualClock: Clock {
  /// A point in virtual time: nanoseconds since the scheduler was made.
  package struct Instant: InstantProtocol {
    package var nanoseconds: Int64

    package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    package static func < (one: Instant, other: Instant) -> Bool {
      one.nanoseconds < other.nanoseconds
    }

    /// The instant `duration` later; parts of a nanosecond are dropped.
    package func advanced(by duration: Duration) -> Instant {
      Instant(nanoseconds: nanoseconds + duration.wholeNanoseconds)
    }

    package func duration(to other: Instant) -> Duration {
      .nanoseconds(other.nanoseconds - nanoseconds)
    }
  }

  private let scheduler: VirtualScheduler

  init(of scheduler: VirtualScheduler) { self.scheduler = scheduler }

  /// Now, exact for tasks the scheduler runs and for a thread that may drive it.
  package var now: Instant { Instant(nanoseconds: scheduler.now) }

  package var minimumResolution: Duration { .nanoseconds(1) }

  /// Suspends the calling task until `deadline`; tolerance makes no difference.
  ///
  /// Sleepers with one deadline wake in the order in which they went to sleep. A deadline that has
  /// passed returns at once.
  ///
  /// - Precondition: the calling task runs on this clock's scheduler.
  /// - Throws: `CancellationError`, at once and without time passing, when the task is or becomes
  ///   cancelled.
  package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try await scheduler.sleep(until: deadline.nanoseconds)
  }

  /// Suspends the calling task for `nanoseconds`; as `sleep(until:tolerance:)`.
  package func sleep(nanoseconds: Int64) async throws {
    try await scheduler.sleep(until: scheduler.now + nanoseconds)
  }
}

extension Duration {
  /// In nanoseconds, parts of one dropped.
  var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}
