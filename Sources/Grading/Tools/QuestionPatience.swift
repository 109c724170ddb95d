internal import Synchronization

/// How long the answer to a question is waited for, counted in looks that are a tenth of a second apart.
///
/// Looks, not a clock: a machine that was stopped meanwhile has not run meanwhile. One counts a fifth if the pool
/// has come to nothing that is new since the last: somebody else may hold its threads. That all threads sleep then
/// says little too, where there is somebody else.
struct QuestionPatience {
  /// How long an answer may take.
  private let allowed: Int
  private let sharesPool: Bool
  private var fifths = 0
  private var asleep = 0
  private var looksWithoutStep = 0
  private var steps = 0

  init(seconds: Int, sharesPool: Bool) {
    allowed = seconds
    self.sharesPool = sharesPool
  }

  /// For how long the question has had what it needs to be answered.
  var seconds: Int { fifths / 50 }

  /// No answer is to be expected: the time is up, nothing of what is noted moves for ten seconds, or all threads have
  /// slept for five.
  var isOver: Bool { fifths >= 50 * allowed || looksWithoutStep >= 100 || asleep >= 250 }

  /// Looks once more.
  ///
  /// - Parameters:
  ///   - poolHasTurn: whether the pool has come to what was put into it before the look.
  ///   - steps: how many steps the exploration in progress has taken, or how often something has moved; 0 if neither is
  ///     noted.
  ///   - areAllAsleep: whether every other thread of the program sleeps.
  mutating func look(poolHasTurn: Bool, steps: Int, areAllAsleep: Bool) {
    fifths += poolHasTurn ? 5 : 1
    // An exploration may wait for a second, with all its threads, until it calls a job blocked.
    let hasMoved = steps != self.steps
    looksWithoutStep = steps == 0 || hasMoved ? 0 : looksWithoutStep + 1
    asleep = hasMoved || !areAllAsleep ? 0 : asleep + (poolHasTurn || !sharesPool ? 5 : 1)
    self.steps = steps
  }
}

/// Whether the pool of tasks, which is that of the library's queues too, has come to what was put into it last.
final class PoolTurn: Sendable {
  private let hasCome = Atomic(true)

  /// Looks, and puts something new into the pool if it has come.
  func looks() -> Bool {
    let hasTurn = hasCome.exchange(false, ordering: .acquiringAndReleasing)
    if hasTurn { Task.detached { self.hasCome.store(true, ordering: .releasing) } }
    return hasTurn
  }
}
