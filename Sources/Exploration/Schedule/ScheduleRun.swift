internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

/// One schedule under way: the scenario's state, what may happen next, what has been observed.
///
/// Used again for schedule after schedule, since making the executor and the tables anew would cost
/// more than a short schedule does.
final class ScheduleRun: @unchecked Sendable {
  // Safe: touched only by the exploring thread, or by the worker that has the baton; a worker that was
  // called blocked takes the baton again before it reports anything. It is shared with
  // the scenario's tasks, which all run there. Exclusivity is unchecked because no access lasts while a
  // step runs.

  /// A choice there is, and where to find what it stands for.
  struct Option {
    /// Where to find it.
    enum Source: UInt8 {
      case ready
      case sleeper
      /// Jobs that are paused in the middle.
      case paused
      /// Threads that have not begun.
      case thread
      /// From outside: a cancellation, a change of the limit.
      case outside
    }

    var choice: Choice
    var source: Source
    /// The index there.
    var slot: Int
  }

  /// Who ran last, and whether it could have gone on at once.
  struct Turn {
    /// Nil at the beginning.
    var choice: Choice?
    var canGoOn = false
  }

  let scenario: Scenario
  let executor: ExplorationExecutor
  @exclusivity(unchecked) var monitor: PropertyMonitor
  /// What may happen next; valid until the next `take`.
  @exclusivity(unchecked) var options: [Option] = []
  /// How many of the options, which come first, let something run; the rest are cancellations.
  @exclusivity(unchecked) var runnable = 0
  @exclusivity(unchecked) var steps = 0
  /// Tasks that had not ended when all had been done to end them, over all schedules: whatever resumes them
  /// was lost, or they wait for locks in a circle, or they go on although they are cancelled.
  var tasksLost = 0
  /// Tells this course of events from others: the choices, what they made ready, what was reported.
  @exclusivity(unchecked) private(set) var fingerprint: UInt64 = 0
  /// Whether a task that yields, or wakes, too often was ever kept from going on while another could.
  var wasKeptFair = false
  /// Whether an actor ever had a turn, in which no other agent can step.
  private(set) var sawActorTurn = false
  /// Whether code ever started a task, besides those that the scenario has.
  private(set) var sawStart = false
  /// The kinds of operations that code ever came to.
  @exclusivity(unchecked) private(set) var operations: Set<SynchronizationOperation.Kind> = []
  /// Has each job that stops in the middle say where in the code it is.
  func notePlaces() {
    SourceLines.prepare()
    points = SourceLines.here
  }

  /// Tells where in the code the calling thread is, if that is wanted of jobs that stop in the middle.
  var points: (() -> [UInt])?
  /// What the atomic held that the step began with, if it began with one that said so.
  @exclusivity(unchecked) var found: UInt64?
  /// What the operation that the step began with has found and left, if it was asked and said so.
  @exclusivity(unchecked) var values: OperationValues?
  /// What the steps touch, if that is wanted.
  @exclusivity(unchecked) private(set) var touches: Touches?
  /// Code that was run, in any schedule, of which nobody sees what it touches.
  @exclusivity(unchecked) var unseen = UnseenCode()
  /// What code asked, in any schedule, that was answered in one way only.
  @exclusivity(unchecked) var oneAnswer = OneAnswer()
  /// Whether something of the schedule under way depends on the system's threads.
  private(set) var wasUncertain = false
  /// Whether somebody was ever kept from going on because he goes round, or has overtaken another too often.
  var keptSomebody = false
  /// What each step did, if that is wanted.
  @exclusivity(unchecked) var record: StepRecorder?
  @exclusivity(unchecked) private(set) var last = Turn()
  /// Where jobs run that may stop in the middle; nil where none may.
  @exclusivity(unchecked) private(set) var workers: Workers?
  /// Whether no further schedule is to be run: too many threads were given up or let go of, or a step does not come
  /// back.
  var hasLostThreads: Bool {
    workers.map { $0.lost + $0.letGo > Workers.mostLost } == true || doesNotComeBack
  }

  /// Whether a step did not come to its end in time: its thread goes on in it.
  var doesNotComeBack: Bool { workers?.runaway != nil }

  /// Where that step was.
  @exclusivity(unchecked) private(set) var runawayPoints: [UInt] = []

