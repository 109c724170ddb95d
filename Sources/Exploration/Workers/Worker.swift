internal import Basics
internal import CExplorable
internal import ExplorableSynchronization
internal import Synchronization

/// A thread that jobs run on.
final class Worker: SynchronizationPart, @unchecked Sendable {
  // Safe: touched with the baton only, but for what is atomic, and for what a thread that was called
  // blocked writes before it says that it has come back.

  /// Owned, as the run is by them.
  let workers: Workers
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
    return workers.objects.number(of: identity)
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
      let goesOn = workers.isEnabled(self) && (hasRejoined || workers.passesPoint(self))
      if !goesOn { workers.pause(self, before: operation) }
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
    return pause(beforeAny: SynchronizationOperation(kind, workers.objects.number(at: address)))
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

  func standsBeforeRelease(of object: Int) -> Bool {
    withoutPoints { workers.standsBeforeRelease(of: object, by: self) }
  }

  func noteRelease(of object: Int) { withoutPoints { workers.noteRelease(of: object) } }

  func start(_ thread: Int, _ body: @escaping @Sendable () -> Void) {
    withoutPoints { workers.start(thread, body) }
  }
}
