internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

// What may happen next.

extension ScheduleRun {
  /// Whether nobody is about to resume a task, as far as can be known.
  ///
  /// A ready helper (the drain task of a queue, an actor's turn) may have its permit in hand.
  func isParked(_ task: Int) -> Bool {
    executor.readyHelpers == 0 && !executor.isReady(Int32(task)) && !isBusyInside
  }

  func findOptions() {
    options.removeAll(keepingCapacity: true)
    let fresh = reduction.ordersFreshTasks && scenario.symmetric ? firstFreshTasks() : (0, 0)
    let mustStep = mustBegin != 0 ? mustBegin : mustGoOn
    var kept = 0
    if let workers, mustStep == 0 { kept = addPaused(workers) }
    // Its jobs run one at a time, in the order in which they came.
    var isMainActorTaken = workers?.isMainActorTaken == true
    for (slot, step) in executor.ready.enumerated() {
      if step.origin == .mainActor {
        if isMainActorTaken { continue }
        isMainActorTaken = true
      }
      if mustStep != 0, step.agent != mustStep || step.isTurn { continue }
      if isExhausted(step.agent) {
        kept += 1
        continue
      }
      let task = Int(step.agent)
      if step.isTurn {
        let ordinal = ordinal(ofTurnAt: slot)
        options.append(
          Option(choice: Choice(.turn, task, ordinal: ordinal), source: .ready, slot: slot)
        )
        continue
      }
      if fresh != (0, 0), task < hasBegun.count, !hasBegun[task] {
        // Identical fresh tasks: the first stands for all.
        if task != fresh.0, task != fresh.1 { continue }
      }
      options.append(Option(choice: Choice(.run, task), source: .ready, slot: slot))
    }
    if mustStep == 0 {
      // Who sleeps for fifty years or more sleeps until it is cancelled.
      var earliest = min(
        executor.sleepers.lazy.map(\.deadline).min() ?? .max,
        ExplorationExecutor.endOfTime - 1
      )
      let awake = options.count
      // A wait whose time is over goes on at once: who waits so keeps its thread.
      for (slot, worker) in workers?.limited(before: earliest) ?? [] {
        earliest = worker.deadline
        let agent = worker.choice.agent
        if isOvertaking(agent, options[..<awake]) {
          kept += 1
          continue
        }
        options.append(Option(choice: Choice(.wake, Int(agent)), source: .paused, slot: slot))
      }
      for (index, sleeper) in executor.sleepers.enumerated() where sleeper.deadline <= earliest {
        if isOvertaking(sleeper.agent, options[..<awake]) {
          kept += 1
          continue
        }
        options.append(
          Option(choice: Choice(.wake, Int(sleeper.agent)), source: .sleeper, slot: index)
        )
      }
      // A timer that fires again and again, when all else has ended, fires for nobody.
      if kept == 0, options.allSatisfy(isInBackground), executor.unfinished.isEmpty {
        options.removeAll(keepingCapacity: true)
      }
    }
    if kept > 0 {
      keptSomebody = true
      if options.isEmpty { return beginIdleRound() }
      if isLive { wasKeptFair = true }
    }
    runnable = options.count
    if runnable > 0, mustBegin == 0 { addInterferences(fresh) }
  }

  /// Whether a sleeper must wait for one of those who could go on.
  private func isOvertaking(_ agent: Int32, _ awake: ArraySlice<Option>) -> Bool {
    rounds.hasOvertakings && awake.contains { rounds.hasOvertaken($0.choice.agent, by: agent) }
  }

  /// Whether it is done again and again, and keeps no schedule from its end.
  private func isInBackground(_ option: Option) -> Bool {
    switch option.source {
    case .sleeper: executor.sleepers[option.slot].isBackground
    case .paused:
      option.choice.kind == .wake && workers?.paused[option.slot].looksNowAndThen == true
    case .ready, .thread, .outside: false
    }
  }

  /// Adds the jobs in the middle that can go on, who ran last first, and threads; returns how many the
  /// fairness bound kept.
  private func addPaused(_ workers: Workers) -> Int {
    var kept = 0
    for slot in workers.paused.indices.reversed() {
      let worker = workers.paused[slot]
      if !workers.isEnabled(worker) { continue }
      if worker.choice.kind == .run, isExhausted(worker.choice.agent) {
        kept += 1
        continue
      }
      options.append(Option(choice: worker.choice, source: .paused, slot: slot))
    }
    for (slot, thread) in workers.threads.enumerated()
    where !thread.isOnMain || !workers.isMainActorTaken {
      options.append(Option(choice: Choice(.run, Int(thread.agent)), source: .thread, slot: slot))
    }
    return kept
  }

  /// What the driver may do to the tasks from outside.
  private func addInterferences(_ fresh: (Int, Int)) {
    if scenario.cancellable {
      for task in 1...scenario.tasks {
        let state = monitor.tasks[task]
        if state.hasEnded || state.isCancelled { continue }
        if mustGoOn != 0, task != Int(mustGoOn) { continue }
        if fresh != (0, 0), !hasBegun[task], task != fresh.0 { continue }
        options.append(Option(choice: Choice(.cancel, task), source: .outside, slot: 0))
      }
    }
    if let limit = scenario.resize, !hasResized, mustGoOn == 0 {
      options.append(Option(choice: Choice(.limit, limit), source: .outside, slot: 0))
    }
  }

  /// Whether an agent has yielded so often, with nothing happening, that others come first.
  ///
  /// ``Rounds`` says when what an agent does counts as a yield.
  func isExhausted(_ agent: Int32) -> Bool {
    guard let fair = scenario.fair, !executor.yields.isEmpty else { return false }
    guard executor.yields[Int(agent), default: 0] > fair else { return false }
    keptSomebody = true
    return true
  }

  /// Every agent that can run has yielded enough and nothing happened: they all may go on again, but
  /// not for ever.
  func beginIdleRound() {
    let paused = workers?.paused.filter { workers?.isEnabled($0) == true } ?? []
    rounds.noteIdleRound(
      of: Set(executor.ready.map { Int($0.agent) } + paused.map { Int($0.choice.agent) })
    )
    executor.yields.removeAll(keepingCapacity: true)
    if let most = scenario.mostIdleRounds, rounds.idle > most {
      monitor.noteLivelock(rounds.retrying.filter { $0 <= scenario.tasks }.sorted())
    }
    findOptions()
  }

  /// The first fresh task that is not cancelled and the first that is; 0 for none.
  private func firstFreshTasks() -> (Int, Int) {
    var first = (0, 0)
    for task in hasBegun.indices.dropFirst() where !hasBegun[task] {
      if monitor.tasks[task].isCancelled {
        if first.1 == 0 { first.1 = task }
      } else if first.0 == 0 {
        first.0 = task
      }
    }
    return first
  }

  func ordinal(ofTurnAt slot: Int) -> Int {
    let agent = executor.ready[slot].agent
    var count = 0
    for other in executor.ready[..<slot] where other.isTurn && other.agent == agent { count += 1 }
    return count
  }
}