  /// Notes that the step under way has run for long, and that the time is over which the exploration was allowed.
  func noteRunaway(_ choice: Choice, for seconds: Int, at points: [UInt]) {
    runawayPoints = points
    let place = SourceLines(of: [points]).at(points)
    note(
      Violation(
        kind: .runaway,
        message:
          "\(ScheduleTrace.name(Int(choice.agent))) does not come back\(place): it has run for \(seconds) s with "
          + "no end, no suspension and nothing that is a point, and the time allowed is over. Its thread goes on "
          + "until the process ends",
        tasks: [Int(choice.agent)]
      )
    )
  }

  /// Where the code under study would have ended the program in this schedule; nil if it would not have.
  @exclusivity(unchecked) private(set) var trapPoints: [UInt]?

  /// Notes that the step under way would end the program: nothing of the schedule can go on, nor be cleared away.
  func noteTrap(_ choice: Choice, _ fall: Standstill.Fall) {
    trapPoints = fall.points
    options.removeAll(keepingCapacity: true)
    runnable = 0
    isRestToFinish = false
    guard isLive else { return }
    let name = ScheduleTrace.name(Int(choice.agent))
    let place = SourceLines(of: [fall.points]).at(fall.points)
    note(
      Violation(
        kind: .trap,
        message: "\(name) stops the program\(place): \(fall.text)",
        tasks: [Int(choice.agent)]
      )
    )
    record?.end(in: self)
  }

  /// Notes that the code under study, on the calling thread, calls a function whose work nobody sees.
  func noteUnseenCall(_ name: String) {
    guard let points = unseen.note(call: name, at: SourceLines.here) else { return }
    executor.escapes.note(unseenCall: name, at: points)
  }

  /// Whether code ever started a `Thread` of Foundation.
  var sawThread = false
  /// Whether two agents ever took the same lock inside of Foundation, where races were looked for.
  var sawLockInside = false
  /// Where a thread of the code under study still waited when all else of a schedule had ended, the first that did;
  /// nil if none did.
  @exclusivity(unchecked) var leftThread: [UInt]?

  let reduction: Reduction
  let journal = ScheduleJournal.ofThisProgram
  private var context: ScenarioContext?
  @exclusivity(unchecked) var instance: ScenarioInstance?
  @exclusivity(unchecked) var handles: [Task<Void, Never>] = []
  /// What is not let go, as the journal asks: its `deinit` may end the program.
  var left: [ScenarioInstance] = []

  /// Holds them for ever.
  private final class Kept {
    let instances: [ScenarioInstance]
    init(instances: [ScenarioInstance]) { self.instances = instances }
  }
  /// Which tasks have taken their first step.
  @exclusivity(unchecked) private(set) var hasBegun: [Bool]
  @exclusivity(unchecked) var isLive = false
  /// The task that was cancelled before it began, in the step before: it must begin now.
  @exclusivity(unchecked) var mustBegin: Int32 = 0
  /// The sleeper woken in the step before: it must go on now, or be cancelled.
  @exclusivity(unchecked) var mustGoOn: Int32 = 0
  @exclusivity(unchecked) var hasResized = false
  /// Whether anything was reported, ended or interfered with in the present step.
  @exclusivity(unchecked) private var somethingHappened = false
  /// Who goes round in circles.
  @exclusivity(unchecked) var rounds = Rounds()
  @exclusivity(unchecked) var isRestToFinish = false
  /// How many points a job may still go past without being paused, where a schedule is only brought to its end.
  @exclusivity(unchecked) var pointsToPass = 0
  /// Until when a schedule that is brought to its end may go on.
  @exclusivity(unchecked) var endsBy = ContinuousClock.Instant.now
  @exclusivity(unchecked) private var readyBefore = 0
  init(_ scenario: Scenario, reduction: Reduction) {
    self.scenario = scenario
    // Of code that reports nothing, nothing is known that the others could use.
    self.reduction = scenario.atRest == nil ? reduction : reduction.ofAnyCode
    executor = ExplorationExecutor(keepsTasks: scenario.atRest != nil)
    monitor = PropertyMonitor(scenario)
    hasBegun = Array(repeating: false, count: scenario.tasks + 1)
    context = ScenarioContext(self)
    if scenario.atRest != nil {
      // The thread that admits a job has the baton, though not always the name of the leader.
      executor.onDoubleResume = { [self] agent in
        if isLive { monitor.noteDoubleResume("the continuation of task \(agent)") }
      }
    }
    executor.onRequirement = { [self] in note(.requirement, $0.description) }
    if scenario.inside { workers = Workers(self) }
    executor.workers = workers
    touches =
      self.reduction.mergesCourses && workers?.seesTouches == true
      ? Touches(overlooked: self.reduction.overlooked) : nil
    executor.touches = touches
    journal?.begin(scenario.name)
  }

