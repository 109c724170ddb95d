/// One schedule under way: the scenario's state, what may happen next, what has been observed.
///
/// Used again for schedule after schedule, since making the executor and the tables anew would cost
/// more than a short schedule does.
final class ScheduleRun: @unchecked Sendable {
  // Safe: touched only by the exploring thread. It is shared with the scenario's tasks, which all run
  // on that thread, inside `take`. Exclusivity is unchecked because no access lasts while a step runs.

  /// A choice there is, and where to find what it stands for.
  struct Option {
    var choice: Choice
    /// The index of the ready step, or of the sleeper counted from the end of the ready steps.
    var slot: Int
  }

  let scenario: Scenario
  let executor = ExplorationExecutor()
  @exclusivity(unchecked) private(set) var monitor: PropertyMonitor
  /// What may happen next; valid until the next `take`.
  @exclusivity(unchecked) private(set) var options: [Option] = []
  /// How many of the options, which come first, let something run; the rest are cancellations.
  @exclusivity(unchecked) private(set) var runnable = 0
  @exclusivity(unchecked) private(set) var steps = 0
  /// Tasks that never ended, over all schedules: whatever resumes them was lost.
  private(set) var tasksLost = 0
  /// What each step did, if that is wanted.
  @exclusivity(unchecked) var record: StepRecorder?
  /// The agent that ran last, and whether it could have gone on at once; 0 at the beginning.
  @exclusivity(unchecked) private(set) var lastAgent: Int32 = 0
  @exclusivity(unchecked) private(set) var lastCanGoOn = false

  private let reduction: Reduction
  private var context: ScenarioContext?
  @exclusivity(unchecked) private var instance: ScenarioInstance?
  @exclusivity(unchecked) private var handles: [Task<Void, Never>] = []
  /// Which tasks have taken their first step.
  @exclusivity(unchecked) private(set) var hasBegun: [Bool]
  @exclusivity(unchecked) private var isLive = false
  /// The task that was cancelled before it began, in the step before: it must begin now.
  @exclusivity(unchecked) private var mustBegin: Int32 = 0

  init(_ scenario: Scenario, reduction: Reduction) {
    self.scenario = scenario
    self.reduction = reduction
    monitor = PropertyMonitor(scenario)
    hasBegun = Array(repeating: false, count: scenario.tasks + 1)
    context = ScenarioContext(self)
  }

  /// Breaks the circle between this object and its context; call it when no more schedules follow.
  func close() { context = nil }

  // MARK: A schedule, from its beginning to its end

  func begin() {
    guard let context else { preconditionFailure("a closed run was begun again") }
    executor.reset(tasks: scenario.tasks)
    monitor.reset()
    record?.reset()
    steps = 0
    lastAgent = 0
    lastCanGoOn = false
    mustBegin = 0
    for index in hasBegun.indices { hasBegun[index] = false }
    isLive = true
    let instance = scenario.make(context)
    self.instance = instance
    for task in 1...scenario.tasks {
      executor.start(task) {
        handles.append(
          Task(executorPreference: executor) { [self] in
            await instance.body(task)
            noteEnd(of: task)
          }
        )
      }
    }
    findOptions()
  }

  /// Whether the schedule is over: a promise is broken, or nothing can run any more.
  ///
  /// Cancellations alone do not keep it going: a task that only a cancellation could free is stuck.
  var isOver: Bool { monitor.violation != nil || isAtRest }

  /// Whether nothing can run any more.
  var isAtRest: Bool { runnable == 0 }

  var violation: Violation? { monitor.violation }

  /// Lets the option at `index` happen, and finds out what may happen then.
  func take(_ index: Int) {
    let option = options[index]
    let task = Int(option.choice.agent)
    steps += 1
    executor.stepNumber = steps
    record?.begin(option.choice, isPreemption: isPreemption(option.choice))
    mustBegin = 0
    switch option.choice.kind {
    case .cancel:
      monitor.noteCancellation(of: task, isHandOffPossible: !isParked(task))
      executor.asDriver { handles[task - 1].cancel() }
      if !hasBegun[task], reduction.beginsCancelledAtOnce { mustBegin = option.choice.agent }
    case .run, .turn:
      if option.choice.kind == .run, task < hasBegun.count { hasBegun[task] = true }
      if option.slot < executor.ready.count {
        executor.run(readyAt: option.slot)
      } else {
        executor.run(sleeperAt: option.slot - executor.ready.count)
      }
      lastAgent = option.choice.agent
      lastCanGoOn = executor.ready.contains { $0.agent == lastAgent }
    }
    if scenario.cancellable { monitor.noteParkedCancelled(isParked: isParked) }
    findOptions()
    if runnable == 0, monitor.violation == nil {
      monitor.judgeRest(permitsInUse: instance?.permitsInUse?())
    }
    record?.end(in: self)
  }

