internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

// How a schedule is judged at its rest, and brought to its end.

extension ScheduleRun {
  /// Judges a schedule in which nothing can run any more: what was left undone, whether all permits are
  /// back, and what dropping the limiter does.
  func settle() {
    if let atRest = scenario.atRest {
      if let found = atRest(self) { monitor.note(found) }
      return
    }
    if let workers, workers.isBusy { return monitor.judgeStuck(workers.stuck()) }
    let permitsInUse = instance?.permitsInUse?()
    monitor.judgeRest(permitsInUse: permitsInUse)
    guard monitor.violation == nil, monitor.ended == scenario.tasks else { return }
    if permitsInUse == nil, scenario.promises.workConservation, scenario.probes > 0 { tryPermits() }
    if monitor.violation == nil {
      instance = nil
      drain()
    }
    monitor.close()
  }

  /// Has as many further tasks arrive as there are permits; all must be in service together.
  private func tryPermits() {
    guard let instance else { return }
    let count = min(monitor.limit, scenario.probes)
    var probes: [Task<Void, Never>] = []
    for number in (scenario.tasks + 1)...(scenario.tasks + count) {
      probes.append(Task(executorPreference: executor) { await instance.body(number) })
    }
    var left = 10_000
    while !executor.ready.isEmpty, left > 0 {
      executor.run(readyAt: 0)
      left -= 1
    }
    monitor.judgeProbes(count)
    if monitor.violation != nil { for probe in probes { probe.cancel() } }
    drain()
  }

  /// Ends the schedule, wherever it is, and frees what can be freed.
  ///
  /// Tasks that have not ended are cancelled and run to their ends. Then the instance is dropped, which ends queues
  /// and their drain tasks. A task that has not ended even so is lost, with its memory: nothing resumes it, or it
  /// waits for a lock whose holder waits for another, or it goes on for ever although it is cancelled.
  func end() {
    isLive = false
    endsBy = .now + longestEnd
    defer { GlobalPoolHook.setCurrent(nil) }
    journal?.endSchedule()
    let leaves = journal?.leaves ?? .nothing
    if leaves == .everything || leaves == .unfinished && monitor.ended < scenario.tasks
      || doesNotComeBack || trapPoints != nil
    {
      return leave()
    }
    let stepsOfSchedule = steps
    defer { steps = stepsOfSchedule }
    if touches != nil, violation == nil, runnable > 0 {
      // Left only since another stands for it: nothing is wrong with its tasks, and they come to their ends by
      // themselves, without being cancelled.
      finishByDefault()
      if trapPoints != nil { return leave() }
    }
    if let workers, workers.isBusy || !workers.threads.isEmpty {
      // Jobs in the middle come first: a lock that one of them holds would keep who is cancelled.
      finish { run in
        guard workers.isBusy || !workers.threads.isEmpty else { return nil }
        return run.options[..<run.runnable].firstIndex {
          $0.source != .ready && $0.source != .sleeper
        } ?? 0
      }
      if trapPoints != nil { return leave() }
      if workers.isStuck {
        // A deadlock in locks: cancelling would wait for it too.
        workers.abandon()
        tasksLost += scenario.tasks - monitor.ended
        instance = nil
        handles.removeAll(keepingCapacity: true)
        return
      }
    }
    if scenario.atRest != nil, let violation = monitor.violation {
      ScheduleUnderWay.noteOutcome(violation.message)
    }
    // What a task says that traps as it is cleared away is no news: it is told where the program ends of it.
    let areKeptBack = last_words_are_kept_back()
    last_words_keep_back(true)
    defer { last_words_keep_back(areKeptBack) }
    if monitor.ended < scenario.tasks {
      for (index, handle) in handles.enumerated() where !monitor.tasks[index + 1].hasEnded {
        cancel(handle)
      }
    }
    for agent in executor.unfinished where agent > 1 {
      if trapPoints == nil, let task = executor.unfinishedTask(of: agent) { cancel(task) }
    }
    if trapPoints != nil { return leave() }
    finishAll()
    if trapPoints == nil {
      instance = nil
      finishAll()
    }
    if trapPoints != nil { return leave() }
    executor.clearAlarms()
    workers?.letGoOfThreads()
    workers?.abandon()
    tasksLost += executor.unfinished.count { $0 > 1 }
    handles.removeAll(keepingCapacity: true)
    tasksLost += scenario.tasks - monitor.ended
  }

  /// Cancels a task that is left, while all others stand.
  ///
  /// On a thread that can be lost: a handler of the task's may trap, or wait for ever.
  private func cancel(_ task: Task<Void, Never>) {
    guard let workers else { return executor.asDriver { task.cancel() } }
    let agent = executor.newAgent()
    workers.add(Workers.Waiting(agent: agent, body: { task.cancel() }, isOnMain: false))
    finish { run in run.options[..<run.runnable].firstIndex { $0.choice.agent == agent } }
  }

  /// Leaves the schedule as it is, with all that it has not brought to its end.
  func leave() {
    isLive = false
    GlobalPoolHook.setCurrent(nil)
    workers?.abandon()
    if let instance { left.append(instance) }
    instance = nil
    handles.removeAll(keepingCapacity: true)
  }

  /// Runs what is left to its end, on workers where code may stop in the middle: on this thread it would
  /// block for what only another could give it.
  private func finishAll() {
    if workers == nil { drain() } else { finishByDefault() }
  }

  /// How much may happen, at most, in bringing a schedule to its end.
  private static let mostAtEnd = 10_000
  /// How long that may take: steps are long where a thread waits for what nobody explored does.
  ///
  /// What is left then may hold a lock that schedules to come need, which does no harm where one has failed.
  private var longestEnd: Duration {
    let long = Workers.longStep.load(ordering: .acquiring)
    return .seconds(violation == nil ? long : min(long, 2))
  }

  /// Lets happen what `choose` chooses, until nothing can run, or all that can retries in vain.
  func finish(_ choose: (ScheduleRun) -> Int?) {
    var left = Self.mostAtEnd
    rounds.forgetIdleRounds()
    findOptions()
    drive { run in
      left -= 1
      return left > 0 && run.rounds.idle < 20 && .now < run.endsBy ? choose(run) : nil
    }
  }

  /// Has whoever ran last go on, until nothing can run, or all that can retries in vain.
  ///
  /// Nobody looks at what happens, so a job that can go on where it comes to a point does so at once.
  private func finishByDefault() {
    pointsToPass = Self.mostAtEnd
    finish(\.defaultOption)
    pointsToPass = 0
  }

  func drain() {
    var left = 10_000
    while left > 0 {
      if !executor.ready.isEmpty {
        executor.run(readyAt: 0)
      } else if !executor.sleepers.isEmpty {
        executor.wake(sleeperAt: 0)
      } else {
        return
      }
      left -= 1
    }
  }
}
