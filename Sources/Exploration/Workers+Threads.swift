internal import Basics
internal import CExplorable
internal import ExplorableSynchronization
internal import Glibc

// Threads that the code under study starts. Each is a worker with one job: it is there, and paused, before its first
// turn, and it leaves when the job has ended.

extension Worker {
  /// A thread of the code under study.
  struct OwnThread {
    /// By what number steps name it.
    var object = 0
    /// How often its time has come.
    var wakes = 0
    /// The stack for who handles its traps.
    var secondStack: ScheduleUnderWay.SecondStack?
  }

  /// Whether it only waits, for something to do or for a time.
  var isIdling: Bool {
    guard ownThread != nil, isPaused else { return false }
    switch operation?.kind {
    case .wait, .waitAWhile, .beginWait, .takePermit, .takePermitInTime, .awaitGroup,
      .awaitGroupInTime, .park, .parkAWhile, .sleep:
      return true
    default: return false
    }
  }

  /// Whether it has waited for a time again and again, as who looks now and then for something to do.
  var looksNowAndThen: Bool { isIdling && ownThread.map { $0.wakes >= Self.mostWakes } ?? false }

  private static let mostWakes = 3
}

extension Workers {
  // MARK: What the thread is known by

  /// What the thread itself keeps of its worker, which goes on to exist until ``end(_:)``.
  static func known(_ worker: Worker) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(worker).toOpaque()
  }

  static func worker(_ known: UnsafeMutableRawPointer) -> Worker {
    Unmanaged<Worker>.fromOpaque(known).takeUnretainedValue()
  }

  // MARK: Beginning

  /// Makes a worker for a thread that is about to be started.
  func makeThread() -> Worker {
    let worker = makeWorker()
    worker.ownThread = Worker.OwnThread()
    return worker
  }

  /// Notes by what the system knows the thread; if that is nothing, there is none.
  func name(_ worker: Worker, at handle: UInt) {
    if handle == 0 { return Unmanaged.passUnretained(worker).release() }
    // Another one that has ended may have been known by it.
    forgetObject(at: handle)
    worker.ownThread?.object = number(at: handle)
    ownThreads[handle] = worker.ownThread?.object
  }

  /// Has the thread wait to be chosen.
  func start(_ worker: Worker) {
    guard let object = worker.ownThread?.object else { return }
    let agent = run.executor.newAgent()
    if looksForRaces { race_release(Self.order(of: object)) }
    run.executor.onThread?(agent, object)
    worker.choice = Choice(.run, Int(agent))
    worker.running = agent
    place(worker)
  }

  /// Waits on the thread itself until it is chosen.
  func begin(_ worker: Worker) {
    register(worker)
    worker.ownThread?.secondStack = ScheduleUnderWay.SecondStack()
    worker.seat.wait()
    takeBaton(worker)
    run.executor.running = worker.running
    open(as: worker.running)
    if looksForRaces, let object = worker.ownThread?.object { race_acquire(Self.order(of: object)) }
  }

  // MARK: Ending

  /// Notes on the thread itself that nothing of the code under study runs there any more.
  static func end(_ known: UnsafeMutableRawPointer) {
    let worker = Unmanaged<Worker>.fromOpaque(known).takeRetainedValue()
    if !worker.isLetGo { worker.workers.end(worker) }
    PartBox.leave()
    worker.ownThread?.secondStack?.end()
  }

  private func end(_ worker: Worker) {
    rejoin()
    let object = worker.ownThread?.object ?? 0
    if looksForRaces { race_release(Self.order(of: object)) }
    run.touches?.note(object: object)
    noteEnd(of: object)
    run.executor.running = 0
    // Another thread may be called what this one is called by the kernel.
    let thread = unregister(worker)
    guard endJob(worker) else { return worker.comeBack(finished: true) }
    ending = thread
    worker.isIdle = true
    run.endStep(worker.choice, paused: nil)
    goOn()
  }

  /// Waits until the thread is gone that has ended last: what it gives back at its end, as memory, would else come at
  /// any time, and not in each run of a schedule at the same.
  func awaitEndOfThread() {
    guard let thread = ending else { return }
    while thread_exists(thread) { sched_yield() }
    ending = nil
  }

  /// Whether the schedule under way has started the thread.
  func knows(thread handle: UInt) -> Bool { ownThreads[handle] != nil }

  /// Notes that the calling thread goes on behind the end of another.
  func noteJoin(of handle: UInt) {
    guard looksForRaces, let object = ownThreads[handle] else { return }
    race_acquire(Self.order(of: object))
  }

  // MARK: Threads that nobody ends

  /// Whether there are jobs in the middle besides those of threads that wait for something to do.
  var isStuck: Bool { !blocked.isEmpty || !paused.allSatisfy(\.isIdling) }

  /// Lets threads go that wait for something to do, when all else has ended: others than the schedule may know them.
  ///
  /// They go on by themselves, unseen, as they would without an exploration.
  func letGoOfThreads() {
    for worker in paused where worker.isIdling { letGo(of: worker) }
  }
}
