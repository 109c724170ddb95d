internal import Basics

/// Looks for the baton before its thread goes to sleep for it.
///
/// Between two schedules the baton goes from a worker to the home and back. A short schedule takes ten
/// microseconds, and to put a thread to sleep and wake it takes more, twice. So the thread that has handed the
/// baton over looks for it as long as a short schedule may take. Where that was in vain, schedules are longer or
/// the processors have other work, and it sleeps at once for a while.
struct Lookout {
  /// How often it looks before it gives up; a look takes a few nanoseconds.
  ///
  /// On one processor nobody can hand the baton over meanwhile.
  private static let looks = Processors.allowed > 1 ? 20_000 : 0
  /// How often it sleeps at once after it has looked in vain.
  private static let rests = 20

  private var rest = 0

  /// Whether the semaphore was raised while this looked; it is lowered then.
  mutating func sees(_ semaphore: ThreadSemaphore) -> Bool {
    if rest > 0 {
      rest -= 1
      return false
    }
    if semaphore.wait(looking: Self.looks) { return true }
    rest = Self.rests
    return false
  }
}
