import Synchronization
import TestSupport

/// What is graded here runs on these threads: other tests keep the pool busy, and a storm takes it for a
/// hang when nothing moves for seconds.
let racetrack = ThreadsExecutor(threads: 4)

/// A heap that does not grow, where it is not asked what an answer keeps.
let heapAtRest: @Sendable () -> Int64 = { 0 }

/// A processor that is not asked who polls.
let processorAtRest: @Sendable () -> Int64 = { 0 }

/// Threads of which none ever wakes: other tests' do all the time.
let threadsAtRest: @Sendable () -> [String: Int] = { [:] }

/// Processor time that nobody else takes: what answers burn that ask again and again.
///
/// Other tests take this program's all the time. One suite asks it, one test after the other.
enum OwnProcessor {
  private static let taken = Atomic<Int64>(0)

  static let time: @Sendable () -> Int64 = { taken.load(ordering: .relaxed) }

  /// An answer looks whether it may go on: a millisecond.
  static func look() { taken.add(1_000_000, ordering: .relaxed) }

  private static let woken = Atomic(0)

  static let sleeps: @Sendable () -> [String: Int] = {
    ["an answer": woken.load(ordering: .relaxed)]
  }

  /// An answer looks whether it may go on, and goes to sleep: that takes next to no time.
  static func lookAndSleep() { woken.add(1, ordering: .relaxed) }
}

/// A heap of which nobody else has any: what is kept on purpose by wrong answers.
///
/// Other tests take and give back memory of this program all the time. One suite asks it, one test after the other.
enum OwnHeap {
  private static let kept = Atomic<Int64>(0)

  static let bytes: @Sendable () -> Int64 = { kept.load(ordering: .relaxed) }

  /// An answer keeps an object.
  static func keep() { kept.add(64, ordering: .relaxed) }
}
