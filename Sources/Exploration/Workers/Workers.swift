internal import Basics
internal import CExplorable
internal import ExplorableSynchronization
internal import Glibc
internal import Synchronization

/// How a job can stop in the middle.
///
/// A job that stops between two of its operations keeps its stack, so jobs run on threads of their own,
/// the workers. One of them has the baton at any moment: it chooses what happens next, and does it
/// itself if it can. Before an operation on a lock or an atomic it chooses too; if its own job goes on,
/// nothing is handed over, which is why staying with an agent costs no switch. Else its job is paused, and
/// the baton goes to the worker whose job goes on, or to an idle one that begins another.
///
/// The home, on which the exploration was called, has the baton between drives. During one it only
/// watches. A job can block in the runtime: while a cancellation handler of a task runs, resuming that
/// task waits for the handler's end. The home calls the leader blocked, and takes the baton, when it
/// sleeps for a lock whose holder is paused in the middle of a job: that lock is let go of only by letting
/// the holder go on, so no time has to pass for it to be certain, however busy the machine. A blocked
/// job that comes back pauses before its next operation; the leader waits for it at the end of the step
/// that freed it, so what happens stays the same each time. Who sleeps for something that does not say
/// who holds it is called blocked after a while.
final class Workers: @unchecked Sendable {
  // Safe: all but what is atomic, behind a lock or the home's is touched by the thread that has the baton
  // only. It is handed over through semaphores, which carry memory along. Exclusivity is unchecked where each point of
  // the code under study asks, because no access lasts while that code runs.

  /// How a thread that has been called is to go on.
  enum Order {
    /// Make this option happen, then lead.
    case perform(ScheduleRun.Option)
    /// Go on with the paused job.
    case goOn
    case leave
  }

  /// Owned, in a circle until the run is closed: to look each time whether it still exists takes a tenth of a step.
  let run: ScheduleRun
  /// Whether calls that are taken over are points.
  let takesOver: Bool
  /// Whether accesses to memory are looked at.
  let looksForRaces: Bool
  /// Jobs in the middle, waiting to be chosen, in the order in which they stopped.
  @exclusivity(unchecked) var paused: [Worker] = []
  /// Jobs that sleep in the runtime.
  @exclusivity(unchecked) var blocked: [Worker] = []
  /// Threads started by the code under study that have not begun.
  @exclusivity(unchecked) var threads:
    [(agent: Int32, object: Int, isOnMain: Bool, body: @Sendable () -> Void)] = []
  /// Who is in line at dispatch queues.
  @exclusivity(unchecked) var lines = DispatchLines()
  /// By which agent each serial queue does its work.
  var agentsOfQueues: [Int: Int32] = [:]
  /// By what a timer of Dispatch is known, who fires it, and the alarm that does so next.
  var timers: [UInt: (agent: Int32, alarm: UInt64)] = [:]
  /// The threads that the code under study has started, by what the system knows them by.
  var ownThreads: [UInt: StartedThread] = [:]
  /// Foundation's threads of the schedule that have not ended.
  var foundationThreads: [SeenThread] = []
  /// What the kernel calls a thread that has done its last step, and is about to be gone.
  var ending: Int32?
  /// Work in line, and jobs, by their tickets.
  var waitingWork: [Int: Waiting] = [:]
  var waitingJobs: [Int: Worker] = [:]
  /// Work that waits for the end of a group.
  var afterGroups: [Int: [(line: exploration_line, work: Work)]] = [:]
  /// A worker whose job did not come back in time, and goes on.
  var runaway: Worker?
  /// Workers given up with their jobs, for ever; one that has used its whole stack counts as 25.
  var lost = 0
  /// Threads of the code under study that were let go of: each goes on by itself.
  private(set) var letGo = 0
  @exclusivity(unchecked) private var idle: [Worker] = []
  /// All of them, by what the kernel calls their threads.
  let byThread = WorkersByThread()
  /// Who holds which lock.
  @exclusivity(unchecked) var locks = LockTable()
  /// Who waits for which condition.
  @exclusivity(unchecked) var conditions = ConditionTable()
  /// The numbers of what they come to.
  @exclusivity(unchecked) var objects = ObjectTable()
  /// The locks that are held inside of libraries, by their addresses.
  @exclusivity(unchecked) var locksInside: Set<UInt> = []
  /// Which agent took each of those last.
  @exclusivity(unchecked) var takersInside: [UInt: Int32] = [:]
  /// Parkers with a wake-up to come.
  @exclusivity(unchecked) var wakeUps: Set<Int> = []
  /// Whether those who park for a while have slept long enough: nothing else can go on.
  @exclusivity(unchecked) var isTimeOver = false
  /// Threads that have ended.
  @exclusivity(unchecked) var ended: Set<Int> = []
  /// What the code under study takes for chance: the same in each run of a schedule.
  var random = SplitMix64(seed: 1)
  private var count = 0
  private(set) var schedule: UInt32 = 0
  @exclusivity(unchecked) private var choose: ((ScheduleRun) -> Int?)?
  let home = ThreadSemaphore()
  /// The home's, as the home itself is; nobody else touches it.
  private var processor = SharedProcessor()
  /// In how many drives to come the home looks at the leader soon; the home's, too.
  var drivesToWatchClosely = Workers.closeDrives
  /// The key of the worker that has the baton and whose job runs; 0 where none runs.
  ///
  /// Then the home has the baton, or a worker chooses what comes next. What sleeps at that is no job, and must
  /// not be called blocked.
  let leader = Synchronization.Atomic<UInt>(0)
  /// Whether some job is paused in the middle.
  let isInMiddle = Synchronization.Atomic(false)
  /// Rises whenever the leader does something.
  let pulse = Synchronization.Atomic<Int>(0)
  /// Jobs that blocked workers made ready as they came back.
  let inbox = Synchronization.Mutex<
    [(worker: Int, job: UnownedJob, origin: ExplorationExecutor.Origin)]
  >([])