  /// Whether taking `choice` now would take the turn from a agent that could go on.
  ///
  /// A cancellation takes no turn. A agent that suspended gave its turn up itself.
  func isPreemption(_ choice: Choice) -> Bool {
    choice.kind != .cancel && lastCanGoOn && choice.agent != lastAgent
  }

  /// The option to take when nothing speaks for another: the agent that ran last goes on, else
  /// whoever has been ready for longest.
  ///
  /// - Precondition: something can run.
  var defaultOption: Int {
    options[..<runnable].firstIndex { $0.choice.agent == lastAgent } ?? 0
  }

  /// Whether an option is to wake a sleeper.
  func isSleeper(_ option: Option) -> Bool {
    option.choice.kind == .run && option.slot >= executor.ready.count
  }

  /// The index of `choice` among the options.
  func index(of choice: Choice) -> Int? { options.firstIndex { $0.choice == choice } }

  /// Ends the schedule, wherever it is, and frees what can be freed.
  ///
  /// Tasks that have not ended are cancelled and run to their ends in the order in which they become
  /// ready. Then the instance is dropped, which ends queues and their drain tasks. A task that nothing
  /// resumes even so is lost, with its memory: only a limiter that loses continuations has such.
  func end() {
    isLive = false
    if monitor.ended < scenario.tasks {
      for (index, handle) in handles.enumerated() where !monitor.tasks[index + 1].hasEnded {
        executor.asDriver { handle.cancel() }
      }
    }
    drain()
    instance = nil
    drain()
    handles.removeAll(keepingCapacity: true)
    tasksLost += scenario.tasks - monitor.ended
  }

  private func drain() {
    var left = 10_000
    while left > 0 {
      if !executor.ready.isEmpty {
        executor.run(readyAt: 0)
      } else if !executor.sleepers.isEmpty {
        executor.run(sleeperAt: 0)
      } else {
        return
      }
      left -= 1
    }
  }

  // MARK: What tasks report

  func observe(_ observation: Observation, _ task: Int) {
    guard isLive else { return }
    monitor.observe(observation, task)
    record?.note(observation, task, by: executor.running)
  }

  func noteDoubleResume(_ what: String) {
    guard isLive else { return }
    monitor.noteDoubleResume(what)
  }

  private func noteEnd(of task: Int) { monitor.noteEnd(of: task) }

  // MARK: Options

  /// Whether nobody is about to resume a task, as far as can be known.
  ///
  /// A ready helper (the drain task of a queue, an actor's turn) may have its permit in hand.
  func isParked(_ task: Int) -> Bool {
    executor.readyHelpers == 0 && !executor.isReady(Int32(task))
  }

  private func findOptions() {
    options.removeAll(keepingCapacity: true)
    let fresh = reduction.ordersFreshTasks && scenario.symmetric ? firstFreshTasks() : (0, 0)
    for (slot, step) in executor.ready.enumerated() {
      if mustBegin != 0, step.agent != mustBegin || step.isTurn { continue }
      if step.isTurn {
        let ordinal = ordinal(ofTurnAt: slot)
        options.append(
          Option(choice: Choice(.turn, Int(step.agent), ordinal: ordinal), slot: slot)
        )
        continue
      }
      let task = Int(step.agent)
      if fresh != (0, 0), task < hasBegun.count, !hasBegun[task] {
        // Identical fresh tasks: the first stands for all.
        if task != fresh.0, task != fresh.1 { continue }
      }
      options.append(Option(choice: Choice(.run, task), slot: slot))
    }
    if mustBegin == 0 {
      for (index, sleeper) in executor.sleepers.enumerated() {
        options.append(
          Option(choice: Choice(.run, Int(sleeper.agent)), slot: executor.ready.count + index)
        )
      }
    }
    runnable = options.count
    if scenario.cancellable, mustBegin == 0, runnable > 0 {
      for task in 1...scenario.tasks {
        let state = monitor.tasks[task]
        if state.hasEnded || state.isCancelled { continue }
        if fresh != (0, 0), !hasBegun[task], task != fresh.0 { continue }
        options.append(Option(choice: Choice(.cancel, task), slot: 0))
      }
    }
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

  private func ordinal(ofTurnAt slot: Int) -> Int {
    let agent = executor.ready[slot].agent
    var count = 0
    for other in executor.ready[..<slot] where other.isTurn && other.agent == agent { count += 1 }
    return count
  }
}
