internal import Basics
internal import Glibc

/// Gives others the time to do all that they can.
enum OthersAtRest {
  /// Holds the calling thread until something is so, or until every other thread sleeps.
  ///
  /// Beside others, which never sleep together, it ends after so many milliseconds.
  static func wait(atMost most: Int = 300, until isSo: () -> Bool = { false }) {
    var (looks, asleep) = (0, 0)
    while looks < most, asleep < 5, !isSo() {
      usleep(1_000)
      looks += 1
      asleep = OtherThreads.areAllAsleep ? asleep + 1 : 0
    }
  }

  /// Holds the calling thread until others have been at the answer's locks and come to no more of them, or sleep.
  static func waitForOthersAtLocks() {
    let before = LockTurn.points
    var (seen, quiet) = (before, 0)
    wait(atMost: 1_000) {
      let now = LockTurn.points
      quiet = now == seen ? quiet + 1 : 0
      seen = now
      return now > before && quiet >= 20
    }
  }
}