  private static let schedules = Synchronization.Atomic<UInt32>(0)

  init(_ run: ScheduleRun) {
    self.run = run
    // Of a limiter that reports what it does, the points are those it has itself.
    takesOver = run.scenario.atRest != nil
    if takesOver {
      Interception.install()
      // Found out now: a step of a schedule that did so would seem to sleep.
      _ = LoadedImages.all
    }
    looksForRaces =
      takesOver && run.scenario.looksForRaces && races_can_be_found()
      && Interception.hasInstrumentedCode
    // What the exploration before has seen is not this one's.
    if looksForRaces { _ = Race.Search(isMade: true) }
    noteExploration(isUnderWay: true)
  }

  /// Whether it is seen what the steps of the code under study touch.
  var seesTouches: Bool { takesOver && races_can_be_found() && Interception.hasInstrumentedCode }

  /// Whether some job is in the middle.
  var isBusy: Bool { !paused.isEmpty || !blocked.isEmpty }

  /// Forgets the objects and threads of the schedule before.
  func begin() {
    awaitEndOfThread()
    if processor?.isToLook() == true { processor?.look(at: byThread.withLock { Array($0.keys) }) }
    if looksForRaces {
      memory_let_go()
      races_begin()
    }
    schedule = Self.schedules.add(1, ordering: .relaxed).newValue
    objects.begin(schedule)
    locks.removeAll()
    conditions.removeAll()
    locksInside.removeAll(keepingCapacity: true)
    takersInside.removeAll(keepingCapacity: true)
    random = SplitMix64(seed: 1)
    if takesOver {
      addresses_forget()
      Continuations.forget()
    }
    wakeUps.removeAll(keepingCapacity: true)
    isTimeOver = false
    threads.removeAll(keepingCapacity: true)
    lines.removeAll()
    agentsOfQueues.removeAll(keepingCapacity: true)
    timers.removeAll(keepingCapacity: true)
    detachThreads()
    foundationThreads.removeAll(keepingCapacity: true)
    ended.removeAll(keepingCapacity: true)
    waitingWork.removeAll(keepingCapacity: true)
    waitingJobs.removeAll(keepingCapacity: true)
    afterGroups.removeAll(keepingCapacity: true)
  }

