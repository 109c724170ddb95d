internal import Basics
internal import Synchronization

/// How long it is since it was made, as far as the threads of this process had processors meanwhile, or waited for one
/// of them that sleeps.
///
/// What is bounded by it lasts no longer on a machine that is not too busy, and finds as much on one that is.
struct WorkingTime {
  /// For how many nanoseconds all there was to do was to wait for a thread that sleeps, since the process began.
  private static let waited = Synchronization.Atomic<Int64>(0)

  private let start = ContinuousClock.now
  private let used = Self.used

  private static var used: Int64 { MachineClock.processTime() + waited.load(ordering: .relaxed) }

  /// Notes that for so long nothing could be done but to wait.
  static func note(waited time: Duration) {
    waited.add(Int64(time / .nanoseconds(1)), ordering: .relaxed)
  }

  /// Whether so much time is over, in which the threads of this process together had half as much of processors.
  func isOver(_ time: Duration) -> Bool {
    .now - start >= time && .nanoseconds(Self.used - used) >= time / 2
  }
}
