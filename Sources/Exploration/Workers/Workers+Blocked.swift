internal import Basics
internal import Glibc
internal import Synchronization

// Jobs that sleep in the runtime, or do not come back: the home watches for them.

extension Workers {
  /// How long a thread must sleep to be called blocked where nobody is known to hold what it sleeps
  /// for: another thread of the process may, and may not get a processor for as long.
  private static let patience = Duration.seconds(1)
  /// The same where no job is paused, so that it waits for nothing that is explored.
  private static let greatPatience = Duration.seconds(3)

  /// How many seconds a job runs with nothing to be seen until that is told, and a schedule may take to its end once
  /// it is over.
  ///
  /// Only a test changes it, in a process of its own.
  static let longStep = Synchronization.Atomic(10)

  /// How many nanoseconds pass before the next look at a leader that sleeps.
  private static let shortPause = 20_000
  /// The same, at most, while it runs: the longer it has, the longer it is not looked at.
  private static let longPause = 500_000
  /// How many drives in a row begin with a short pause, once a leader was found asleep.
  static let closeDrives = 8

  /// Notes whether some job is paused, for the watch.
  func noteMiddle() { isInMiddle.store(isBusy, ordering: .releasing) }

  /// Whether somebody reads what is printed: else the one who keeps the journal tells it.
  var tellsSteps: Bool { takesOver && ScheduleJournal.ofThisProgram == nil }

  /// Waits on the home for the end of the drive, and looks, if it is to, for threads that come to the end of the
  /// program.
  func watch(forEnds tellsSteps: Bool) {
    // A thread that traps calls too.
    var isCalled = false
    var span = SleepSpan()
    var step = (pulse: -1, begun: ContinuousClock.now)
    // To look costs as much as several steps, and most code never sleeps where the watch has to see it.
    var pause = drivesToWatchClosely > 0 ? Self.shortPause : Self.longPause
    drivesToWatchClosely = max(0, drivesToWatchClosely - 1)
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
      guard let worker = byThread.withLock({ $0.values.first { $0.key == key } }) else {
        span.reset()
        continue
      }
      let state = worker.state
      if state != .runs {
        pause = Self.shortPause
        drivesToWatchClosely = Self.closeDrives
      }
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
      WorkingTime.note(waited: slept)
      worker.running = run.executor.running
      worker.sleep = state
      blocked.append(worker)
      run.endStep(worker.choice, paused: worker)
      if isAlone, !isHeldUp {
        return run.executor.escapes.note(
          Escapes.Sleeper(agent: Int(worker.choice.agent), points: points(ofThreadOf: worker))
        )
      }
      guard let option = next() else { return }
      dispatch(option)
    }
  }

  /// Takes the baton from the worker of that key, on the home; whether its job still ran.
  func take(batonOf key: UInt) -> Bool {
    leader.compareExchange(expected: key, desired: 0, ordering: .acquiringAndReleasing).exchanged
  }

  /// Goes on without the thread on which the code under study would end the program; whether that can be.
  private func leave(_ fall: Standstill.Fall) -> Bool {
    // What a thread does without the baton has no part in what is told.
    guard fall.canBeLeft, let worker = byThread.withLock({ $0[fall.thread] }),
      take(batonOf: worker.key)
    else { return false }
    // Some twenty whole stacks are as much memory as the others have.
    lost += fall.isDeep ? 25 : 1
    for object in locks.objects(heldBy: worker.number) { objects.leaveLocked(object) }
    worker.giveUp()
    run.noteTrap(worker.choice, fall)
    Standstill.leave()
    return true
  }

  /// Where the worker's thread stands, which it is made to say itself: a call that it sleeps in may end by that.
  private func points(ofThreadOf worker: Worker) -> [UInt] {
    byThread.withLock { $0.first { $0.value === worker }?.key }
      .map(SourceLines.points(ofThread:)) ?? []
  }

  /// Where the jobs stand that sleep in the middle; asked when a schedule is over.
  var placesOfBlocked: [(agent: Int, points: [UInt])] {
    blocked.map { (Int($0.choice.agent), points(ofThreadOf: $0)) }
  }

  /// Leaves a thread to its job, which does not come back.
  private func giveUp(runaway worker: Worker, after time: Duration) {
    runaway = worker
    lost += 1
    let points = points(ofThreadOf: worker)
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
    let chain = SleepChain(from: state, among: byThread.withLock(\.count)) { number in
      byThread.withLock { $0[number] }.map {
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
      for object in locks.objects(heldBy: worker.number) { objects.leaveLocked(object) }
      worker.giveUp()
    }
    paused = []
    blocked = []
  }

  /// How many can be given up before an exploration ends: each costs a thread.
  static let mostLost = 500
}
