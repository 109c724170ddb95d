internal import Basics
internal import CExplorable
internal import ExplorableSynchronization

// What jobs are about to do, and who may.

extension Workers {
  /// The next random number of the code under study.
  func chance() -> UInt64 {
    run.touches?.noteChance()
    run.oneAnswer.noteChance()
    return random.next()
  }

  /// Nanoseconds since the schedule's beginning, for the code under study.
  func time() -> Int64 {
    run.oneAnswer.noteClock()
    return run.executor.now
  }

  private func isFree(_ object: Int) -> Bool { isNobodys(object) && !locks.isRead(object) }

  private func isReadable(_ object: Int) -> Bool {
    isNobodys(object) && !locks.isReservedForWriters(object)
  }

  /// Notes that a writer waits for a lock whose readers let writers in first, or no longer.
  func noteWriter(of object: Int, waits: Bool) {
    run.touches?.note(object: object)
    locks.noteWriter(object, waits: waits)
  }

  /// Whether nobody has the lock for himself.
  private func isNobodys(_ object: Int) -> Bool {
    if objects.isLockedForEver(object) { return false }
    let isHeld = locks.holder(of: object) != nil
    guard let address = objects.address(of: object), isHeld || locksInside.contains(address)
    else { return !isHeld }
    // A function that several object files have is linked once, from any of them: it may release a lock
    // unseen, where not all are instrumented. The lock itself knows.
    return !lock_is_taken(address)
  }

  /// Whether the worker's job has the lock.
  func holds(_ worker: Worker, _ object: Int) -> Bool {
    locks.holder(of: object)?.worker == worker.number
  }

