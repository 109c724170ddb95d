internal import Basics
internal import Dispatch

/// Tells who waits from who asks again and again: the one takes no processor time, the other takes some all the time.
struct QuietProcessor {
  /// How much processor time this program has taken, in nanoseconds.
  let time: @Sendable () -> Int64

  /// How much may be taken in a second in which nothing is to be done.
  private static let allowed: Int64 = 60_000_000

  private static let queue = DispatchQueue(label: "a quiet second")

  /// Lets a second pass in which tasks wait.
  ///
  /// The time is this program's own, so a machine that is busy with something else does not count.
  ///
  /// - Returns: how many milliseconds they took, if that is too much.
  func millisecondsBurnt() async -> Int64? {
    await Self.pass(milliseconds: 100)
    let before = time()
    await Self.pass(milliseconds: 1_000)
    let taken = time() - before
    return taken > Self.allowed ? taken / 1_000_000 : nil
  }

  private static func pass(milliseconds: Int) async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .milliseconds(milliseconds)) { continuation.resume() }
    }
  }

  /// What is said of those who ask again and again.
  static func sentence(_ milliseconds: Int64) -> String {
    "nothing happened for a second, and your code took \(milliseconds) ms of processor time: somebody asks again and "
      + "again instead of waiting"
  }
}