  /// Work of a queue whose turn has come: a thread that can begin.
  func add(_ work: Waiting) { threads.append((work.agent, 0, work.isOnMain, work.body)) }

  /// Ends the threads.
  func close() {
    for worker in idle { give(worker, .leave) }
    for worker in idle { worker.thread?.join() }
    // They know the workers, which know them.
    (idle, paused, blocked, waitingJobs) = ([], [], [], [:])
    byThread.withLock { $0 = [:] }
    processor?.end()
    if looksForRaces {
      races_end()
      memory_let_go()
    }
    noteExploration(isUnderWay: false)
  }

  /// Where the task's job is paused in the middle; nil if it is not.
  func points(of task: Int) -> [UInt]? {
    (paused + blocked).first { Int($0.choice.agent) == task && $0.choice.kind == .run }?.points
  }

  // MARK: Handing over

  /// Makes what `choose` chooses happen, until it chooses nothing; on the home.
  func drive(_ choose: @escaping (ScheduleRun) -> Int?) {
    self.choose = choose
    if let option = next() {
      // Before anything of the code under study runs.
      let tellsSteps = tellsSteps
      if tellsSteps { Standstill.beginWatch(home) }
      dispatch(option)
      watch(forEnds: tellsSteps)
      if tellsSteps { Standstill.endWatch() }
    }
    self.choose = nil
  }

  func next() -> ScheduleRun.Option? {
    guard run.runnable > 0, let index = choose?(run) else { return nil }
    run.beginStep(index)
    return run.options[index]
  }

  /// Has another thread make it happen.
  func dispatch(_ option: ScheduleRun.Option) {
    if option.source == .paused {
      give(takePaused(at: option.slot), .goOn)
    } else {
      give(helper(), .perform(option))
    }
  }

  func place(_ worker: Worker) {
    worker.isPaused = true
    paused.append(worker)
  }

  private func takePaused(at slot: Int) -> Worker {
    let worker = paused.remove(at: slot)
    worker.isPaused = false
    return worker
  }

  private func give(_ worker: Worker, _ order: Order) {
    leader.store(0, ordering: .releasing)
    worker.order = order
    worker.seat.post()
  }

  func takeBaton(_ me: Worker) {
    awaitEndOfThread()
    pulse.add(1, ordering: .relaxed)
    leader.store(me.key, ordering: .releasing)
  }

  func rest(_ worker: Worker) {
    worker.isIdle = true
    idle.append(worker)
  }

  private func helper() -> Worker {
    if let worker = idle.popLast() { return worker }
    let worker = makeWorker()
    worker.thread = OSThread { ScheduleUnderWay.withSecondStack { self.serve(as: worker) } }
    return worker
  }

  func makeWorker() -> Worker {
    count += 1
    return Worker(self, count)
  }

  /// Makes the calling thread the worker's.
  func register(_ worker: Worker) {
    byThread.withLock { $0[worker.begin()] = worker }
    GlobalPoolHook.setCurrent(run.executor)
  }

  /// Forgets that its thread is the worker's; returns what the kernel calls the thread.
  @discardableResult
  func unregister(_ worker: Worker) -> Int32? {
    byThread.withLock { workers in
      guard let thread = workers.first(where: { $0.value === worker })?.key else { return nil }
      workers[thread] = nil
      return thread
    }
  }

  /// Makes happen what the worker is told, until it is to leave; on its thread.
  private func serve(as worker: Worker) {
    register(worker)
    while true {
      worker.seat.wait()
      guard case .perform(let option) = worker.order else { return }
      lead(worker, option)
    }
  }

