internal import Basics

/// How long it is since it was made, as far as the threads of this process had processors meanwhile.
///
/// What is bounded by it lasts no longer on a machine that is not too busy, and finds as much on one that is.
struct WorkingTime {
  private let start = ContinuousClock.now
  private let used = MachineClock.processTime()

  /// Whether so much time is over, in which the threads of this process together had half as much of processors.
  func isOver(_ time: Duration) -> Bool {
    .now - start >= time && .nanoseconds(MachineClock.processTime() - used) >= time / 2
  }
}
