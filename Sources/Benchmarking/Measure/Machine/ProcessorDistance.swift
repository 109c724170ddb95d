internal import Basics
internal import Foundation
internal import Synchronization

/// How far apart two processors are: how long a word of memory takes from one to the other and back, in nanoseconds.
///
/// Where tasks wait for each other on several processors, most of what they cost is this journey. A hypervisor may run
/// the processors of one machine on one part of a chip or on two, and moves them while it runs: on the machine of the
/// published runs the word took 80 ns or 370, for seconds or for minutes, and 64 tasks that compete for four permits
/// 1.0 us a visit or 3.2. Nothing else that the system tells shows that.
package struct ProcessorDistance: Hashable, Codable, Sendable {
  /// Before a block, and after it.
  package var before: Double
  package var after: Double

  package init(before: Double, after: Double) {
    self.before = before
    self.after = after
  }

  /// From the first processor that the process may use to each of the next three: the longest of these ways.
  ///
  /// Nil where the process may use one processor only, or others leave it no time in which two of its threads run at
  /// once. Takes about a millisecond for each, with two threads of its own.
  package static func now() -> Double? {
    let processors = Affinity.allowed
    let ways = processors.dropFirst().prefix(3).map { way(from: processors[0], to: $0) }
    return ways.allSatisfy { $0 != nil } ? ways.compactMap(\.self).max()?.rounded() : nil
  }

  /// The least of some windows, so that who else runs has no part in it.
  private static func way(from near: Int, to far: Int) -> Double? {
    let ball = Ball()
    let isBound = Mutex(true)
    let other = OSThread("far-side") {
      if !Affinity.bind(to: far) { isBound.withLock { $0 = false } }
      ball.answer()
    }
    let windows = Mutex<[Double]>([])
    OSThread("near-side") {
      if Affinity.bind(to: near) {
        for _ in 1...10 {
          guard let window = ball.play(turns: 100) else { continue }
          windows.withLock { $0.append(window) }
        }
      }
      ball.end()
    }.join()
    other.join()
    return isBound.withLock { $0 } ? windows.withLock { $0.min() } : nil
  }
}

/// A word that two threads write in turn.
private final class Ball: Sendable {
  /// Even: the first thread's turn; odd: the other's; below 0: it is over.
  private let word = Atomic<Int>(0)
  /// In nanoseconds; whoever waits longer for a turn waits for somebody who does not run.
  private static let patience: Int64 = 2_000_000

  /// Nanoseconds a turn; nil where the other thread did not answer.
  func play(turns: Int) -> Double? {
    let start = MachineClock.monotonic()
    for _ in 0..<turns {
      let mine = word.load(ordering: .relaxed)
      word.store(mine + 1, ordering: .releasing)
      var looks = 0
      while word.load(ordering: .acquiring) == mine + 1 {
        looks += 1
        guard looks % 1_024 == 0, MachineClock.monotonic() - start > Self.patience else { continue }
        // The answer to this turn may still come: it is waited for, so that the next window begins with an even word.
        while word.load(ordering: .acquiring) == mine + 1 { sched_yield() }
        return nil
      }
    }
    return Double(MachineClock.monotonic() - start) / Double(turns)
  }

  func answer() {
    while true {
      let seen = word.load(ordering: .acquiring)
      if seen < 0 { return }
      if seen % 2 == 1 { word.store(seen + 1, ordering: .releasing) }
    }
  }

  func end() { word.store(-1, ordering: .releasing) }
}
