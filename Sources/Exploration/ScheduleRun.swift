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
  @exclusivity(unchecked) private(set) var monitor: PropertyMonitor
  /// What may happen next; valid until the next `take`.
  @exclusivity(unchecked) private(set) var options: [Option] = []
  /// How many of the options, which come first, let something run; the rest are cancellations.
  @exclusivity(unchecked) private(set) var runnable = 0
  @exclusivity(unchecked) private(set) var steps = 0
  /// Tasks that had not ended when all had been done to end them, over all schedules: whatever resumes them
  /// was lost, or they wait for locks in a circle, or they go on although they are cancelled.
  private(set) var tasksLost = 0
  /// Tells this course of events from others: the choices, what they made ready, what was reported.
  @exclusivity(unchecked) private(set) var fingerprint: UInt64 = 0
  /// Whether the fairness bound ever kept a task that yields from going on.
  private(set) var wasKeptFair = false
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
  /// Whether code was run of which nobody sees what it touches.
  var touchesUnseen: Bool { isClosureUnseen || !unseen.isEmpty || !unseenCalls.isEmpty }
  /// Whether something of the schedule under way depends on the system's threads.
  private(set) var wasUncertain = false
  /// Whether somebody was ever kept from going on because he goes round, or has overtaken another too often.
  private(set) var keptSomebody = false
  /// What each step did, if that is wanted.
  @exclusivity(unchecked) var record: StepRecorder?
  @exclusivity(unchecked) private(set) var last = Turn()
  /// Where jobs run that may stop in the middle; nil where none may.
  @exclusivity(unchecked) private(set) var workers: Workers?
  /// Whether jobs were given up for ever, with their threads.
  var hasLostThreads: Bool {
    workers.map { $0.lost + $0.letGo > Workers.mostLost } == true || doesNotComeBack
  }

  /// Whether a step did not come to its end in time: its thread goes on in it.
  private var doesNotComeBack: Bool { workers?.runaway != nil }

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

  /// Where jobs began that came to no instrumented code, the first few, though they are of the code under study.
  @exclusivity(unchecked) private(set) var unseen: Set<UInt> = []

  /// Whether the closure itself is not instrumented.
  @exclusivity(unchecked) private(set) var isClosureUnseen = false

  /// Notes that a job which began there, `isFirst` of all, came to no instrumented code.
  func noteUnseen(_ beginning: UInt, isFirst: Bool) {
    if isFirst { isClosureUnseen = true }
    guard beginning != 0, unseen.count < 8, !unseen.contains(beginning),
      code_is_under_study(beginning)
    else { return }
    unseen.insert(beginning)
  }

  /// The functions that the code called whose work nobody sees, and from where first.
  @exclusivity(unchecked) private(set) var unseenCalls: [String: [UInt]] = [:]

  /// Notes that the code under study, on the calling thread, calls such a function.
  func noteUnseenCall(_ name: String) {
    // To look where the code stands takes long.
    guard unseenCalls[name] == nil else { return }
    let points = SourceLines.here()
    unseenCalls[name] = points
    executor.escapes.note(unseenCall: name, at: points)
  }

  /// Whether code ever started a `Thread` of Foundation.
  var sawThread = false
  /// Where a thread of the code under study still waited when all else of a schedule had ended, the first that did;
  /// nil if none did.
  @exclusivity(unchecked) var leftThread: [UInt]?

  private let reduction: Reduction
  private let journal = ScheduleJournal.ofThisProgram
  private var context: ScenarioContext?
  @exclusivity(unchecked) private var instance: ScenarioInstance?
  @exclusivity(unchecked) private var handles: [Task<Void, Never>] = []
  /// What is not let go, as the journal asks: its `deinit` may end the program.
  private var left: [ScenarioInstance] = []

  /// Holds them for ever.
  private final class Kept {
    let instances: [ScenarioInstance]
    init(instances: [ScenarioInstance]) { self.instances = instances }
  }
  /// Which tasks have taken their first step.
  @exclusivity(unchecked) private(set) var hasBegun: [Bool]
  @exclusivity(unchecked) private(set) var isLive = false
  /// The task that was cancelled before it began, in the step before: it must begin now.
  @exclusivity(unchecked) private var mustBegin: Int32 = 0
  /// The sleeper woken in the step before: it must go on now, or be cancelled.
  @exclusivity(unchecked) private var mustGoOn: Int32 = 0
  @exclusivity(unchecked) private var hasResized = false
  /// Whether anything was reported, ended or interfered with in the present step.
  @exclusivity(unchecked) private var somethingHappened = false
  /// How often every agent that can run has used up its yields, with nothing happening.
  @exclusivity(unchecked) private var idleRounds = 0
  /// The agents that could run when all had used up their yields, the last time.
  @exclusivity(unchecked) private var retrying: Set<Int> = []
  @exclusivity(unchecked) private var isRestToFinish = false
  @exclusivity(unchecked) private var readyBefore = 0
  /// The last step that may have changed anything.
  @exclusivity(unchecked) private var lastNews = 0
  /// How deep the calls of each agent were under way some steps after that.
  @exclusivity(unchecked) private var depths: [Int: Int] = [:]
  /// How often each agent has looked at each object, or taken it, since anything was written.
  @exclusivity(unchecked) private var looks: [Look: Int] = [:]

  /// How often each agent has woken since another one that could go on has last stepped.
  @exclusivity(unchecked) private var overtakings: [Overtaking: Int] = [:]

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
      executor.onDoubleResume = { [weak self] agent in
        guard let self, isLive else { return }
        monitor.noteDoubleResume("the continuation of task \(agent)")
      }
    }
    executor.onRequirement = { [weak self] in self?.note(.requirement, $0.description) }
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
    looks.removeAll(keepingCapacity: true)
    overtakings.removeAll(keepingCapacity: true)
    mustBegin = 0
    mustGoOn = 0
    hasResized = false
    idleRounds = 0
    lastNews = 0
    retrying = []
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
    if !overtakings.isEmpty, option.choice.kind != .wake {
      overtakings = overtakings.filter { $0.key.overtaken != option.choice.agent }
    }
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
            ?? executor.ready.contains { $0.agent == choice.agent })
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
      looks.removeAll(keepingCapacity: true)
      idleRounds = 0
      lastNews = steps
    }
    if steps - lastNews == Self.stepsBeforeMark { depths = callDepths() }
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

  /// What an operation did, as far as it tells who only waits for somebody.
  enum Effect {
    case wrote
    /// It left what it looked at as it was: a load, a comparison that failed, a lock that was taken.
    case looked
    /// It took a lock, and nobody knows whether it changes what that guards.
    case took
  }

  func noteKind(_ kind: SynchronizationOperation.Kind) { operations.insert(kind) }

  /// Notes an operation on an object.
  ///
  /// Who only looks at one object again and again, nothing being written, is taken to wait for somebody,
  /// as who yields is. What an agent does itself does not make it worth its while to go on: only what
  /// others write does.
  func noteOperation(
    _ effect: Effect,
    on object: Int,
    _ kind: touch_kind,
    by choice: Choice
  ) {
    touches?.note(object: object, kind, isWritten: effect != .looked)
    let agent = choice.isInterference ? 0 : Int(choice.agent)
    // What is done under a lock shows only where memory is looked at.
    if effect == .wrote || effect == .took && !seesMemory { noteNews() }
    if effect == .wrote {
      looks.removeAll(keepingCapacity: true)
      return noteWrite(by: agent)
    }
    let look = Look(agent: agent, object: object)
    let count = looks[look, default: 0] + 1
    looks[look] = count
    // Those who all wait behind one lock must not wake each other for ever.
    if effect == .took, count <= Self.mostLooks { noteWrite(by: agent) }
    let most = effect == .took ? Self.mostTakings : Self.mostLooks
    if count > most { executor.yields[agent, default: 0] += 1 }
  }

  /// Notes that the present step may have changed something: what is written to memory that may be shared, too,
  /// where that is seen.
  func noteNews() { lastNews = steps }

  /// The two accesses that race, if that is what the schedule shows.
  @exclusivity(unchecked) private(set) var race: Race?

  /// Notes two accesses of the step that has ended, or of the one before it on the same thread, that nothing orders.
  private func noteRace() {
    // Where the closure is not instrumented, what is comes from parts that the linker took from elsewhere: they use
    // memory, and the locks around them are not seen.
    guard race == nil, !isClosureUnseen, let found = Race.found else { return }
    race = found
    monitor.note(
      Violation(
        kind: .race,
        message: found.description,
        tasks: [found.first.agent, found.second.agent]
      )
    )
  }

  /// Whether each write to memory that may be shared is seen and, if it changes anything, noted as news.
  var seesMemory: Bool { false }

  /// How many steps without news have to pass before the depths of calls are looked at.
  private static let stepsBeforeMark = 2_000
  /// A call that gets so much deeper while nothing changes repeats itself in another way than a livelock.
  private static let mostDepth = 64

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
  ///
  /// For half of it at least all that can go on must have had its turn again and again, found the same and
  /// changed nothing: that is a livelock. Anything else is only long. A recursion without an end gets nowhere
  /// either, but it is never twice in one place.
  func judgeLength() -> Violation {
    let since = steps - lastNews
    let now = since > max(steps / 2, Self.stepsBeforeMark) ? callDepths() : [:]
    let isDeepening = now.contains { $1 - depths[$0, default: $1] > Self.mostDepth }
    let going = Set(options[..<runnable].map { Int($0.choice.agent) }).union(retrying).sorted()
    if now.isEmpty || isDeepening || retrying.isEmpty {
      return Violation(
        kind: .tooManySteps,
        message: "it comes to no end: it was left after \(steps) steps"
          + (isDeepening ? ", and calls that get ever deeper" : ""),
        tasks: going
      )
    }
    return Violation(
      kind: .livelock,
      message:
        "all that can go on has had its turn again and again for \(since) steps, has found the "
        + "same each time and, as far as can be seen, changed nothing",
      tasks: going
    )
  }

  /// Notes a violation, unless there is one.
  func note(_ violation: Violation) { monitor.note(violation) }

  /// Notes that the pool's threads are all blocked, by what only a job could end that needs one of them.
  private func judgePool() {
    guard let width = scenario.poolWidth, runnable > 0, let workers,
      workers.threadsBlocked >= width, !workers.hasThreadThatGoesOn,
      options[..<runnable].allSatisfy(needsThreadOfPool)
    else { return }
    let waiting = Set(options[..<runnable].map { Int($0.choice.agent) }).sorted()
    let stuck = workers.stuck { "task \($0.agent)" }.joined(separator: "; ")
    monitor.note(
      Violation(
        kind: .blockedPool,
        message: "all \(width) threads of a pool of \(width) are blocked, and "
          + ListText.all(waiting.map { "task \($0)" })
          + " would go on if there were another: \(stuck). What holds a lock must not wait for a turn, "
          + "and what blocks a thread must not wait for another task",
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

  /// Notes that an agent may have written what others wait for.
  private func noteWrite(by agent: Int) {
    let own = executor.yields[agent]
    executor.yields.removeAll(keepingCapacity: true)
    executor.yields[agent] = own
    if retrying != [agent] { idleRounds = 0 }
  }

  /// A task that looks at one object so often, while nothing is written, waits for another task.
  private static let mostLooks = 4
  /// A task that takes one lock so often waits for what the lock guards.
  private static let mostTakings = 16

  /// Notes that a sleeper wakes while others could go on.
  private func noteOvertaking(by agent: Int32) {
    for option in options[..<runnable]
    where option.choice.kind != .wake && option.choice.agent != agent {
      overtakings[Overtaking(agent: agent, overtaken: option.choice.agent), default: 0] += 1
    }
  }

  /// Whether a sleeper has woken so often, while `option` could have happened, that it has to wait for that.
  ///
  /// Without this, a task that does something every second does it for ever, and no other task takes a step.
  private func hasOvertaken(_ agent: Int32, _ option: Option) -> Bool {
    let overtaking = Overtaking(agent: agent, overtaken: option.choice.agent)
    return overtakings[overtaking, default: 0] >= Self.mostOvertakings
  }

  /// A task may try again so often in time, while another one gets no processor.
  private static let mostOvertakings = 3

  /// Adds what keeps tasks from going round.
  func addRounds(_ add: (UInt64, UInt64, UInt64) -> Void, _ touches: Touches) {
    for (agent, count) in executor.yields where count > 0 {
      add(8, touches.state(of: Int32(agent)), UInt64(count))
    }
    for (look, count) in looks {
      let object = touches.state(ofObject: look.object)
      add(9, touch_mix(touches.state(of: Int32(look.agent)), object), UInt64(count))
    }
    for (overtaking, count) in overtakings {
      let overtaken = touches.state(of: overtaking.overtaken)
      add(10, touch_mix(touches.state(of: overtaking.agent), overtaken), UInt64(count))
    }
    add(11, UInt64(idleRounds), 0)
  }

  private struct Overtaking: Hashable {
    var agent: Int32
    var overtaken: Int32
  }

  private struct Look: Hashable {
    var agent: Int
    var object: Int
  }

  /// Judges a schedule in which nothing can run any more: what was left undone, whether all permits are
  /// back, and what dropping the limiter does.
  private func settle() {
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
  private var isBusyInside: Bool { workers?.isBusy == true }

  /// Whether taking `option` now would take the turn from an agent that could go on.
  ///
  /// Waking takes no turn, nor does what comes from outside when it begins. An agent that suspended gave
  /// its turn up itself.
  func isPreemption(_ option: Option) -> Bool {
    switch option.source {
    case .sleeper, .outside: false
    case .ready, .paused, .thread: last.canGoOn && !isLast(option.choice)
    }
  }

  private func isLast(_ choice: Choice) -> Bool {
    guard let last = last.choice else { return false }
    return last.agent == choice.agent && last.kind.isOwn == choice.kind.isOwn
  }

  /// The option to take when nothing speaks for another: the agent that ran last goes on, else the agent
  /// that has been ready for longest.
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

  /// Ends the schedule, wherever it is, and frees what can be freed.
  ///
  /// Tasks that have not ended are cancelled and run to their ends in the order in which they become
  /// ready. Then the instance is dropped, which ends queues and their drain tasks. A task that has not ended
  /// even so is lost, with its memory: nothing resumes it, or it waits for a lock whose holder waits for
  /// another, or it goes on for ever although it is cancelled.
  func end() {
    isLive = false
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
      finish(\.defaultOption)
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
    if monitor.ended < scenario.tasks {
      for (index, handle) in handles.enumerated() where !monitor.tasks[index + 1].hasEnded {
        executor.asDriver { handle.cancel() }
      }
    }
    for agent in executor.unfinished where agent > 1 {
      if let task = executor.unfinishedTask(of: agent) { executor.asDriver { task.cancel() } }
    }
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
    if workers == nil { drain() } else { finish(\.defaultOption) }
  }

  /// Lets happen what `choose` chooses, until nothing can run, or all that can retries in vain.
  private func finish(_ choose: (ScheduleRun) -> Int?) {
    var left = 10_000
    idleRounds = 0
    findOptions()
    drive { run in
      left -= 1
      return left > 0 && run.idleRounds < 20 ? choose(run) : nil
    }
  }

  private func drain() {
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

  // MARK: Options

  /// Whether nobody is about to resume a task, as far as can be known.
  ///
  /// A ready helper (the drain task of a queue, an actor's turn) may have its permit in hand.
  func isParked(_ task: Int) -> Bool {
    executor.readyHelpers == 0 && !executor.isReady(Int32(task)) && !isBusyInside
  }

  private func findOptions() {
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
      var earliest = executor.sleepers.lazy.map(\.deadline).min() ?? .max
      let awake = options.count
      // A wait whose time is over goes on at once: who waits so keeps its thread.
      for (slot, worker) in workers?.limited(before: earliest) ?? [] {
        earliest = worker.deadline
        let agent = worker.choice.agent
        if !overtakings.isEmpty, options[..<awake].contains(where: { hasOvertaken(agent, $0) }) {
          kept += 1
          continue
        }
        options.append(Option(choice: Choice(.wake, Int(agent)), source: .paused, slot: slot))
      }
      for (index, sleeper) in executor.sleepers.enumerated() where sleeper.deadline <= earliest {
        if !overtakings.isEmpty,
          options[..<awake].contains(where: { hasOvertaken(sleeper.agent, $0) })
        {
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
    for (slot, worker) in workers.paused.enumerated().reversed()
    where workers.isEnabled(worker) {
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
  /// Fair stateless model checking: Musuvathi and Qadeer, PLDI 2008.
  private func isExhausted(_ agent: Int32) -> Bool {
    guard let fair = scenario.fair, !executor.yields.isEmpty else { return false }
    guard executor.yields[Int(agent), default: 0] > fair else { return false }
    keptSomebody = true
    return true
  }

  /// Every agent that can run has yielded enough and nothing happened: they all may go on again, but
  /// not for ever.
  private func beginIdleRound() {
    idleRounds += 1
    let paused = workers?.paused.filter { workers?.isEnabled($0) == true } ?? []
    retrying = Set(executor.ready.map { Int($0.agent) } + paused.map { Int($0.choice.agent) })
    executor.yields.removeAll(keepingCapacity: true)
    if let most = scenario.mostIdleRounds, idleRounds > most {
      monitor.noteLivelock(retrying.filter { $0 <= scenario.tasks }.sorted())
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
