internal import Limiters

/// A modelled pool of threads under way: jobs are tasks of a virtual scheduler that wait for a thread.
final class ModelledPool: Sendable {
  private struct State {
    var model: ThreadPoolModel
    var jobs = 0
    /// Who waits for a thread, by job.
    var waiting: [Int: CheckedContinuation<Int, Never>] = [:]
    /// Whether a task looks once a second.
    var isWatched = false

    mutating func begun(
      _ starts: [ThreadPoolModel.Start]
    ) -> [(waiter: CheckedContinuation<Int, Never>, thread: Int)] {
      starts.compactMap { start in
        waiting.removeValue(forKey: start.job).map { ($0, start.thread) }
      }
    }
  }

  private let state: Lock<State>
  private let executor: (any TaskExecutor)?
  private let clock: any Clock<Duration>

  /// - Precondition: The setup says what is modelled.
  init(_ setup: MechanismSetup) {
    guard let model = setup.model else { fatalError("a model was made without its platform") }
    state = Lock(State(model: ThreadPoolModel(model.platform, processors: model.processors)))
    executor = setup.executor
    clock = model.clock
  }

  /// Has a job wait for a thread, from 1; it has it until `end`.
  func thread() async -> Int {
    await withCheckedContinuation { continuation in
      change { state in
        state.jobs += 1
        state.waiting[state.jobs] = continuation
        return state.model.submit(state.jobs)
      }
    }
  }

  func block() { change { $0.model.block() } }

  func unblock() { state.withLock { $0.model.unblock() } }

  func end(_ thread: Int) { change { $0.model.end(thread) } }

  /// Serves on a thread that the pool has given, unless the task was cancelled; work that suspends goes on
  /// without it.
  func serve(_ visit: Visit, on thread: Int) async {
    if Task.isCancelled {
      ModelledThread.$number.withValue(thread) { visit.leave() }
      return end(thread)
    }
    if visit.task.kind.needsTask {
      end(thread)
      try? await visit.serve()
      return
    }
    let computes = visit.task.kind == .spin
    if !computes { block() }
    ModelledThread.$number.withValue(thread) {
      try? visit.serveOnThread(isCancelled: { Task.isCancelled })
    }
    if !computes { unblock() }
    end(thread)
  }

  private func change(_ change: (inout State) -> [ThreadPoolModel.Start]) {
    let (begun, watches) = state.withLock { state in
      let begun = state.begun(change(&state))
      let watches = state.model.needsTick && !state.isWatched
      if watches { state.isWatched = true }
      return (begun, watches)
    }
    for (waiter, thread) in begun { waiter.resume(returning: thread) }
    if watches { Task(executorPreference: executor) { await self.watch() } }
  }

  /// Looks once a second; a nanosecond late, since what happens at the same instant comes before.
  private func watch() async {
    while (try? await clock.sleep(for: .seconds(1) + .nanoseconds(1))) != nil {
      let (begun, goesOn) = state.withLock { state in
        let begun = state.begun(state.model.tick())
        state.isWatched = state.model.needsTick
        return (begun, state.isWatched)
      }
      for (waiter, thread) in begun { waiter.resume(returning: thread) }
      if !goesOn { return }
    }
  }
}
