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
    /// By what the system knows it.
    var handle: UInt = 0
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
  /// A thread that the code under study has started.
  struct StartedThread {
    /// By what number steps name it.
    var object: Int
    var isJoinable: Bool
    var agent: Int32 = 0
  }

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
  ///
  /// - Parameter thread: Foundation's `Thread`, if it is one.
  /// - Returns: the worker, which waits for its thread.
  func makeThread(as thread: UnsafeRawPointer?) -> Worker {
    let worker = makeWorker()
    worker.ownThread = Worker.OwnThread()
    if let thread { foundationThreads.append(SeenThread(of: thread, by: worker.number)) }
    return worker
  }

  /// Notes by what the system knows the thread; if that is nothing, there is none.
  func name(_ worker: Worker, at handle: UInt, isJoinable: Bool) {
    if handle == 0 { return Unmanaged.passUnretained(worker).release() }
    // Another one that has ended may have been known by it.
    objects.forget(at: handle)
    let object = objects.number(at: handle)
    worker.ownThread?.object = object
    worker.ownThread?.handle = handle
    ownThreads[handle] = StartedThread(object: object, isJoinable: isJoinable)
  }

  /// Has the thread wait to be chosen.
  func start(_ worker: Worker) {
    guard let thread = worker.ownThread else { return }
    let object = thread.object
    let agent = run.executor.newAgent()
    ownThreads[thread.handle]?.agent = agent
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
    if let touches = run.touches { noteFoundationThreads(touches) }
    foundationThreads.removeAll { $0.worker == worker.number }
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

  /// Waits until the thread that ended last is gone.
  ///
  /// Otherwise the memory that it gives back at its end would come back at a different time in each run of a
  /// schedule.
  func awaitEndOfThread() {
    guard let thread = ending else { return }
    while thread_exists(thread) { sched_yield() }
    ending = nil
  }

  /// Whether the schedule under way has started the thread, and its end can be waited for.
  func mayJoin(_ handle: UInt) -> Bool { ownThreads[handle]?.isJoinable == true }

  /// Notes that the thread was waited for, if it has ended, or that nobody will wait for it.
  func forget(thread handle: UInt) {
    guard let thread = ownThreads[handle] else { return }
    ownThreads[handle]?.isJoinable = false
    if looksForRaces, ended.contains(thread.object) { race_acquire(Self.order(of: thread.object)) }
  }

  /// Gives back what is kept of threads of the schedule that have ended, for which nobody has waited.
  func detachThreads() {
    for (handle, thread) in ownThreads where thread.isJoinable && ended.contains(thread.object) {
      pthread_detach(pthread_t(handle))
    }
    ownThreads.removeAll(keepingCapacity: true)
  }

  /// Whom the operation starts or waits for, if that is a thread.
  func agent(ofThread operation: SynchronizationOperation) -> Int32? {
    guard operation.kind == .start || operation.kind == .join else { return nil }
    return ownThreads.values.first { $0.object == operation.object }?.agent
  }

  // MARK: What Foundation's threads keep

  /// What Foundation keeps of a `Thread`.
  ///
  /// Whether it is cancelled, executing or finished: nobody sees that read or changed. But after each step it is seen
  /// whether the step has changed it, and each step may have read it.
  struct SeenThread {
    let worker: Int
    private let bytes: UnsafeRawBufferPointer
    private var last: [UInt8]

    init(of object: UnsafeRawPointer, by worker: Int) {
      self.worker = worker
      // The first two words are the object's type and its count of owners.
      bytes = UnsafeRawBufferPointer(
        start: object + 16,
        count: max(0, size_of_object(object) - 16)
      )
      last = Array(bytes)
    }

    /// Whether it has changed since it was asked last.
    mutating func hasChanged() -> Bool {
      guard !last.elementsEqual(bytes) else { return false }
      last = Array(bytes)
      return true
    }
  }

  /// Notes at the end of a step what it may have found, and has changed.
  func noteFoundationThreads(_ touches: Touches) {
    if foundationThreads.isEmpty { return }
    var isWritten = false
    for index in foundationThreads.indices where foundationThreads[index].hasChanged() {
      isWritten = true
    }
    touches.note(object: Self.stateOfThreads, touch_of_runtime, isWritten: isWritten)
  }

  /// By what number the state of all of them is known; no object has it.
  private static let stateOfThreads = -1

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
