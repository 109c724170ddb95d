internal import Basics
internal import Glibc
internal import Limiters

/// Sees whether every thread sleeps while somebody still has to begin: one of them waits for time to pass, and others
/// wait for that one.
final class AllAsleepWatch: Sendable {
  private let due: Int
  private let begun: @Sendable () -> Int
  private let areAllAsleep: @Sendable () -> Bool
  private let seen = Lock<Int?>(nil)
  private let isOver = Lock(false)

  /// Watches until as many have begun as are due, or until `end`.
  ///
  /// - Parameters:
  ///   - due: how many are to begin.
  ///   - begun: how many have.
  ///   - areAllAsleep: whether every thread sleeps but the one that asks.
  init(
    due: Int,
    begun: @escaping @Sendable () -> Int,
    areAllAsleep: @escaping @Sendable () -> Bool
  ) {
    self.due = due
    self.begun = begun
    self.areAllAsleep = areAllAsleep
    OSThread("watch") { [self] in watch() }.detach()
  }

  /// How many had begun when all threads slept; nil if that was never so.
  var at: Int? { seen.withLock { $0 } }

  func end() { isOver.withLock { $0 = true } }

  /// A thread that could run, and has no processor, does not sleep: so a machine that is busy does not count.
  private func watch() {
    var looks = 0
    while !isOver.withLock({ $0 }) {
      let now = begun()
      if now >= due { return }
      looks = areAllAsleep() ? looks + 1 : 0
      if looks >= Self.enough { return seen.withLock { $0 = now } }
      usleep(1_000)
    }
  }

  /// So many looks in a row, a millisecond apart, are no chance.
  private static let enough = 5
}