  /// Performs `first` and goes on choosing, until the baton goes elsewhere.
  private func lead(_ me: Worker, _ first: ScheduleRun.Option) {
    var option = first
    while true {
      me.isIdle = false
      perform(option, on: me)
      guard endJob(me) else { return me.comeBack(finished: true) }
      me.isIdle = true
      run.endStep(option.choice, paused: nil)
      guard let following = next() else {
        rest(me)
        return goHome()
      }
      if following.source == .paused {
        rest(me)
        return dispatch(following)
      }
      option = following
    }
  }

  private func goHome() {
    leader.store(0, ordering: .releasing)
    home.post()
  }

  /// Has another thread go on, the calling one not having the baton any more.
  func goOn() {
    if let option = next() { dispatch(option) } else { goHome() }
  }

  /// Lets a paused job go, with its thread: it goes on by itself, and nothing that it does is a point any more.
  func letGo(of worker: Worker) {
    paused.removeAll { $0 === worker }
    unregister(worker)
    letGo += 1
    worker.order = .leave
    worker.seat.post()
    home.wait()
  }

  /// Leaves on the worker's thread.
  private func leave(_ me: Worker) {
    // To look where it stands takes long.
    if run.leftThread == nil { run.leftThread = SourceLines.here() }
    me.letGo()
    home.post()
  }

