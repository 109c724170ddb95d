internal import Basics
internal import ExplorableSynchronization
internal import Glibc
internal import Synchronization

/// How a job can stop in the middle.
///
/// A job that stops between two of its operations keeps its stack, so jobs run on threads of their own,
/// the carriers. One of them has the baton at any moment: it chooses what happens next, and does it
/// itself if it can. Before an operation on a lock or an atomic it chooses too; if its own job goes on,
/// nothing is handed over, which is why staying with an agent costs no switch. Else its job stands, and
/// the baton goes to the carrier whose job goes on, or to an idle one that begins another.
///
/// The home, on which the exploration was called, has the baton between drives. During one it only
/// watches. A job can block in the runtime: while a cancellation handler of a task runs, resuming that
/// task waits for the handler's end. If the baton does not move, something else stands in the middle of
/// a job, and the leader sleeps in the kernel, then the home calls it blocked and takes the baton. A
/// blocked job that comes back stands before its next operation; the leader waits for it at the end of
/// the step that freed it, so what happens stays the same each time.
final class Carriers: @unchecked Sendable {
  // Safe: all but what is atomic or behind a lock is touched by the thread that has the baton only. It
  // is handed over through semaphores, which carry memory along.

  /// How a thread that has been called is to go on.
  enum Order {
    /// Make this option happen, then lead.
    case perform(ScheduleRun.Option)
    /// Go on with the job that stands.
    case goOn
    case leave
  }

  unowned let run: ScheduleRun
  /// Jobs in the middle, waiting to be chosen, in the order in which they stopped.
  private(set) var standing: [Carrier] = []
  /// Jobs that sleep in the runtime.
  private(set) var blocked: [Carrier] = []
  /// Threads started by the code under study that have not begun.
  private(set) var threads: [(agent: Int32, object: Int, body: @Sendable () -> Void)] = []
  /// Carriers given up with their jobs, for ever.
  private(set) var lost = 0
  private var idle: [Carrier] = []
  private var made: [Carrier] = []
  /// Who holds each lock.
  private var holders: [Int: Carrier] = [:]
  /// Parkers with a wake-up to come.
  private var wakeUps: Set<Int> = []
  /// Threads that have ended.
  private var ended: Set<Int> = []
  private var objects = 0
  private var schedule: UInt32 = 0
  private var choose: ((ScheduleRun) -> Int?)?
  private let home = ThreadSemaphore()
  /// The key of the carrier that has the baton; 0 for none or the home.
  private let leader = Synchronization.Atomic<UInt>(0)
  /// 0: nothing stands in the middle; 1: something does; 2: a cancellation does.
  private let middle = Synchronization.Atomic<Int>(0)
  /// Rises whenever the leader does something.
  private let pulse = Synchronization.Atomic<Int>(0)
  /// Jobs that blocked carriers made ready as they came back.
  private let inbox = Synchronization.Mutex<
    [(carrier: Int, job: UnownedJob, origin: ExplorationExecutor.Origin)]
  >([])

  private static let schedules = Synchronization.Atomic<UInt32>(0)

  init(_ run: ScheduleRun) {
    self.run = run
    noteExploration(isUnderWay: true)
  }

  /// Whether some job is in the middle.
  var isBusy: Bool { !standing.isEmpty || !blocked.isEmpty }

  /// Forgets the objects and threads of the schedule before.
  func begin() {
    schedule = Self.schedules.add(1, ordering: .relaxed).newValue
    objects = 0
    holders.removeAll(keepingCapacity: true)
    wakeUps.removeAll(keepingCapacity: true)
    ended.removeAll(keepingCapacity: true)
    threads.removeAll(keepingCapacity: true)
  }

  /// Ends the threads.
  func close() {
    for carrier in idle { give(carrier, .leave) }
    for carrier in idle { carrier.thread?.join() }
    idle = []
    made = []
    noteExploration(isUnderWay: false)
  }

  // MARK: Handing over

