package import ExplorableSynchronization

/// What one step of a schedule did.
package struct StepRecord: Hashable, Sendable {
  /// From 1.
  package var number: Int
  package var choice: Choice
  /// The simulated task the step belongs to: its own, or the one that a helper served; 0 for none.
  package var task: Int
  /// The task that started the helper which takes the step, where the helper has served nobody yet; 0 for none.
  package var starter = 0
  /// What tasks reported during the step.
  package var reports: [Report]
  /// The other tasks that the step made ready, by themselves or by what serves them.
  package var woke: [Int]
  /// Whether the step's task waits now, and nobody is about to resume it.
  package var isParked: Bool
  /// Whom the step took the turn from, though it could have gone on: `t02`, `the cancelling of t02`; nil if
  /// nobody.
  package var preempted: String?
  /// What the step began with, if it went on in the middle of a job.
  package var operation: SynchronizationOperation?
  /// What that operation found and left, where it is known.
  package var values: OperationValues?
  /// What the source calls the lock or atomic, if somebody looked.
  package var objectName: String?
  /// Where that operation stands in the source, where it was asked for and is known.
  package var place: SourcePlace?
  /// Where each task stands after the step, by number from 1: its line, then its callers'; empty for who has
  /// not begun or has ended, and where it was not asked for.
  package var stands: [[SourcePlace]] = []
  /// Whether it went on in the middle of a job.
  package var goesOn = false
  /// Bodies in service after the step.
  package var running: Int
  /// Tasks that wait after the step.
  package var waiting: Int
  /// The promise the step broke.
  package var violation: Violation?

  /// Whether the step took the turn from somebody that could have gone on.
  package var isPreemption: Bool { preempted != nil }

  package struct Report: Hashable, Sendable {
    package var observation: Observation
    package var task: Int
    /// Whether the task is none of the scenario's: at the end it tries whether a permit can be taken.
    package var isProbe = false
    /// Bodies in service, and tasks that wait, once it was reported.
    package var running: Int
    package var waiting: Int
    /// The promise it broke.
    package var violation: Violation?
  }
}

/// Keeps the record of each step of one schedule.
struct StepRecorder {
  private(set) var steps: [StepRecord] = []
  /// Where each step went on from.
  private var points: [[UInt]] = []
  /// Where each task stands after each step, if that is wanted.
  private var stands: [[[UInt]]] = []
  /// Which task each agent last reported for.
  private var served: [Int32: Int] = [:]
  /// Which task started each helper, if one did.
  private var starters: [Int32: Int] = [:]
  private var reports: [StepRecord.Report] = []
  private var choice: Choice?
  private var preempted: String?
  private var operation: SynchronizationOperation?
  private var goesOn = false
  private var wasBroken = false

  mutating func reset() { self = StepRecorder() }

  mutating func begin(
    _ choice: Choice,
    preempting: Choice?,
    operation: SynchronizationOperation?,
    at points: [UInt],
    goesOn: Bool,
    tasks: Int
  ) {
    self.points.append(points)
    self.choice = choice
    preempted = preempting.map { choice in
      if choice.isInterference { return choice.actorName }
      let task = task(of: choice.agent, amongst: tasks)
      return task == 0 ? "a helper" : PropertyMonitor.name(task)
    }
    self.operation = operation
    self.goesOn = goesOn
    reports.removeAll(keepingCapacity: true)
  }

  mutating func note(_ observation: Observation, _ task: Int, in run: ScheduleRun) {
    let isFirst = !wasBroken && !reports.contains { $0.violation != nil }
    reports.append(
      StepRecord.Report(
        observation: observation,
        task: task,
        isProbe: task > run.scenario.tasks,
        running: run.monitor.running,
        waiting: run.monitor.waiting,
        violation: isFirst ? run.violation : nil
      )
    )
    served[run.executor.running] = task
  }

  mutating func end(in run: ScheduleRun) {
    guard let choice else { return }
    let task = task(of: choice, in: run)
    steps.append(
      StepRecord(
        number: run.steps,
        choice: choice,
        task: task,
        starter: task == 0 ? starters[choice.agent] ?? 0 : 0,
        reports: reports,
        woke: tasksWoken(by: choice, in: run),
        isParked: task != 0 && run.monitor.tasks[task].phase == .waiting && run.isParked(task),
        preempted: preempted,
        operation: operation,
        values: run.values,
        goesOn: goesOn,
        running: run.monitor.running,
        waiting: run.monitor.waiting,
        violation: wasBroken ? nil : run.violation
      )
    )
    if run.points != nil {
      stands.append((1...run.scenario.tasks).map { run.points(of: $0) })
    }
    if run.violation != nil { wasBroken = true }
    for step in run.executor.ready
    where step.wokenAt == run.steps && step.agent > run.scenario.tasks {
      if starters[step.agent] == nil { starters[step.agent] = task }
    }
  }

  /// The steps, with the lines that `points` stand for.
  func stepsWithPlaces(_ lines: SourceLines) -> [StepRecord] {
    var told = steps
    for (index, stand) in stands.enumerated() where told.indices.contains(index) {
      told[index].place = lines.place(of: points[index], for: told[index].operation)
      told[index].stands = stand.map(lines.places)
    }
    return told
  }

  /// The stacks whose lines are wanted: of an operation the innermost, of where a task stands all.
  var stacks: [[UInt]] { points + Set(stands.joined().joined()).map { [$0] } }

  private func task(of choice: Choice, in run: ScheduleRun) -> Int {
    if choice.kind == .limit { return 0 }
    // A turn of an actor serves the task that reports during it.
    if choice.kind == .turn, let report = reports.first { return report.task }
    return task(of: choice.agent, amongst: run.scenario.tasks)
  }

  /// The task that the agent is, or that it last served.
  private func task(of agent: Int32, amongst tasks: Int) -> Int {
    Int(agent) <= tasks ? Int(agent) : served[agent] ?? 0
  }

  private func tasksWoken(by choice: Choice, in run: ScheduleRun) -> [Int] {
    var woken: [Int] = []
    for step in run.executor.ready
    where step.wokenAt == run.steps && (choice.kind == .limit || step.agent != choice.agent) {
      let task = task(of: step.agent, amongst: run.scenario.tasks)
      if task != 0, !woken.contains(task) { woken.append(task) }
    }
    return woken
  }
}
