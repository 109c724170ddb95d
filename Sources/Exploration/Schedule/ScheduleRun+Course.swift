internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

// By what a schedule is known to have come to the same as another one.

extension ScheduleRun {
  /// Notes that a step begins, and what it finds that no step is known to have left.
  func beginTouching(_ option: Option, _ touches: Touches) {
    let choice = option.choice
    // Simulated tasks are there from the beginning; who comes later is known by the step that it came from.
    let name = Int(choice.agent) <= scenario.tasks ? UInt64(choice.agent) : 0
    touches.beginStep(of: choice.agent, UInt64(choice.kind.rawValue) << 32 | name)
    switch option.source {
    case .ready:
      let step = executor.ready[option.slot]
      if step.origin == .mainActor { touches.noteMainActor() }
      if step.isActor {
        // Whose code runs is not known yet.
        executor.noteUrgencies(touches)
      } else if !step.isTurn {
        touches.note(address: step.job.address)
        touches.note(urgency: step.job.urgency)
      }
    case .paused:
      guard let worker = workers?.paused[option.slot] else { break }
      if option.choice.kind == .wake { touches.noteTime() }
      if worker.isOnMain { touches.noteMainActor() }
      guard let task = worker.task else { break }
      touches.note(address: task.address)
      touches.note(urgency: task.urgency)
    case .thread:
      if let thread = workers?.threads[option.slot] {
        touches.note(object: thread.object)
        if thread.isOnMain { touches.noteMainActor() }
      }
    // Time is everybody's.
    case .sleeper: touches.noteTime()
    // Of what comes from outside nothing is known.
    case .outside: touches.noteEverything()
    }
  }

  /// Tells the state that the schedule has come to from others.
  ///
  /// It is the same in all schedules that differ only in the order of steps of which none finds what another left.
  ///
  /// - Parameter isStrict: whether what keeps tasks from going round counts too.
  /// - Returns: The number of the state; nil where it is not known.
  func course(isStrict: Bool) -> UInt64? {
    guard let touches, !wasUncertain, unseen.isEmpty else { return nil }
    var course = touches.sum
    if touches.overlooked.contains(.course) { return course }
    // All of it is a consequence of the steps. That it is asked for again costs little, and would show a step that
    // left something which nobody noted.
    func add(_ kind: UInt64, _ one: UInt64, _ other: UInt64 = 0) {
      course &+= touch_mix(touch_mix(kind, one), other)
    }
    var onMain: UInt64 = 0
    for (slot, step) in executor.ready.enumerated() {
      let state = touches.state(of: step.agent)
      if step.origin == .mainActor {
        onMain = touch_mix(onMain, state)
      } else {
        add(step.isTurn ? 1 : 2, state, step.isTurn ? UInt64(ordinal(ofTurnAt: slot)) : 0)
      }
    }
    add(3, onMain)
    for sleeper in executor.sleepers {
      add(4, touches.state(of: sleeper.agent), UInt64(bitPattern: sleeper.deadline))
    }
    add(5, UInt64(bitPattern: executor.now))
    if let workers {
      for worker in workers.paused {
        let operation = UInt64(worker.operation?.kind.rawValue ?? 255)
        add(6, touches.state(of: worker.choice.agent), operation)
        if worker.isLimited { add(12, UInt64(bitPattern: worker.deadline)) }
      }
      for thread in workers.threads { add(7, touches.state(of: thread.agent)) }
    }
    if isStrict, !touches.overlooked.contains(.rounds) {
      for (agent, count) in executor.yields where count > 0 {
        add(8, touches.state(of: Int32(agent)), UInt64(count))
      }
      rounds.add(add, touches)
    }
    return course
  }

  /// Who could go on, if going elsewhere would be a pre-emption; 0 for nobody.
  var turn: UInt64 {
    guard let touches, let choice = last.choice, last.canGoOn, !touches.overlooked.contains(.turns)
    else { return 0 }
    return touch_mix(touches.state(of: choice.agent), choice.kind.isOwn ? 1 : 2)
  }
}