  /// Ends threads and breaks circles; call it when no more schedules follow.
  func close() {
    context = nil
    executor.onDoubleResume = nil
    executor.onRequirement = nil
    touches?.end()
    let runaway = doesNotComeBack ? workers : nil
    workers?.close()
    executor.workers = nil
    workers = nil
    if !left.isEmpty { _ = Unmanaged.passRetained(Kept(instances: left)) }
    // Its thread may come to a point yet, and ask who it is.
    if let runaway { _ = (Unmanaged.passRetained(self), Unmanaged.passRetained(runaway)) }
    if tasksLost > 0 || executor.escaped || !left.isEmpty {
      // Such tasks know their executor by its address, and may ask for it at any time.
      _ = Unmanaged.passRetained(executor)
    }
  }

  // MARK: A schedule, from its beginning to its end

  func begin() {
    guard let context else { fatalError("a closed run was begun again") }
    GlobalPoolHook.setCurrent(executor)
    touches?.begin()
    wasUncertain = false
    executor.reset(tasks: scenario.tasks)
    journal?.beginSchedule()
    monitor.reset()
    record?.reset()
    steps = 0
    found = nil
    race = nil
    last = Turn()
    workers?.begin()
    rounds.begin()
    mustBegin = 0
    mustGoOn = 0
    hasResized = false
    fingerprint = 0xCBF2_9CE4_8422_2325
    for index in hasBegun.indices { hasBegun[index] = false }
    isLive = true
    trapPoints = nil
    if scenario.atRest != nil {
      ScheduleUnderWay.restart()
      last_words_forget()
    }
    let instance = scenario.make(context)
    self.instance = instance
    for task in 1...scenario.tasks {
      let body: @concurrent @Sendable () async -> Void = { [self] in
        await instance.body(task)
        noteEnd(of: task)
      }
      executor.start(task) {
        // Of code of which nothing is known the first task is one like any other.
        handles.append(
          scenario.atRest == nil
            ? Task(executorPreference: executor, operation: body) : Task(operation: body)
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
    var next: Int? = index
    drive { _ in next.take() }
  }

  /// Lets happen what `choose` chooses, until it chooses nothing or nothing can run.
  ///
  /// `choose` is called on the thread that has the baton; only one thread calls it at a time.
  func drive(_ choose: (ScheduleRun) -> Int?) {
    if let workers {
      withoutActuallyEscaping(choose) { workers.drive($0) }
      finishRest()
      return
    }
    while runnable > 0, let index = choose(self) {
      beginStep(index)
      let option = options[index]
      switch option.source {
      case .ready: executor.run(readyAt: option.slot)
      case .sleeper: executor.wake(sleeperAt: option.slot)
      case .outside: executor.asDriver { interfere(option.choice) }
      case .paused, .thread: preconditionFailure("a job is paused in the middle, and none may be")
      }
      endStep(option.choice, paused: nil)
      finishRest()
    }
  }

  /// Notes that the option at `index` is about to happen.
  func beginStep(_ index: Int) {
    let option = options[index]
    let agent = Int(option.choice.agent)
    steps += 1
    executor.stepNumber = steps
    if workers?.looksForRaces == true { races_step(UInt32(steps)) }
    values = nil
    found = nil
    if isLive { journal?.note(option.choice) } else { journal?.noteLife() }
    let worker = option.source == .paused ? workers?.paused[option.slot] : nil
    if isLive {
      record?.begin(
        option.choice,
        preempting: isPreemption(option) ? last.choice : nil,
        operation: worker?.operation,
        at: worker?.points ?? [],
        goesOn: option.source == .paused,
        tasks: scenario.tasks
      )
    }
    if option.choice.kind != .wake { rounds.noteStep(of: option.choice.agent) }
    mustBegin = 0
    mustGoOn = 0
    somethingHappened = false
    readyBefore = executor.ready.count
    mix(option.choice.code)
    if let touches { beginTouching(option, touches) }
    if isLive, scenario.atRest != nil { ScheduleUnderWay.append(option.choice) }
    switch option.source {
    case .outside:
      somethingHappened = true
      if option.choice.kind == .limit {
        hasResized = true
        monitor.noteLimit(agent)
        break
      }
      // Where a handler may stop in the middle, it counts when it has ended.
      monitor.noteCancellation(
        of: agent,
        isHandOffPossible: workers != nil || !isParked(agent)
      )
      if !hasBegun[agent], reduction.beginsCancelledAtOnce { mustBegin = option.choice.agent }
    case .sleeper:
      somethingHappened = true
      if scenario.atRest != nil { noteOvertaking(by: option.choice.agent) }
    case .ready:
      if option.choice.kind == .run, agent < hasBegun.count { hasBegun[agent] = true }
      if executor.ready[option.slot].isActor { sawActorTurn = true }
    case .thread: somethingHappened = true
    case .paused:
      guard let worker, option.choice.kind == .wake else { break }
      somethingHappened = true
      if scenario.atRest != nil { noteOvertaking(by: option.choice.agent) }
      worker.isTimeOver = true
      worker.ownThread?.wakes += 1
      executor.advance(to: worker.deadline)
    }
  }

  /// Does from outside what `choice` says.
  func interfere(_ choice: Choice) {
    if choice.kind == .cancel {
      handles[Int(choice.agent) - 1].cancel()
    } else {
      instance?.changeLimit?(Int(choice.agent))
    }
  }

  /// Finds out what may happen now that the step has ended: `choice`'s job is over, or its worker is `paused`.
  func endStep(_ choice: Choice, paused: Worker?) {
    workers?.settle()
    workers?.isTimeOver = false
    switch choice.kind {
    case .wake:
      if executor.ready.count > readyBefore, !executor.ready[readyBefore].isTurn,
        reduction.goesOnWhenWoken
      {
        mustGoOn = choice.agent
      }
    case .run, .turn:
      if paused == nil, choice.kind == .run, Int(choice.agent) <= scenario.tasks {
        monitor.noteSettled(Int(choice.agent))
      }
      last = Turn(
        choice: choice,
        canGoOn: !isExhausted(choice.agent)
          && (paused.map { isPaused($0) && workers?.isEnabled($0) == true }
            ?? isReadyToGoOn(choice.agent))
      )
      if scenario.atRest != nil, madeAnotherReady { somethingHappened = true }
    case .cancel, .limit:
      if let paused {
        last = Turn(
          choice: choice,
          canGoOn: isPaused(paused) && workers?.isEnabled(paused) == true
        )
      } else if last.choice == choice {
        last = Worker.current?.interrupted ?? Turn()
      }
    }
    if somethingHappened {
      executor.yields.removeAll(keepingCapacity: true)
      rounds.noteEvent(at: steps)
    }
    if rounds.isMark(steps) { rounds.mark(callDepths()) }
    if scenario.cancellable { monitor.noteParkedCancelled(isParked: isParked) }
    if monitor.mayHaveIdlePermit, isQuiet { monitor.noteQuiet(isParked: isParked) }
    for step in executor.ready {
      mix(UInt64(UInt32(bitPattern: step.agent)) << 1 | (step.isTurn ? 1 : 0))
    }
    for sleeper in executor.sleepers { mix(UInt64(UInt32(bitPattern: sleeper.agent)) << 33) }
    if let workers {
      for worker in workers.paused {
        mix(worker.choice.code)
        if let operation = worker.operation {
          mix(UInt64(operation.kind.rawValue) << 40 | UInt64(operation.object))
        }
      }
    }
    if !sawStart, executor.hasFurtherTasks { sawStart = true }
    if let touches {
      if let workers, !workers.blocked.isEmpty || wasUncertain {
        // When it comes back is the system's affair.
        wasUncertain = true
        touches.noteEverything()
      }
      workers?.noteFoundationThreads(touches)
      touches.endStep()
    }
    findOptions()
    if runnable == 0, let workers, !workers.blocked.isEmpty {
      workers.settle(patiently: true)
      findOptions()
    }
    if runnable == 0, let workers {
      workers.isTimeOver = true
      findOptions()
    }
    workers?.noteMiddle()
    if isLive { judgePool() }
    if isLive, workers?.looksForRaces == true { noteRace() }
    if isLive, runnable == 0, monitor.violation == nil {
      isRestToFinish = true
    } else if isLive {
      record?.end(in: self)
    }
  }

  /// Judges a schedule that has come to its rest; not on a worker.
  private func finishRest() {
    guard isRestToFinish else { return }
    isRestToFinish = false
    settle()
    record?.end(in: self)
  }

  /// Where a task will go on: addresses of code, the innermost first; none if it has not begun or has ended.
  func points(of task: Int) -> [UInt] {
    guard hasBegun[task], handles.indices.contains(task - 1), !handles[task - 1].hasEnded else {
      return []
    }
    return workers?.points(of: task) ?? handles[task - 1].job.resumePoints
  }

  private func isPaused(_ worker: Worker) -> Bool {
    workers?.paused.contains { $0 === worker } == true
  }

  func noteKind(_ kind: SynchronizationOperation.Kind) { operations.insert(kind) }

  /// Notes an operation on an object, and what follows for who waits for whom.
  func noteOperation(
    _ effect: Rounds.Effect,
    on object: Int,
    _ kind: touch_kind,
    by choice: Choice
  ) {
    touches?.note(object: object, kind, isWritten: effect != .looked)
    let agent = choice.isInterference ? 0 : Int(choice.agent)
    switch rounds.note(effect, on: object, by: agent, at: steps) {
    case .nothing: break
    case .waits: executor.yields[agent, default: 0] += 1
    case .letsOthersGoOn:
      let own = executor.yields[agent]
      executor.yields.removeAll(keepingCapacity: true)
      executor.yields[agent] = own
    }
  }

  /// Notes that an agent asks again and again for what others wait for: the next step is theirs.
  func noteRetry(of choice: Choice) {
    guard let fair = scenario.fair, !choice.isInterference else { return }
    executor.yields[Int(choice.agent)] = fair + 1
  }

  /// The two accesses that race, if that is what the schedule shows.
  @exclusivity(unchecked) private(set) var race: Race?

  /// Notes two accesses of the step that has ended, or of the one before it on the same thread, that nothing orders.
  private func noteRace() {
    // Where the closure is not instrumented, what is comes from parts that the linker took from elsewhere: they use
    // memory, and the locks around them are not seen.
    guard race == nil, !unseen.isClosureUnseen, let found = Race.found else { return }
    race = found
    monitor.note(
      Violation(
        kind: .race,
        message: found.description,
        tasks: [found.first.agent, found.second.agent]
      )
    )
  }

  /// How deep the calls of each agent are under way: in functions of a task that waits, in units of about a
  /// frame of a paused job.
  private func callDepths() -> [Int: Int] {
    var depths: [Int: Int] = [:]
    for agent in executor.unfinished {
      depths[agent] = executor.unfinishedTask(of: agent)?.job.depth
    }
    for worker in workers?.paused ?? [] { depths[Int(worker.choice.agent)] = worker.depth }
    return depths
  }

  /// Judges a schedule that is as long as one may get, and has not ended.
  func judgeLength() -> Violation {
    let canGoOn = Set(options[..<runnable].map { Int($0.choice.agent) })
    var violation = rounds.judgeLength(steps, canGoOn: canGoOn, callDepths)
    if violation.kind == .livelock, oneAnswer.clock != nil {
      violation.message +=
        ". The code looks at a clock, whose time goes on only where somebody sleeps"
    }
    return violation
  }

  /// Notes a violation, unless there is one.
  func note(_ violation: Violation) { monitor.note(violation) }

  /// Notes that the pool's threads are all blocked, by what only a job could end that needs one of them.
  private func judgePool() {
    guard let width = scenario.poolWidth, runnable > 0, let workers,
      workers.paused.count + workers.blocked.count >= width, workers.threadsBlocked >= width,
      !workers.hasThreadThatGoesOn,
      options[..<runnable].allSatisfy(needsThreadOfPool),
      // More threads would not help: that is told at the schedule's end.
      !workers.hasCircle
    else { return }
    let waiting = Set(options[..<runnable].map { Int($0.choice.agent) }).sorted()
    let stuck = workers.stuck { "task \($0.agent)" }.joined(separator: "; ")
    monitor.note(
      Violation(
        kind: .blockedPool,
        message: (width == 1 ? "the only thread" : "all \(width) threads") + " of the pool "
          + (width == 1 ? "is" : "are") + " blocked, and "
          + ListText.all(waiting.map { "task \($0)" })
          + " would go on if there were another: \(stuck). Who holds a lock, or blocks a thread, must "
          + "not wait for another task",
        tasks: waiting
      )
    )
  }

  private func needsThreadOfPool(_ option: Option) -> Bool {
    switch option.source {
    case .ready: executor.ready[option.slot].origin != .mainActor
    case .sleeper, .outside: true
    case .paused, .thread: false
    }
  }

  /// Notes that a sleeper wakes while others could go on.
  private func noteOvertaking(by agent: Int32) {
    let others = options[..<runnable].lazy.map(\.choice)
      .filter { $0.kind != .wake && $0.agent != agent }
    rounds.noteOvertaking(of: others.map(\.agent), by: agent)
  }

  /// Whether nothing is under way in the limiter: every step that is ready begins a task or is part of
  /// a body in service.
  private var isQuiet: Bool {
    if executor.readyHelpers > 0 || isBusyInside { return false }
    for step in executor.ready {
      let task = Int(step.agent)
      if hasBegun[task], monitor.tasks[task].phase != .running { return false }
    }
    return !executor.sleepers.contains { Int($0.agent) > scenario.tasks }
  }

  /// Whether the last step made another agent than its own ready.
  private var madeAnotherReady: Bool {
    executor.ready.contains { $0.wokenAt == steps && $0.agent != last.choice?.agent }
  }

  private func mix(_ value: UInt64) { fingerprint = (fingerprint ^ value) &* 0x0000_0100_0000_01B3 }

  /// Whether some job is paused in the middle, or is blocked there.
  var isBusyInside: Bool { workers?.isBusy == true }

  /// Whether taking `option` now would take the turn from an agent that could go on.
  ///
  /// Waking a sleeper takes no turn, nor does what comes from outside when it begins. A wait whose time is over does
  /// take one: it goes on at once. An agent that suspended gave its turn up itself.
  func isPreemption(_ option: Option) -> Bool {
    switch option.source {
    case .sleeper, .outside: false
    case .ready, .paused, .thread: last.canGoOn && !isLast(option.choice)
    }
  }

  /// Whether a job of `agent` could be next: on the main actor one that came before it goes first.
  private func isReadyToGoOn(_ agent: Int32) -> Bool {
    var isMainActorTaken = workers?.isMainActorTaken == true
    return executor.ready.contains { step in
      if step.origin == .mainActor {
        if isMainActorTaken { return false }
        isMainActorTaken = true
      }
      return step.agent == agent
    }
  }

  private func isLast(_ choice: Choice) -> Bool {
    guard let last = last.choice else { return false }
    return last.agent == choice.agent && last.kind.isOwn == choice.kind.isOwn
  }

  /// The option to take when nothing speaks for another: the agent that ran last goes on.
  ///
  /// Else the first one: of the jobs in the middle the one that stopped last, or the agent that has been ready for
  /// longest where none is in the middle.
  ///
  /// - Precondition: something can run.
  var defaultOption: Int { options[..<runnable].firstIndex { isLast($0.choice) } ?? 0 }

  /// The option that a search goes on with which has no pre-emption left and nothing to try: the first that takes
  /// the turn from nobody.
  ///
  /// - Precondition: something can run.
  var plainOption: Int { options[..<runnable].firstIndex { !isPreemption($0) } ?? 0 }

  /// The index of `choice` among the options.
  func index(of choice: Choice) -> Int? { options.firstIndex { $0.choice == choice } }

  // MARK: What tasks report

  func observe(_ observation: Observation, _ task: Int) {
    let wereOpen = points_close()
    defer { points_reopen(wereOpen) }
    workers?.rejoin()
    guard isLive else { return }
    somethingHappened = true
    mix(UInt64(observation.rawValue) << 32 | UInt64(task))
    monitor.observe(observation, task)
    record?.note(observation, task, in: self)
  }

  /// Notes what the code under study found wrong with itself, which ends the schedule.
  ///
  /// Returns whether it still counts.
  @discardableResult
  func note(_ kind: Violation.Kind, _ message: String) -> Bool {
    withoutPoints {
      workers?.rejoin()
      guard isLive, violation == nil else { return false }
      monitor.note(Violation(kind: kind, message: message, tasks: []))
      return true
    }
  }

  func noteDoubleResume(_ what: String) {
    withoutPoints {
      workers?.rejoin()
      guard isLive else { return }
      monitor.noteDoubleResume(what)
    }
  }

  private func noteEnd(of task: Int) {
    withoutPoints {
      workers?.rejoin()
      somethingHappened = true
      if isLive { monitor.noteEnd(of: task) } else { monitor.noteLateEnd(of: task) }
    }
  }
}
