internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters
internal import Mechanisms

/// What a learner mends in the exercise on coordinated omission: requests that are sent when they are due, and how
/// long their users wait.
package protocol LearnerMeter: Sendable {
  init()

  /// Sends request 0 at `due[0]`, request 1 at `due[1]` and so on; says how long each took.
  func measure(
    due: [Duration],
    on clock: RequestClock,
    send: @escaping @Sendable (Int) async throws -> Void
  ) async -> [Duration]
}

/// The time of the server that is measured: two seconds of it are over in a moment.
package struct RequestClock: Sendable {
  let scheduler: VirtualScheduler
  var clock: VirtualClock { scheduler.clock }
  /// Whether a task asked for it that does not live by this clock.
  let wasAskedFromOutside = Flag()

  final class Flag: Sendable {
    private let state = Lock(false)

    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
  }

  /// The time since the server was started.
  package var now: Duration { .nanoseconds(clock.now.nanoseconds) }

  /// Waits until then; does not wait if it is over.
  package func sleep(until time: Duration) async {
    guard isInside else { return }
    let left = RequestServer.nanoseconds(time) - clock.now.nanoseconds
    if left > 0 { await pass(left) }
  }

  /// Lets time pass, also for a task that was cancelled.
  func pass(_ nanoseconds: Int64) async {
    guard Task.isCancelled else {
      try? await clock.sleep(nanoseconds: nanoseconds)
      return
    }
    await Task(executorPreference: scheduler) { [clock] in
      try? await clock.sleep(nanoseconds: nanoseconds)
    }.value
  }
}

extension RequestClock {
  /// Whether the current task lives by this clock: a task of a task group does, a `Task {}` does not.
  var isInside: Bool {
    let isInside = withUnsafeCurrentTask { $0?.unownedTaskExecutor } != nil
    if !isInside { wasAskedFromOutside.raise() }
    return isInside
  }
}