  /// Makes what `choose` chooses happen, until it chooses nothing; on the home.
  func drive(_ choose: @escaping (ScheduleRun) -> Int?) {
    self.choose = choose
    if let option = next() {
      dispatch(option)
      watch()
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
    if option.source == .standing {
      let carrier = standing.remove(at: option.slot)
      give(carrier, .goOn)
    } else {
      give(helper(), .perform(option))
    }
  }

  private func give(_ carrier: Carrier, _ order: Order) {
    leader.store(0, ordering: .releasing)
    carrier.order = order
    carrier.seat.post()
  }

  /// Waits to be called; the thread has the baton then.
  private func wait(_ me: Carrier) {
    me.seat.wait()
    pulse.add(1, ordering: .relaxed)
    leader.store(me.key, ordering: .releasing)
  }

  private func helper() -> Carrier {
    if let carrier = idle.popLast() { return carrier }
    let carrier = Carrier(self, made.count + 1)
    made.append(carrier)
    carrier.thread = OSThread {
      carrier.begin()
      GlobalPoolHook.setCurrent(self.run.executor)
      while true {
        self.wait(carrier)
        guard case .perform(let option) = carrier.order else { return }
        self.lead(carrier, option)
      }
    }
    return carrier
  }

  /// Performs `first` and goes on choosing, until the baton goes elsewhere.
  private func lead(_ me: Carrier, _ first: ScheduleRun.Option) {
    var option = first
    while true {
      perform(option, on: me)
      guard has(me) else { return me.comeBack(finished: true) }
      run.endStep(option.choice, stood: nil)
      guard let following = next() else {
        idle.append(me)
        return goHome()
      }
      if following.source == .standing {
        idle.append(me)
        return dispatch(following)
      }
      option = following
    }
  }

  private func goHome() {
    leader.store(0, ordering: .releasing)
    home.post()
  }

  /// Whether the carrier has the baton; else it was called blocked.
  private func has(_ me: Carrier) -> Bool { leader.load(ordering: .acquiring) == me.key }

  // MARK: What happens

  private func perform(_ option: ScheduleRun.Option, on me: Carrier) {
    let executor = run.executor
    me.choice = option.choice
    me.interrupted = nil
    pulse.add(1, ordering: .releasing)
    switch option.source {
    case .ready:
      executor.perform(executor.pick(readyAt: option.slot)) { has(me) }
    case .sleeper:
      executor.pick(sleeperAt: option.slot).resume()
    case .thread:
      let thread = threads.remove(at: option.slot)
      executor.enter(thread.agent)
      thread.body()
      rejoin()
      ended.insert(thread.object)
    case .outside:
      me.interrupted = run.last
      executor.enter(0)
      run.interfere(option.choice)
    case .standing: preconditionFailure("a job that stands goes on where it is")
    }
    if has(me) { executor.enter(0) }
  }

  /// Stands before an operation until it is chosen; `has` been called blocked or leads.
  func stand(_ me: Carrier, before operation: SynchronizationOperation?) {
    me.operation = operation
    if has(me) {
      me.frame = run.executor.frame
      me.choice = run.executor.choiceOfCurrentCode(orElse: me.choice)
      standing.append(me)
      run.endStep(me.choice, stood: me)
      if let option = next() {
        if option.source == .standing, standing[option.slot] === me {
          standing.remove(at: option.slot)
          run.executor.frame = me.frame
          pulse.add(1, ordering: .releasing)
          return
        }
        me.interrupted = nil
        dispatch(option)
      } else {
        goHome()
      }
    } else {
      me.choice = run.executor.choiceOfCurrentCode(orElse: me.choice)
      me.comeBack(finished: false)
    }
    wait(me)
    run.executor.frame = me.frame
  }

  /// Waits for the baton where a job that was called blocked goes on to something that can be seen.
  func rejoin() {
    guard let me = Carrier.current, me.carriers === self, !has(me) else { return }
    stand(me, before: nil)
  }

  /// Takes a job that came from a carrier; false if it did not.
  func post(_ job: UnownedJob, from origin: ExplorationExecutor.Origin) -> Bool {
    guard let me = Carrier.current, me.carriers === self else { return false }
    pulse.add(1, ordering: .releasing)
    if has(me) {
      run.executor.admit(job, from: origin)
    } else {
      inbox.withLock { $0.append((me.number, job, origin)) }
    }
    return true
  }

  // MARK: Blocked in the runtime

  /// How often in a row the leader must be found asleep: with a cancellation handler in the middle that
  /// is likely; else another thread of the process may have what it waits for, for as long as it takes
  /// to get a processor.
  private static let looks = (inHandler: 4, elsewhere: 300)

  /// Notes what stands in the middle, for the watch.
  func noteMiddle() {
    let isInHandler = (standing + blocked).contains { !$0.choice.kind.isOwn }
    middle.store(!isBusy ? 0 : isInHandler ? 2 : 1, ordering: .releasing)
  }

  /// Waits on the home for the end of the drive.
  private func watch() {
    var before: (leader: UInt, pulse: Int) = (0, 0)
    var count = 0
    while !home.wait(atMost: 100_000) {
      let now = (leader: leader.load(ordering: .acquiring), pulse: pulse.load(ordering: .acquiring))
      defer { before = now }
      let middle = middle.load(ordering: .acquiring)
      guard now.leader != 0, now == before, middle != 0, isStuck(now.leader) else {
        count = 0
        continue
      }
      count += 1
      guard count >= (middle == 2 ? Self.looks.inHandler : Self.looks.elsewhere),
        pulse.load(ordering: .acquiring) == now.pulse,
        leader.compareExchange(
          expected: now.leader,
          desired: 0,
          ordering: .acquiringAndReleasing
        ).exchanged, let carrier = made.first(where: { $0.key == now.leader })
      else { continue }
      count = 0
      carrier.frame = run.executor.frame
      blocked.append(carrier)
      run.endStep(carrier.choice, stood: carrier)
      guard let option = next() else { return }
      dispatch(option)
    }
  }

  /// Whether the carrier of that key sleeps though it has the baton; asked without having it.
  private func isStuck(_ key: UInt) -> Bool {
    // Alive: a carrier lives as long as the exploration, which this thread is in.
    guard let pointer = UnsafeRawPointer(bitPattern: key) else { return false }
    return Unmanaged<Carrier>.fromOpaque(pointer).takeUnretainedValue().isAsleep
  }

  /// Waits until each blocked job either still sleeps or has come back and stands or ended.
  ///
  /// `patiently` where nothing else can go on: longer than another thread of the process could keep it.
  func settle(patiently: Bool = false) {
    if blocked.isEmpty { return }
    let end = patiently ? ContinuousClock.now + .milliseconds(20) : nil
    for carrier in blocked {
      var looks = 0
      while !carrier.hasComeBack {
        if carrier.isAsleep {
          looks += 1
          // Awake meanwhile, or the watch would take this thread for a blocked one.
          if let end, ContinuousClock.now < end { sched_yield() } else if looks > 2 { break }
        } else {
          looks = 0
          sched_yield()
        }
      }
    }
    let back = blocked.filter(\.hasComeBack)
    if back.isEmpty { return }
    blocked.removeAll { $0.hasComeBack }
    let jobs = inbox.withLock { inbox in
      defer { inbox = [] }
      return inbox.sorted { $0.carrier < $1.carrier }
    }
    let frame = run.executor.frame
    for (number, job, origin) in jobs {
      if let carrier = back.first(where: { $0.number == number }) {
        run.executor.frame = carrier.frame
      }
      run.executor.admit(job, from: origin)
    }
    run.executor.frame = frame
    for carrier in back.sorted(by: { $0.number < $1.number }) {
      if carrier.takeUp() { idle.append(carrier) } else { standing.append(carrier) }
    }
  }

  /// Gives up the jobs that can never go on, with their threads.
  func abandon() {
    lost += standing.count + blocked.count
    for carrier in standing + blocked { carrier.thread?.detach() }
    standing = []
    blocked = []
  }

  /// How many can be given up before an exploration ends: each costs a thread.
  static let mostLost = 500

  // MARK: Operations

  func number(of identity: borrowing ObjectIdentity) -> Int {
    if let number = identity.number(in: schedule) { return number }
    objects += 1
    identity.set(objects, in: schedule)
    return objects
  }

  /// Whether the job can go on.
  func isEnabled(_ carrier: Carrier) -> Bool {
    guard let operation = carrier.operation else { return true }
    switch operation.kind {
    case .lock: return holders[operation.object] == nil
    case .park: return wakeUps.contains(operation.object)
    case .join: return ended.contains(operation.object)
    case .tryLock, .load, .store, .update, .compare, .unpark, .start: return true
    }
  }

  /// Does in the model what `me` is about to do; false for a lock that is taken.
  func apply(_ operation: SynchronizationOperation, by me: Carrier) -> Bool {
    switch operation.kind {
    case .lock: holders[operation.object] = me
    case .tryLock:
      if holders[operation.object] != nil { return false }
      holders[operation.object] = me
    case .park: wakeUps.remove(operation.object)
    case .unpark: wakeUps.insert(operation.object)
    case .load, .store, .update, .compare, .start, .join: break
    }
    run.noteOperation(isLook: operation.isLook, by: me.choice)
    return true
  }

  func noteRelease(of object: Int) {
    rejoin()
    holders[object] = nil
  }

  func start(_ object: Int, _ body: @escaping @Sendable () -> Void) {
    rejoin()
    threads.append((run.executor.newAgent(), object, body))
  }

  /// What each job in the middle waits for, in words.
  var stuck: [(choice: Choice, waitsFor: String)] {
    standing.map { carrier in
      guard let operation = carrier.operation else { return (carrier.choice, "nothing") }
      let holder = holders[operation.object].map { ", which \($0.choice.actorName) holds" } ?? ""
      return (carrier.choice, "waits for \(operation.objectName)\(holder)")
    }
      + blocked.map {
        ($0.choice, "sleeps in the runtime, which waits for a cancellation handler to end")
      }
  }
}

/// A thread that jobs run on.
final class Carrier: SynchronizationPart, @unchecked Sendable {
  // Safe: touched with the baton only, but for what is atomic, and for what a thread that was called
  // blocked writes before it says that it has come back.

