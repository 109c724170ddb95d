internal import Basics

/// How long it is since it was made, as far as this process had a processor meanwhile.
///
/// What is bounded by it lasts no longer on a machine that is not too busy, and finds as much on one that is.
struct WorkingTime {
  private let start = ContinuousClock.now
  private let used = MachineClock.processTime()

  /// Whether so much time is over, for half of which, at least, the process had a processor.
  func isOver(_ time: Duration) -> Bool {
    .now - start >= time && .nanoseconds(MachineClock.processTime() - used) >= time / 2
  }
}