  /// Whether the worker's job has the baton still; else it was called blocked.
  ///
  /// If so, the watch cannot take the baton from here on: the worker chooses what comes next.
  func endJob(_ me: Worker) -> Bool {
    leader.compareExchange(expected: me.key, desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// Whether the worker has the baton; else it was called blocked.
  func has(_ me: Worker) -> Bool { leader.load(ordering: .acquiring) == me.key }

  // MARK: What happens

  private func perform(_ option: ScheduleRun.Option, on me: Worker) {
    let executor = run.executor
    me.choice = option.choice
    me.interrupted = nil
    me.isOnMain = false
    me.isOnPool = option.source == .ready
    switch option.source {
    case .ready:
      let step = executor.pick(readyAt: option.slot)
      me.isOnMain = step.origin == .mainActor
      if me.isOnMain { me.isOnPool = false }
      takeBaton(me)
      open(as: option.choice.agent)
      if me.isOnMain, looksForRaces { race_acquire(Self.orderOfMainActor) }
      executor.perform(step) { has(me) }
      if me.isOnMain, looksForRaces { race_release(Self.orderOfMainActor) }
      close(step)
    case .sleeper:
      let sleeper = executor.pick(sleeperAt: option.slot)
      takeBaton(me)
      run.executor.wake(sleeper)
    case .thread:
      let thread = threads.remove(at: option.slot)
      executor.running = thread.agent
      me.isOnMain = thread.isOnMain
      me.turns.removeAll()
      takeBaton(me)
      open(as: thread.agent)
      // Work of a queue has no thread of its own that could be waited for.
      let isOfQueue = thread.object == 0
      if looksForRaces, !isOfQueue { race_acquire(Self.order(of: thread.object)) }
      thread.body()
      if looksForRaces, !isOfQueue { race_release(Self.order(of: thread.object)) }
      close(nil)
      rejoin()
      if isOfQueue { break }
      run.touches?.note(object: thread.object)
      ended.insert(thread.object)
    case .outside:
      me.interrupted = run.last
      executor.running = 0
      takeBaton(me)
      open(as: 0)
      run.interfere(option.choice)
      close(nil)
    case .paused: preconditionFailure("a paused job goes on where it is")
    }
    if has(me) { executor.running = 0 }
  }

  /// Has the code under study, which the thread is about to run for that agent, come to points.
  func open(as agent: Int32) {
    if looksForRaces {
      races_act_as(UInt32(agent))
      races_name(agent)
    }
    if takesOver { points_open() }
  }

  /// Notes what an operation of `ExplorableSynchronization` orders: each of them as strongly as it can be asked to.
  func noteOrder(at operation: SynchronizationOperation) {
    guard looksForRaces else { return }
    let object = Self.order(of: operation.object)
    switch operation.kind {
    case .lock, .tryLock, .load, .park, .parkAWhile, .join: race_acquire(object)
    case .store, .unpark, .start: race_release(object)
    case .update, .compare, .exchange:
      race_acquire(object)
      race_release(object)
    default: break
    }
  }

  /// By what is released and acquired at a lock or an atomic of `ExplorableSynchronization`, or a thread: no address
  /// of memory is so high.
  static func order(of object: Int) -> UInt { 1 << 63 | UInt(truncatingIfNeeded: object) << 3 }

  /// The same of the main actor, which runs one job after the other: `RACE_MAIN_ACTOR`.
  static let orderOfMainActor = UInt.max & ~7

  /// Lets it come to no point from now on; `step` is what ran.
  private func close(_ step: ExplorationExecutor.ReadyStep?) {
    guard takesOver else { return }
    _ = points_close()
    // The first job of all begins in the exploration's own code, and goes on to the closure's.
    if let step, !points_seen() {
      // Half a yield is the runtime's.
      if !step.isTurn || step.isActor { run.touches?.noteEverything() }
      run.unseen.note(beginning: step.beginning, isFirst: step.agent == 1 && step.wokenAt == 0)
    }
  }

  /// Stands before an operation until it is chosen; `me` has the baton, or was called blocked.
  func pause(_ me: Worker, before operation: SynchronizationOperation?) {
    me.operation = operation
    if endJob(me) {
      me.running = run.executor.running
      me.choice = run.executor.choiceOfCurrentCode(orElse: me.choice)
      if looksForRaces { races_name(me.choice.agent) }
      if run.touches != nil { me.task = ExplorationExecutor.taskOfThread }
      place(me)
      me.depth = me.depthOfStack()
      if let points = run.points {
        let isCallGone = [.hop, .register].contains(operation?.kind)
        me.points = isCallGone ? SourceLines.hereAtHop() : points()
        me.subject = StepSubject.noted(operation?.kind, in: run.executor)
      }
      run.endStep(me.choice, paused: me)
      if let option = next() {
        if option.source == .paused, paused[option.slot] === me {
          _ = takePaused(at: option.slot)
          run.executor.running = me.running
          return takeBaton(me)
        }
        me.interrupted = nil
        dispatch(option)
      } else {
        goHome()
      }
    } else {
      me.serial = UnownedJob.ofCurrentTask?.taskSerial
      me.comeBack(finished: false)
    }
    me.seat.wait()
    if case .leave = me.order { return leave(me) }
    takeBaton(me)
    run.executor.running = me.running
  }

  /// Whether a job that could go on is not paused: the schedule is only brought to its end, by those who run last.
  func passesPoint(_ me: Worker) -> Bool {
    guard run.pointsToPass > 0, blocked.isEmpty, has(me) else { return false }
    let choice = run.executor.choiceOfCurrentCode(orElse: me.choice)
    if run.isExhausted(choice.agent) { return false }
    run.pointsToPass -= 1
    // To look at the clock takes as long as some of that.
    if run.pointsToPass % 16 == 0, .now >= run.endsBy { run.pointsToPass = 0 }
    run.journal?.noteLife()
    pulse.add(1, ordering: .relaxed)
    me.choice = choice
    return true
  }

  /// Waits for the baton where a job that was called blocked goes on to something that can be seen;
  /// whether it had to.
  @discardableResult
  func rejoin() -> Bool {
    guard let me = Worker.current, me.workers === self, !has(me) else { return false }
    pause(me, before: nil)
    return true
  }

  /// Takes a job that came from a worker; false if it did not.
  func post(_ job: UnownedJob, from origin: ExplorationExecutor.Origin) -> Bool {
    guard let me = Worker.current, me.workers === self else { return false }
    pulse.add(1, ordering: .releasing)
    if has(me) {
      run.executor.admit(job, from: origin)
    } else {
      inbox.withLock { $0.append((me.number, job, origin)) }
    }
    return true
  }
}