  /// Notes that the worker's job waits for a signal.
  func beginWait(for condition: Int, by worker: Worker) {
    run.touches?.note(object: condition)
    conditions.beginWait(for: condition, by: worker.number)
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
    case .wait: return conditions.hasSignal(operation.object, for: worker.number)
    case .waitAWhile:
      return worker.isTimeOver || conditions.hasSignal(operation.object, for: worker.number)
    case .takePermit: return hasPermit(operation.object)
    case .takePermitInTime: return worker.isTimeOver || hasPermit(operation.object)
    case .turn: return worker.turns.last?.hasCome ?? true
    case .awaitGroup: return isGroupEmpty(operation.object)
    case .awaitGroupInTime: return worker.isTimeOver || isGroupEmpty(operation.object)
    case .tryLock, .tryReadLock, .load, .store, .update, .compare, .exchange, .unpark, .start,
      .signal, .broadcast, .tryPermit, .givePermit, .hop, .check, .cancel, .begin, .goOn,
      .enqueue, .giveWork, .suspendQueue, .changeTimer, .leaveGroup, .tryGroup, .register,
      .beginWait, .loadWeak,
      .enterGroup:
      return true
    case .sleep: return worker.isTimeOver
    }
  }

  /// Whether the worker has to stop before it releases the lock, even if it does nothing else while it has it: somebody
  /// has tried to take the lock, or is paused before that, and can see that it is taken.
  ///
  /// A task that takes the lock again and again until another has done something is not stopped: the other may need the
  /// lock for that.
  func standsBeforeRelease(of object: Int, by worker: Worker) -> Bool {
    if run.isExhausted(worker.choice.agent) { return false }
    return locks.isTried(object)
      || paused.contains {
        guard let operation = $0.operation, operation.object == object else { return false }
        return operation.kind == .tryLock || operation.kind == .tryReadLock
      }
  }

  /// Whether the worker has released the lock at an address so often, while somebody waits for it, that it has to be
  /// that one's turn: it asks for it again and again, and holds it wherever it can be made to pause.
  ///
  /// If so, it notes that the next step is that one's.
  func mustLetOthersTake(_ address: UInt, after worker: Worker) -> Bool {
    guard let object = objects.knownNumber(at: address),
      paused.contains(where: { $0.operation == SynchronizationOperation(.lock, object) })
    else { return false }
    guard locks.mustLetOthersTake(object, after: worker.choice.agent) else { return false }
    // Where it could go on at once, it would come here again and again.
    run.noteRetry(of: worker.choice)
    return true
  }

  /// Those whose wait has a limit, by where they are paused, the earliest only.
  func limited(before earliest: Int64) -> [(slot: Int, worker: Worker)] {
    let limited = paused.enumerated().filter { $0.element.isLimited && !isEnabled($0.element) }
    let earliest = limited.lazy.map(\.element.deadline).reduce(earliest, min)
    return limited.filter { $0.element.deadline == earliest }.map { ($0.offset, $0.element) }
  }

  /// Whether the semaphore has a permit: the real one is asked, for others than tasks may give one.
  private func hasPermit(_ object: Int) -> Bool {
    objects.address(of: object).map { semaphore_has_permit($0) } ?? true
  }

  private func isGroupEmpty(_ object: Int) -> Bool {
    objects.address(of: object).map { group_is_empty($0) } ?? true
  }

  /// Does in the model what `me` is about to do; whether it could.
  func apply(_ operation: SynchronizationOperation, by me: Worker) -> Bool {
    let object = operation.object
    run.noteKind(operation.kind)
    var isDone = true
    let effect: Rounds.Effect
    switch operation.kind {
    case .lock:
      locks.take(object, LockTable.Holder(worker: me.number, choice: me.choice))
      effect = .took
    case .tryLock:
      locks.noteTry(object)
      isDone = isFree(object)
      if isDone { locks.take(object, LockTable.Holder(worker: me.number, choice: me.choice)) }
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
      locks.takeToRead(object)
      effect = .took
    case .tryReadLock:
      locks.noteTry(object)
      isDone = isReadable(object)
      if isDone { locks.takeToRead(object) }
      effect = isDone ? .took : .looked
    case .wait, .waitAWhile:
      isDone = conditions.endWait(for: object, by: me.number)
      effect = isDone ? .wrote : .looked
    case .signal, .broadcast:
      conditions.signal(object, all: operation.kind == .broadcast)
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
    case .hop, .check, .cancel, .begin, .goOn, .register, .sleep, .loadWeak: return true
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
  func noteLock(at address: UInt) {
    locksInside.insert(address)
    guard looksForRaces else { return }
    let agent = run.executor.running
    if takersInside.updateValue(agent, forKey: address).map({ $0 != agent }) == true {
      run.sawLockInside = true
    }
  }

  /// Notes that such a lock is released, if it is one.
  func noteReleaseInside(at address: UInt) -> Bool {
    guard locksInside.remove(address) != nil else { return false }
    if let object = objects.knownNumber(at: address) { noteRelease(of: object) }
    return true
  }

  func noteRelease(of object: Int) {
    rejoin()
    run.touches?.note(object: object)
    if looksForRaces { race_release(Self.order(of: object)) }
    locks.release(object)
  }

  /// Notes that who has the lock for himself, or one of those who have it together, has released it.
  func noteSharedRelease(of object: Int, by worker: Worker) {
    rejoin()
    run.touches?.note(object: object)
    locks.releaseShared(object)
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
      let what = operation.kind.hasObject ? operation.objectName : "its turn"
      return "\(name(worker.choice)) waits for \(what)\(obstacle(to: operation, of: worker, name))"
    }
      + blocked.map { worker in
        let isCancelling = (paused + blocked).contains { $0.choice.isInterference }
        let reason =
          worker.isUnaccounted
          ? "in a call, and nothing that is explored will wake it"
          : isForAbsent(worker)
            ? "for a lock that a task holds which is on no thread: it waits for its turn"
            : isCancelling
              ? "in the runtime, which waits for a cancellation handler to end"
              : "for a lock inside of the runtime or of a library, which another holds: the runtime has one of a "
                + "task's while its cancellation handler runs, so do not resume a continuation under a lock that "
                + "such a handler takes"
        return "\(name(worker.choice)) sleeps \(reason)"
      }
  }

  /// Why the job cannot do what it is about to, in words that follow the object's name; none where that is not known.
  private func obstacle(
    to operation: SynchronizationOperation,
    of worker: Worker,
    _ name: (Choice) -> String
  ) -> String {
    if let holder = locks.holder(of: operation.object) {
      return ", which \(name(holder.choice)) holds"
    }
    if let agent = agent(ofThread: operation) {
      return " to end, which is \(name(Choice(.run, Int(agent))))"
    }
    if operation.kind == .turn, let turn = worker.turns.last { return obstacle(to: turn, name) }
    if objects.isLockedForEver(operation.object) { return ", which a schedule before left locked" }
    return locks.isRead(operation.object) ? ", which is taken for reading" : ""
  }

  /// Whether the job sleeps for a lock that was taken by one that has left its thread since.
  private func isForAbsent(_ worker: Worker) -> Bool {
    guard case .sleeps(_, let number) = worker.sleep else { return false }
    return byThread.withLock { $0[number] }.map { !$0.isPaused } ?? false
  }

  /// How many threads of the pool are taken by jobs that cannot go on.
  var threadsBlocked: Int {
    paused.count { $0.isOnPool && !isEnabled($0) } + blocked.count(where: \.isOnPool)
  }

  /// Who keeps these threads, of what is paused and of what sleeps.
  var agentsOnBlockedThreads: [Int32] {
    (paused.filter { $0.isOnPool && !isEnabled($0) } + blocked.filter(\.isOnPool)).map(
      \.choice.agent
    )
  }

  /// Whether some wait for locks in a circle, whatever others do.
  var hasCircle: Bool { locks.hasCircle(locksWaitedFor) }

  /// The two locks or queues, and who has each, where two wait for each other; nothing where none do.
  var heldInCircle: [LockTable.Holding] {
    locks.circleOfTwo(locksWaitedFor.merging(queuesWaitedFor) { lock, _ in lock }) { queue in
      let holders = holders(ofQueue: queue)
      return holders.count == 1 ? holders[0].choice.agent : nil
    }
  }

  /// The lock that each agent waits for.
  private var locksWaitedFor: [Int32: Int] {
    let waits = paused.lazy.filter { $0.operation?.kind == .lock }
      .map { ($0.choice.agent, $0.operation?.object ?? 0) }
    return Dictionary(waits) { first, _ in first }
  }

  /// Whether a thread that is not explored has signalled what a job waits for, since there were so many such signals.
  func isSignalled(fromOutsideSince count: UInt32) -> Bool {
    paused.contains { worker in
      guard let operation = worker.operation, operation.kind == .wait,
        let address = objects.address(of: operation.object)
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