  unowned let carriers: Carriers
  /// From 1.
  let number: Int
  let seat = ThreadSemaphore()
  var order = Carriers.Order.goOn
  var thread: OSThread?
  /// By what choice the job goes on.
  var choice = Choice(.run, 0)
  /// What it is about to do.
  var operation: SynchronizationOperation?
  /// What the executor kept of the job.
  var frame = ExplorationExecutor.Frame()
  /// Who had the turn when the driver interfered; nil once somebody else had it.
  var interrupted: ScheduleRun.Turn?
  /// 0: not come back; 1: stands; 2: its job has ended.
  private let back = Synchronization.Atomic<Int>(0)
  private var box: PartBox?
  private var stat: Int32 = -1

  init(_ carriers: Carriers, _ number: Int) {
    self.carriers = carriers
    self.number = number
  }

  deinit { if stat >= 0 { close(stat) } }

  /// Makes the calling thread the carrier's.
  func begin() {
    let box = PartBox(self)
    self.box = box
    box.enter()
    stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
  }

  /// The carrier whose thread this is.
  static var current: Carrier? { currentPart as? Carrier }

  /// What the leader is known by.
  var key: UInt { UInt(bitPattern: Unmanaged.passUnretained(self).toOpaque()) }

  /// Whether the thread sleeps in the kernel.
  var isAsleep: Bool {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { bytes in
      let count = pread(stat, bytes.baseAddress, bytes.count, 0)
      guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count
      else { return false }
      return bytes[end + 2] == UInt8(ascii: "S")
    }
  }

  // MARK: Coming back from the runtime

  var hasComeBack: Bool { back.load(ordering: .acquiring) != 0 }

  /// Says that a job called blocked has come back, and stands now or has ended.
  func comeBack(finished: Bool) { back.store(finished ? 2 : 1, ordering: .releasing) }

  /// Whether the job that came back has ended; it is not blocked any more.
  func takeUp() -> Bool { back.exchange(0, ordering: .acquiringAndReleasing) == 2 }

  // MARK: Operations

  func number(of identity: borrowing ObjectIdentity) -> Int { carriers.number(of: identity) }

  func stand(before operation: SynchronizationOperation) -> Bool {
    carriers.stand(self, before: operation)
    return carriers.apply(operation, by: self)
  }

  func noteRelease(of object: Int) { carriers.noteRelease(of: object) }

  func start(_ thread: Int, _ body: @escaping @Sendable () -> Void) {
    carriers.start(thread, body)
  }
}
