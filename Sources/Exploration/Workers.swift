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
  // only. It is handed over through semaphores, which carry memory along.

  /// How a thread that has been called is to go on.
  enum Order {
    /// Make this option happen, then lead.
    case perform(ScheduleRun.Option)
    /// Go on with the paused job.
    case goOn
    case leave
  }

  unowned let run: ScheduleRun
  /// Whether calls that are taken over are points.
  private let takesOver: Bool
  /// Whether accesses to memory are looked at.
  let looksForRaces: Bool
  /// Jobs in the middle, waiting to be chosen, in the order in which they stopped.
  private(set) var paused: [Worker] = []
  /// Jobs that sleep in the runtime.
  private(set) var blocked: [Worker] = []
  /// Threads started by the code under study that have not begun.
  private(set) var threads:
    [(agent: Int32, object: Int, isOnMain: Bool, body: @Sendable () -> Void)] = []
  /// Who is in line at dispatch queues.
  var lines = DispatchLines()
  /// By which agent each serial queue does its work.
  var agentsOfQueues: [Int: Int32] = [:]
  /// Which lock inside of a library was released last that another waited for, by whom, and how often in a row.
  private var releases: (object: Int, agent: Int32, count: Int) = (0, 0, 0)
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
  private(set) var runaway: Worker?
  /// Workers given up with their jobs, for ever.
  private(set) var lost = 0
  /// Threads of the code under study that were let go of: each goes on by itself.
  private(set) var letGo = 0
  private var idle: [Worker] = []
  /// All of them, by what the kernel calls their threads.
  private let made = Made()
  /// Who holds each lock, and in whose name it took it: a task may keep a lock while it is suspended, and another
  /// one runs on the thread then.
  private var holders: [Int: (worker: Worker, choice: Choice)] = [:]
  /// How many have each lock together, to read.
  private var readers: [Int: Int] = [:]
  /// Who waits for a signal of each condition.
  private var waiters: [Int: [Worker]] = [:]
  /// The signals of each condition that nobody has taken yet, each with those who waited when it was given.
  private var signals: [Int: [[Worker]]] = [:]
  /// The numbers of objects that are known by their addresses.
  private var numbers: [UInt: Int] = [:]
  /// The addresses of those, by number.
  private var addresses: [Int: UInt] = [:]
  /// The locks that are held inside of libraries, by their addresses.
  private var locksInside: Set<UInt> = []
  /// Parkers with a wake-up to come.
  private var wakeUps: Set<Int> = []
  /// Whether those who park for a while have slept long enough: nothing else can go on.
  var isTimeOver = false
  /// The locks that somebody has tried to take.
  private var tried: Set<Int> = []
  /// Threads that have ended.
  private(set) var ended: Set<Int> = []
  /// Locks of this schedule, by number, that a schedule before it left locked: they outlive the closure.
  private var lockedForEver: Set<Int> = []
  /// What the code under study takes for chance: the same in each run of a schedule.
  private var random = SplitMix64(seed: 1)
  private var objects = 0
  private var count = 0
  private(set) var schedule: UInt32 = 0
  private var choose: ((ScheduleRun) -> Int?)?
  private let home = ThreadSemaphore()
  /// The home's, as the home itself is; nobody else touches it.
  private var processor = SharedProcessor()
  /// The key of the worker that has the baton and whose job runs; 0 where none runs.
  ///
  /// Then the home has the baton, or a worker chooses what comes next. What sleeps at that is no job, and must
  /// not be called blocked.
  private let leader = Synchronization.Atomic<UInt>(0)
  /// Whether some job is paused in the middle.
  private let isInMiddle = Synchronization.Atomic(false)
  /// Rises whenever the leader does something.
  private let pulse = Synchronization.Atomic<Int>(0)
  /// Jobs that blocked workers made ready as they came back.
  private let inbox = Synchronization.Mutex<
    [(worker: Int, job: UnownedJob, origin: ExplorationExecutor.Origin)]
  >([])

  private static let schedules = Synchronization.Atomic<UInt32>(0)

  /// The locks that were held by jobs as those were given up, each by its last use: no job will release them.
  private static let leftLocks = Synchronization.Mutex<Set<UInt64>>([])
  /// The same of those that are known by their addresses.
  private static let leftAddresses = Synchronization.Mutex<Set<UInt>>([])
  /// Whether a schedule of the one exploration that `explore` lets run has come to such a lock: what happens
  /// then says nothing about the code.
  static let hasMetLeftLock = Synchronization.Atomic(false)

  init(_ run: ScheduleRun) {
    self.run = run
    // Of a limiter that reports what it does, the points are those it has itself.
    takesOver = run.scenario.atRest != nil
    if takesOver { Interception.install() }
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
    if processor?.isToLook() == true { processor?.look(at: made.withLock { Array($0.keys) }) }
    if looksForRaces { races_begin() }
    schedule = Self.schedules.add(1, ordering: .relaxed).newValue
    objects = 0
    random = SplitMix64(seed: 1)
    holders.removeAll(keepingCapacity: true)
    lockedForEver.removeAll(keepingCapacity: true)
    readers.removeAll(keepingCapacity: true)
    waiters.removeAll(keepingCapacity: true)
    signals.removeAll(keepingCapacity: true)
    numbers.removeAll(keepingCapacity: true)
    locksInside.removeAll(keepingCapacity: true)
    addresses.removeAll(keepingCapacity: true)
    if takesOver {
      addresses_forget()
      Continuations.forget()
    }
    wakeUps.removeAll(keepingCapacity: true)
    isTimeOver = false
    tried.removeAll(keepingCapacity: true)
    threads.removeAll(keepingCapacity: true)
    lines.removeAll()
    agentsOfQueues.removeAll(keepingCapacity: true)
    timers.removeAll(keepingCapacity: true)
    detachThreads()
    foundationThreads.removeAll(keepingCapacity: true)
    ended.removeAll(keepingCapacity: true)
    releases = (0, 0, 0)
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
    idle = []
    made.withLock { $0 = [:] }
    processor?.end()
    if looksForRaces { races_end() }
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

  private func next() -> ScheduleRun.Option? {
    guard run.runnable > 0, let index = choose?(run) else { return nil }
    run.beginStep(index)
    return run.options[index]
  }

  /// Has another thread make it happen.
  private func dispatch(_ option: ScheduleRun.Option) {
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

  private func rest(_ worker: Worker) {
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
    made.withLock { $0[worker.begin()] = worker }
    GlobalPoolHook.setCurrent(run.executor)
  }

  /// Forgets that its thread is the worker's; returns what the kernel calls the thread.
  @discardableResult
  func unregister(_ worker: Worker) -> Int32? {
    made.withLock { made in
      guard let thread = made.first(where: { $0.value === worker })?.key else { return nil }
      made[thread] = nil
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
  private func has(_ me: Worker) -> Bool { leader.load(ordering: .acquiring) == me.key }

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
      sleeper.wake()
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
  fileprivate func noteOrder(at operation: SynchronizationOperation) {
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

  /// Has it come to none any more; `step` is what ran.
  private func close(_ step: ExplorationExecutor.ReadyStep?) {
    guard takesOver else { return }
    _ = points_close()
    // The first job of all begins in the exploration's own code, and goes on to the closure's.
    if let step, !points_seen() {
      // Half a yield is the runtime's.
      if !step.isTurn || step.isActor { run.touches?.noteEverything() }
      run.noteUnseen(step.beginning, isFirst: step.agent == 1 && step.wokenAt == 0)
    }
  }

  /// Stands before an operation until it is chosen; `has` been called blocked or leads.
  func pause(_ me: Worker, before operation: SynchronizationOperation?) {
    me.operation = operation
    if endJob(me) {
      me.running = run.executor.running
      me.choice = run.executor.choiceOfCurrentCode(orElse: me.choice)
      if looksForRaces { races_name(me.choice.agent) }
      if run.touches != nil { me.task = UnownedJob.ofCurrentTask }
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

  // MARK: Blocked in the runtime

  /// How long a thread must sleep to be called blocked where nobody is known to hold what it sleeps
  /// for: another thread of the process may, and may not get a processor for as long.
  private static let patience = Duration.seconds(1)
  /// The same where no job is paused, so that it waits for nothing that is explored.
  private static let greatPatience = Duration.seconds(3)

  /// How many seconds a job runs with nothing to be seen until that is told.
  ///
  /// Only a test changes it, in a process of its own.
  static let longStep = Synchronization.Atomic(10)

  /// How many nanoseconds pass before the next look at a leader that sleeps.
  private static let shortPause = 20_000
  /// The same, at most, while it runs: the longer it has, the longer it is not looked at.
  private static let longPause = 500_000

  /// Notes whether some job is paused, for the watch.
  func noteMiddle() { isInMiddle.store(isBusy, ordering: .releasing) }

  /// Whether somebody reads what is printed: else the one who keeps the journal tells it.
  private var tellsSteps: Bool { takesOver && ScheduleJournal.ofThisProgram == nil }

  /// Waits on the home for the end of the drive, and looks, if it is to, for threads that come to the end of the program.
  private func watch(forEnds tellsSteps: Bool) {
    // A thread that traps calls too.
    var isCalled = false
    var span = SleepSpan()
    var step = (pulse: -1, begun: ContinuousClock.now)
    var pause = Self.shortPause
    while true {
      isCalled = isCalled || home.wait(atMost: pause)
      if tellsSteps, let fall = Standstill.take() {
        // Its call comes just behind, and is nobody else's.
        if !isCalled { home.wait() }
        if leave(fall) { return }
        ScheduleUnderWay.tellSteps(to: fall.points)
        Standstill.end()
        isCalled = false
      }
      if isCalled { return }
      pause = min(2 * pause, Self.longPause)
      let key = leader.load(ordering: .acquiring)
      let pulse = pulse.load(ordering: .acquiring)
      if pulse != step.pulse {
        // It has done something since the last look.
        step = (pulse, .now)
        span.reset()
        continue
      }
      guard let worker = made.withLock({ $0.values.first { $0.key == key } }) else {
        span.reset()
        continue
      }
      let state = worker.state
      if state != .runs { pause = Self.shortPause }
      let slept = span.look(pulse, state)
      let long = Duration.seconds(Self.longStep.load(ordering: .acquiring))
      if let end = run.scenario.isOverAt, ContinuousClock.now > end,
        ContinuousClock.now - step.begun > long, take(batonOf: key)
      {
        return giveUp(runaway: worker, after: ContinuousClock.now - step.begun)
      }
      if state == .runs, ContinuousClock.now - step.begun > long {
        ScheduleUnderWay.tellOfLongStep()
      }
      let isAlone = !isInMiddle.load(ordering: .acquiring)
      let isHeldUp = isHeldUp(worker)
      guard isHeldUp || slept > (isAlone ? Self.greatPatience : Self.patience), take(batonOf: key)
      else { continue }
      span.reset()
      worker.running = run.executor.running
      worker.sleep = state
      blocked.append(worker)
      run.endStep(worker.choice, paused: worker)
      if isAlone, !isHeldUp { return run.executor.escapes.note(sleeper: Int(worker.choice.agent)) }
      guard let option = next() else { return }
      dispatch(option)
    }
  }

  /// Takes the baton from the worker of that key, on the home; whether its job still ran.
  private func take(batonOf key: UInt) -> Bool {
    leader.compareExchange(expected: key, desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// Goes on without the thread on which the code under study would end the program; whether that can be.
  private func leave(_ fall: Standstill.Fall) -> Bool {
    // What a thread does without the baton has no part in what is told.
    guard fall.canBeLeft, let worker = made.withLock({ $0[fall.thread] }),
      take(batonOf: worker.key)
    else { return false }
    // Some twenty whole stacks are as much memory as the others have.
    lost += fall.isDeep ? 25 : 1
    for (object, holder) in holders where holder.worker === worker { leaveLocked(object) }
    worker.giveUp()
    run.noteTrap(worker.choice, fall)
    Standstill.leave()
    return true
  }

  /// Leaves a thread to its job, which does not come back.
  private func giveUp(runaway worker: Worker, after time: Duration) {
    runaway = worker
    lost += 1
    let thread = made.withLock { $0.first { $0.value === worker }?.key }
    let points = thread.map(SourceLines.points(ofThread:)) ?? []
    worker.giveUp()
    run.noteRunaway(worker.choice, for: Int(time / .seconds(1)), at: points)
  }

  /// Whether the job sleeps until a paused one goes on: such a job holds the lock that it sleeps for,
  /// or somebody does who sleeps so too.
  private func isHeldUp(_ worker: Worker) -> Bool {
    let state = worker.state
    // A thread that was awake at the first look, and let go of the lock, sleeps for another one at the second.
    return leadsToPaused(state) && worker.state == state && leadsToPaused(state)
  }

  private func leadsToPaused(_ state: ThreadSight.State) -> Bool {
    let chain = SleepChain(from: state, among: made.withLock(\.count)) { number in
      made.withLock { $0[number] }.map {
        SleepChain.Holder(
          hasStopped: $0.isPaused || $0.hasComeBack || $0.isIdle,
          isGivenUp: $0.isGivenUp,
          state: $0.state
        )
      }
    }
    return chain != .elsewhere
  }

  /// Waits until each blocked job sleeps until a paused one goes on, or has come back.
  func awaitBlocked(patiently: Bool = false) {
    for worker in blocked {
      var span = SleepSpan()
      while !worker.hasComeBack {
        if isHeldUp(worker) { break }
        // Awake meanwhile, or the watch would take this thread for a blocked one.
        sched_yield()
        let state = worker.state
        let hasBeenLong = span.look(0, state) > Self.patience
        // It woke, and sleeps for something else, which nobody explored holds: a condition of a library is waited for
        // at one address and then at another. Or who is said to hold it is no thread of the exploration.
        if hasBeenLong, case .sleeps(let address, _) = state,
          state != worker.sleep || !worker.isUnaccounted
        {
          worker.sleep = .sleeps(at: address, holder: 0)
          break
        }
        // An explored thread that wakes it has done so by now.
        guard worker.isUnaccounted, state == worker.sleep else { continue }
        if !patiently || hasBeenLong { break }
      }
    }
  }

  /// Waits until each blocked job either sleeps until a paused one goes on, or has come back and
  /// is paused or has ended.
  ///
  /// `patiently` where nothing else can go on: longer than another thread of the process could keep it.
  func settle(patiently: Bool = false) {
    if blocked.isEmpty { return }
    awaitBlocked(patiently: patiently)
    let back = blocked.filter(\.hasComeBack)
    if back.isEmpty { return }
    blocked.removeAll { worker in back.contains { $0 === worker } }
    let jobs = inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox.sorted { $0.worker < $1.worker }
    }
    let running = run.executor.running
    for (number, job, origin) in jobs {
      if let worker = back.first(where: { $0.number == number }) {
        run.executor.running = worker.running
      }
      run.executor.admit(job, from: origin)
    }
    run.executor.running = running
    for worker in back.sorted(by: { $0.number < $1.number }) {
      if worker.takeUp() {
        if worker.ownThread == nil { rest(worker) }
      } else {
        worker.choice = run.executor.choice(ofSerial: worker.serial) ?? worker.choice
        place(worker)
      }
    }
  }

  /// Gives up the jobs that can never go on, with their threads.
  func abandon() {
    lost += paused.count + blocked.count
    for worker in paused + blocked {
      for (object, holder) in holders where holder.worker === worker { leaveLocked(object) }
      worker.giveUp()
    }
    paused = []
    blocked = []
  }

  /// How many can be given up before an exploration ends: each costs a thread.
  static let mostLost = 500

  // MARK: Operations

  func number(of identity: borrowing ObjectIdentity) -> Int {
    if let number = identity.number(in: schedule) { return number }
    let lastUse = identity.lastUse
    objects += 1
    identity.set(objects, in: schedule)
    if let lastUse, Self.leftLocks.withLock({ $0.contains(lastUse) }) {
      Self.hasMetLeftLock.store(true, ordering: .releasing)
      lockedForEver.insert(objects)
      leaveLocked(objects)
    }
    return objects
  }

  /// Notes that no job will release the lock: a thread that took it for real would wait for ever.
  private func leaveLocked(_ object: Int) {
    if let address = addresses[object] {
      return Self.leftAddresses.withLock { _ = $0.insert(address) }
    }
    let use = UInt64(schedule) << 32 | UInt64(object)
    Self.leftLocks.withLock { _ = $0.insert(use) }
  }

  /// The next random number of the code under study.
  func chance() -> UInt64 {
    run.touches?.noteChance()
    return random.next()
  }

  private func isFree(_ object: Int) -> Bool { isReadable(object) && readers[object] == nil }

  /// Whether nobody has the lock for himself.
  private func isReadable(_ object: Int) -> Bool {
    if lockedForEver.contains(object) { return false }
    guard let address = addresses[object], holders[object] != nil || locksInside.contains(address)
    else { return holders[object] == nil }
    // A function that several object files have is linked once, from any of them: it may release a lock
    // unseen, where not all are instrumented. The lock itself knows.
    return !lock_is_taken(address)
  }

  /// The number of the object at an address, given at its first use in a schedule.
  func number(at address: UInt) -> Int {
    if address_note(address) { forgetObjects(around: address) }
    if let number = numbers[address] { return number }
    objects += 1
    numbers[address] = objects
    addresses[objects] = address
    if Self.leftAddresses.withLock({ $0.contains(address) }) {
      if lock_is_taken(address) {
        Self.hasMetLeftLock.store(true, ordering: .releasing)
        lockedForEver.insert(objects)
      } else {
        // Something else is there now.
        Self.leftAddresses.withLock { _ = $0.remove(address) }
      }
    }
    return objects
  }

  /// Forgets what was known by the address: something else is there now.
  func forgetObject(at address: UInt) {
    if let number = numbers.removeValue(forKey: address) { addresses[number] = nil }
  }

  /// Forgets what was known by addresses in memory that was freed since: what is there now is another object, and
  /// would be by luck alone of the same number in each run.
  private func forgetObjects(around address: UInt) {
    let start = address & ~15
    for address in start..<(start + 16) { forgetObject(at: address) }
  }

  /// Whether the worker's job has the lock.
  func holds(_ worker: Worker, _ object: Int) -> Bool { holders[object]?.worker === worker }

  private func hasSignal(_ worker: Worker, _ condition: Int) -> Bool {
    signals[condition]?.contains { $0.contains { $0 === worker } } == true
  }

  /// Notes that the worker's job waits for a signal.
  func beginWait(for condition: Int, by worker: Worker) {
    run.touches?.note(object: condition)
    waiters[condition, default: []].append(worker)
  }

  /// Whether there was a signal for the worker's job, which takes it and waits no more.
  private func endWait(for condition: Int, by worker: Worker) -> Bool {
    waiters[condition]?.removeAll { $0 === worker }
    guard
      let index = signals[condition]?.firstIndex(where: { $0.contains { $0 === worker } })
    else { return false }
    signals[condition]?.remove(at: index)
    for other in (signals[condition] ?? []).indices {
      signals[condition]?[other].removeAll { $0 === worker }
    }
    signals[condition]?.removeAll(where: \.isEmpty)
    return true
  }

  /// Gives a signal to one of those who wait, or one to each.
  private func signal(_ condition: Int, all: Bool) {
    let waiting = waiters[condition] ?? []
    let given = signals[condition]?.count ?? 0
    for _ in 0..<min(all ? waiting.count : 1, waiting.count - given) {
      signals[condition, default: []].append(waiting)
    }
  }

  /// Whether the job can go on.
  func isEnabled(_ worker: Worker) -> Bool {
    guard let operation = worker.operation else { return true }
    switch operation.kind {
    case .lock: return isFree(operation.object)
    case .park: return wakeUps.contains(operation.object)
    case .parkAWhile: return isTimeOver || wakeUps.contains(operation.object)
    case .join: return ended.contains(operation.object)
    case .readLock: return isReadable(operation.object)
    case .wait: return hasSignal(worker, operation.object)
    case .waitAWhile: return worker.isTimeOver || hasSignal(worker, operation.object)
    case .takePermit: return hasPermit(operation.object)
    case .takePermitInTime: return worker.isTimeOver || hasPermit(operation.object)
    case .turn: return worker.turns.last?.hasCome ?? true
    case .awaitGroup: return isGroupEmpty(operation.object)
    case .awaitGroupInTime: return worker.isTimeOver || isGroupEmpty(operation.object)
    case .tryLock, .tryReadLock, .load, .store, .update, .compare, .exchange, .unpark, .start,
      .signal, .broadcast, .tryPermit, .givePermit, .hop, .check, .cancel, .begin, .goOn,
      .enqueue, .giveWork, .suspendQueue, .changeTimer, .leaveGroup, .tryGroup, .register,
      .beginWait,
      .enterGroup:
      return true
    case .sleep: return worker.isTimeOver
    }
  }

  /// Whether somebody has tried to take the lock at the address, or is paused before it: then it shows that another
  /// holds it, even if that one does nothing else meanwhile.
  func isTried(_ address: UInt) -> Bool {
    guard let object = numbers[address] else { return false }
    return tried.contains(object)
      || paused.contains {
        guard let operation = $0.operation, operation.object == object else { return false }
        return operation.kind == .tryLock || operation.kind == .tryReadLock
      }
  }

  /// Whether the worker has released the lock at an address so often, while somebody waits for it, that it has to be
  /// that one's turn: it asks for it again and again, and holds it wherever it can be made to pause.
  func mustLetOthersTake(_ address: UInt, after worker: Worker) -> Bool {
    guard let object = numbers[address],
      paused.contains(where: { $0.operation == SynchronizationOperation(.lock, object) })
    else { return false }
    let agent = worker.choice.agent
    let isAgain = releases.object == object && releases.agent == agent
    releases = (object, agent, isAgain ? releases.count + 1 : 1)
    if releases.count < Self.mostReleases { return false }
    releases.count = 0
    return true
  }

  private static let mostReleases = 8

  /// Those whose wait has a limit, by where they are paused, the earliest only.
  func limited(before earliest: Int64) -> [(slot: Int, worker: Worker)] {
    let limited = paused.enumerated().filter { $0.element.isLimited && !isEnabled($0.element) }
    let earliest = limited.lazy.map(\.element.deadline).reduce(earliest, min)
    return limited.filter { $0.element.deadline == earliest }.map { ($0.offset, $0.element) }
  }

  /// Whether the semaphore has a permit: the real one is asked, for others than tasks may give one.
  private func hasPermit(_ object: Int) -> Bool {
    addresses[object].map { semaphore_has_permit($0) } ?? true
  }

  private func isGroupEmpty(_ object: Int) -> Bool {
    addresses[object].map { group_is_empty($0) } ?? true
  }

  /// Does in the model what `me` is about to do; whether it could.
  func apply(_ operation: SynchronizationOperation, by me: Worker) -> Bool {
    let object = operation.object
    run.noteKind(operation.kind)
    var isDone = true
    let effect: ScheduleRun.Effect
    switch operation.kind {
    case .lock:
      holders[object] = (me, me.choice)
      effect = .took
    case .tryLock:
      tried.insert(object)
      isDone = isFree(object)
      if isDone { holders[object] = (me, me.choice) }
      effect = isDone ? .took : .looked
    case .parkAWhile:
      isDone = wakeUps.remove(object) != nil
      effect = isDone ? .wrote : .looked
    case .park:
      wakeUps.remove(object)
      effect = .wrote
    case .unpark:
      wakeUps.insert(object)
      effect = .wrote
    case .load: effect = .looked
    case .store, .update, .start, .join: effect = .wrote
    case .readLock:
      readers[object, default: 0] += 1
      effect = .took
    case .tryReadLock:
      tried.insert(object)
      isDone = isReadable(object)
      if isDone { readers[object, default: 0] += 1 }
      effect = isDone ? .took : .looked
    case .wait, .waitAWhile:
      isDone = endWait(for: object, by: me)
      effect = isDone ? .wrote : .looked
    case .signal, .broadcast:
      signal(object, all: operation.kind == .broadcast)
      effect = .wrote
    case .takePermit, .takePermitInTime, .tryPermit:
      isDone = operation.kind == .takePermit || hasPermit(object)
      effect = isDone ? .wrote : .looked
    case .givePermit, .enqueue, .giveWork, .suspendQueue, .changeTimer, .turn, .leaveGroup,
      .beginWait,
      .enterGroup:
      effect = .wrote
    case .awaitGroup, .awaitGroupInTime, .tryGroup:
      effect = isGroupEmpty(object) ? .wrote : .looked
    // Of the runtime's own state nothing is known.
    case .hop, .check, .cancel, .begin, .goOn, .register, .sleep: return true
    // Noted with their outcome.
    case .compare, .exchange: return true
    }
    run.noteOperation(effect, on: object, operation.kind.touched, by: me.choice)
    return isDone
  }

  /// Notes that a lock inside of a library was taken, which was free.
  ///
  /// It gets no number before somebody has to wait for it: what a library sets up at its first use, under a lock, would
  /// change the numbers of all that come behind.
  func noteLock(at address: UInt) { locksInside.insert(address) }

  /// Notes that such a lock is released, if it is one.
  func noteReleaseInside(at address: UInt) -> Bool {
    guard locksInside.remove(address) != nil else { return false }
    if let object = numbers[address] { noteRelease(of: object) }
    return true
  }

  func noteRelease(of object: Int) {
    rejoin()
    run.touches?.note(object: object)
    if looksForRaces { race_release(Self.order(of: object)) }
    holders[object] = nil
  }

  /// Notes that who has the lock for himself, or one of those who have it together, has released it.
  func noteSharedRelease(of object: Int, by worker: Worker) {
    rejoin()
    run.touches?.note(object: object)
    let count = readers[object] ?? 0
    if count == 0 { holders[object] = nil } else { readers[object] = count == 1 ? nil : count - 1 }
  }

  /// Notes that the thread has ended.
  func noteEnd(of object: Int) { ended.insert(object) }

  func start(_ object: Int, _ body: @escaping @Sendable () -> Void) {
    rejoin()
    threads.append((run.executor.newAgent(), object, false, body))
  }

  /// What each job in the middle waits for, in words.
  func stuck(_ name: (Choice) -> String = \.actorName) -> [String] {
    paused.map { worker in
      guard let operation = worker.operation else { return "\(name(worker.choice)) waits" }
      let left = lockedForEver.contains(operation.object)
      let holder =
        holders[operation.object].map { ", which \(name($0.choice)) holds" }
        ?? agent(ofThread: operation).map { " to end, which is \(name(Choice(.run, Int($0))))" }
        ?? (left ? ", which a schedule before left locked" : "")
      let what = operation.kind.hasObject ? operation.objectName : "its turn"
      return "\(name(worker.choice)) waits for \(what)\(holder)"
    }
      + blocked.map { worker in
        let isCancelling = (paused + blocked).contains { $0.choice.isInterference }
        let reason =
          worker.isUnaccounted
          ? "for what nobody explored will wake it from"
          : isForAbsent(worker)
            ? "for a lock that a task holds which is on no thread: it waits for its turn"
            : isCancelling
              ? "in the runtime, which waits for a cancellation handler to end"
              : "for a lock that another holds, in the middle of its code: one that is not of "
                + "ExplorableSynchronization, or the runtime's while a cancellation handler runs"
        return "\(name(worker.choice)) sleeps \(reason)"
      }
  }

  /// Whether the job sleeps for a lock that was taken by one that has left its thread since.
  private func isForAbsent(_ worker: Worker) -> Bool {
    guard case .sleeps(_, let number) = worker.sleep else { return false }
    return made.withLock { $0[number] }.map { !$0.isPaused } ?? false
  }

  /// How many threads of the pool are taken by jobs that cannot go on.
  var threadsBlocked: Int {
    paused.count { $0.isOnPool && !isEnabled($0) } + blocked.count(where: \.isOnPool)
  }

  /// Whether a thread that is not explored has signalled what a job waits for, since there were so many such signals.
  func isSignalled(fromOutsideSince count: UInt32) -> Bool {
    paused.contains { worker in
      guard let operation = worker.operation, operation.kind == .wait,
        let address = addresses[operation.object]
      else { return false }
      return was_signalled_from_outside(address, count)
    }
  }

  /// Whether some job in the middle can go on.
  var hasOneThatCanGoOn: Bool { paused.contains(where: isEnabled) }

  /// Whether some thread has a job in the middle that goes on sooner or later.
  var hasThreadThatGoesOn: Bool {
    paused.contains { isEnabled($0) || $0.operation?.kind == .parkAWhile || $0.isLimited }
      || blocked.contains { $0.isUnaccounted || $0.hasComeBack }
  }

  /// Whether a job on the main actor is in the middle: another must not begin.
  var isMainActorTaken: Bool {
    paused.contains(where: \.isOnMain) || blocked.contains(where: \.isOnMain)
  }
}

/// A thread that jobs run on.
final class Worker: SynchronizationPart, @unchecked Sendable {
  // Safe: touched with the baton only, but for what is atomic, and for what a thread that was called
  // blocked writes before it says that it has come back.

  unowned let workers: Workers
  /// From 1.
  let number: Int
  let seat = ThreadSemaphore()
  var order = Workers.Order.goOn
  var thread: OSThread?
  /// What it is for if the code under study has started its thread.
  var ownThread: OwnThread?
  /// Whether its thread was let go of, and goes on by itself.
  private(set) var isLetGo = false
  /// By what choice the job goes on.
  var choice = Choice(.run, 0)
  /// What it is about to do.
  var operation: SynchronizationOperation?
  /// Until when it waits, at most, for what it is about to do.
  var deadline = Int64.max
  /// Whether that time has come.
  var isTimeOver = false
  /// Where in the code that is, if that is wanted.
  var points: [UInt] = []
  /// Whom that is about, where the place is wanted too.
  var subject: StepSubject?
  /// The turns that its job has on dispatch queues, or waits for, the innermost last.
  var turns: [Turn] = []
  /// The task whose code is paused, if that is wanted.
  var task: UnownedJob?
  /// Whether its job is one of the main actor's.
  var isOnMain = false
  /// Whether its job is one of the pool's, and keeps one of its threads.
  var isOnPool = false
  /// How much of the stack was used where it is paused, in units of about a frame.
  var depth = 0
  /// In whose name its job runs.
  var running: Int32 = 0
  /// Whether it waits for something that it gives up when the time has come.
  var isLimited: Bool {
    switch operation?.kind {
    case .waitAWhile, .takePermitInTime, .awaitGroupInTime, .sleep: true
    default: false
    }
  }
  /// Whether it waits to be chosen.
  var isPaused: Bool {
    get { place.load(ordering: .acquiring) }
    set { place.store(newValue, ordering: .releasing) }
  }
  /// Whether it has no job.
  ///
  /// A lock that its thread took is held by a task that goes on elsewhere.
  var isIdle: Bool {
    get { rest.load(ordering: .acquiring) }
    set { rest.store(newValue, ordering: .releasing) }
  }
  /// The task whose code it is paused in, where it came back by itself.
  var serial: UInt64?
  /// What it slept for when it was called blocked.
  var sleep = ThreadSight.State.runs
  /// Whether nobody is known to hold what it slept for.
  var isUnaccounted: Bool {
    if case .sleeps(_, holder: 0) = sleep { true } else { false }
  }
  /// Whether it was paused just before the operation that it names next.
  private var hasRejoined = false
  /// Who had the turn when the driver interfered; nil once somebody else had it.
  var interrupted: ScheduleRun.Turn?
  /// 0: not come back; 1: is paused; 2: its job has ended.
  private let back = Synchronization.Atomic<Int>(0)
  private let place = Synchronization.Atomic(false)
  private let rest = Synchronization.Atomic(false)
  private var base: UInt = 0
  private var box: PartBox?
  private var sight: ThreadSight?

  init(_ workers: Workers, _ number: Int) {
    self.workers = workers
    self.number = number
  }

  /// Makes the calling thread the worker's; returns what the kernel calls it.
  func begin() -> Int32 {
    let box = PartBox(self)
    self.box = box
    box.enter()
    sight = ThreadSight()
    base = Self.stackAddress()
    return thread_number()
  }

  /// Leaves its thread where it is, for ever, and closes the files by which it was looked at.
  func giveUp() {
    thread?.detach()
    sight = nil
  }

  var isGivenUp: Bool { sight == nil }

  /// Leaves the exploration, on its thread.
  func letGo() {
    isLetGo = true
    PartBox.leave()
    GlobalPoolHook.setCurrent(nil)
    points_end()
  }

  /// How much of the calling thread's stack, which is the worker's, is used.
  func depthOfStack() -> Int { Int(base &- Self.stackAddress()) / 64 }

  @inline(never)
  private static func stackAddress() -> UInt {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 1) { UInt(bitPattern: $0.baseAddress) }
  }

  /// The worker whose thread this is.
  static var current: Worker? { currentPart as? Worker }

  /// The same, with the baton: a thread that was called blocked has waited for it.
  static var leading: Worker? {
    let me = current
    me?.workers.rejoin()
    return me
  }

  /// What the leader is known by.
  var key: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// What the thread does.
  var state: ThreadSight.State { sight?.state ?? .runs }

  // MARK: Coming back from the runtime

  var hasComeBack: Bool { back.load(ordering: .acquiring) != 0 }

  /// Says that a job called blocked has come back, and is paused now or has ended.
  func comeBack(finished: Bool) { back.store(finished ? 2 : 1, ordering: .releasing) }

  /// Whether the job that came back has ended; it is not blocked any more.
  func takeUp() -> Bool { back.exchange(0, ordering: .acquiringAndReleasing) == 2 }

  // MARK: Operations

  func number(of identity: borrowing ObjectIdentity) -> Int {
    let wereOpen = points_close()
    defer { points_reopen(wereOpen) }
    // Objects are numbered with the baton only.
    hasRejoined = workers.rejoin()
    return workers.number(of: identity)
  }

  func pause(before operation: SynchronizationOperation) -> Bool {
    if operation.kind == .start { workers.noteOrder(at: operation) }
    let isDone = pause(beforeAny: operation)
    if isDone, operation.kind != .start { workers.noteOrder(at: operation) }
    return isDone
  }

  private func pause(beforeAny operation: SynchronizationOperation) -> Bool {
    withoutPoints {
      self.operation = operation
      if !hasRejoined || !workers.isEnabled(self) { workers.pause(self, before: operation) }
      if isLetGo { return true }
      hasRejoined = false
      isTimeOver = false
      return workers.apply(operation, by: self)
    }
  }

  /// Stands before an operation of code that was taken over, on what is at the address.
  func pause(before kind: SynchronizationOperation.Kind, at address: UInt) -> Bool {
    if !kind.hasObject { return pause(beforeAny: SynchronizationOperation(kind, 0)) }
    hasRejoined = workers.rejoin()
    return pause(beforeAny: SynchronizationOperation(kind, workers.number(at: address)))
  }

  func noteOutcome(hasWritten: Bool) {
    guard let object = operation?.object else { return }
    withoutPoints {
      workers.run.noteOperation(
        hasWritten ? .wrote : .looked,
        on: object,
        touch_of_atomic,
        by: choice
      )
    }
  }

  var wantsValues: Bool { workers.run.points != nil }

  func note(_ values: OperationValues) { workers.run.values = values }

  func noteRelease(of object: Int) { withoutPoints { workers.noteRelease(of: object) } }

  func start(_ thread: Int, _ body: @escaping @Sendable () -> Void) {
    withoutPoints { workers.start(thread, body) }
  }
}

/// The workers that have begun, by what they are known by.
///
/// Under a lock of the system: of a `Mutex` the thread sanitizer does not see who waited for it, and says that the two
/// race.
private final class Made: Sendable {
  private let lock = RawLock()
  // Used under the lock only.
  nonisolated(unsafe) private var workers: [Int32: Worker] = [:]

  func withLock<Result>(_ body: (inout [Int32: Worker]) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&workers)
  }
}
