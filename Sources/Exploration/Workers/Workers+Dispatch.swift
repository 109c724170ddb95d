internal import Basics
internal import CExplorable

// Dispatch queues: each serial queue is one agent, and so is each block of a concurrent one. A block that is given to
// a queue becomes a thread that can begin when its turn has come; who calls `sync` waits for its turn, and does the
// work itself.

/// A block that was given to a queue, and what is to be done when it has run.
struct Work: @unchecked Sendable {
  // Safe: what is in it is touched by the one thread that runs the work, once.
  private let work: exploration_work
  /// Where it was given, if places are told.
  let place: [UInt]

  init(_ work: exploration_work, at place: [UInt]) {
    self.work = work
    self.place = place
  }

  /// Puts it behind what the calling thread has done: what it does acquires its block first.
  func order() { race_release(UInt(bitPattern: work.block)) }

  /// Runs it; points are open.
  func run() {
    work.run(work.block)
    work.after?(work.object)
  }

  /// Lets go of the queue, when all is done.
  func letGo() { work.let_go?(work.queue) }
}

extension Worker {
  /// A turn on a queue, or the wait for one.
  struct Turn {
    var queue: UInt
    /// Which queue it is in line at, by its address and its number.
    var root: UInt
    var object: Int
    var ticket: Int
    var hasCome: Bool

    init(in line: exploration_line, _ object: Int, _ ticket: Int, hasCome: Bool) {
      queue = line.queue
      root = line.root
      self.object = object
      self.ticket = ticket
      self.hasCome = hasCome
    }
  }
}

extension Workers {
  /// Work that waits for its turn, or for the end of a group.
  struct Waiting {
    var agent: Int32
    var body: @Sendable () -> Void
    var isOnMain: Bool
  }

  /// The work that the calling thread gives to a queue, with the place where it does if places are told.
  func told(_ work: exploration_work) -> Work {
    Work(work, at: run.executor.onWork == nil ? [] : SourceLines.here())
  }

  /// Puts the work in line at a queue.
  func give(_ work: Work, to line: exploration_line) {
    let (object, ticket, admitted) = join(line)
    let body: @Sendable () -> Void = {
      guard let me = Worker.current else { return }
      withoutPoints {
        me.turns.append(Worker.Turn(in: line, object, ticket, hasCome: true))
        me.workers.run.executor.onWork?(object, work.place)
        withUnsafePointer(to: line) { race_begin_turn($0) }
      }
      work.run()
      withoutPoints {
        withUnsafePointer(to: line) { race_end_turn($0) }
        me.workers.rejoin()
        me.workers.leaveLine(me)
        work.letGo()
      }
    }
    let agent = agent(of: object, isSerial: line.is_serial)
    waitingWork[ticket] = Waiting(agent: agent, body: body, isOnMain: line.is_main)
    admit(admitted)
  }

  /// Puts the work in line at a queue when so many nanoseconds have passed.
  func give(_ work: Work, to line: exploration_line, in time: Int64) {
    run.executor.sleep(time) { [unowned self] in give(work, to: line) }
  }

  /// Puts a timer's work in line at a queue when so many nanoseconds have passed, instead of what it was to do before;
  /// without work nothing.
  func give(
    _ work: Work?,
    to line: exploration_line?,
    by timer: UInt,
    in time: Int64,
    again isRepeated: Bool
  ) {
    let object = objects.number(at: timer)
    run.touches?.note(object: object, touch_of_queue)
    if let known = timers[timer] { run.executor.forget(alarm: known.alarm) }
    guard let work, let line else { return }
    let agent = timers[timer]?.agent ?? run.executor.newAgent()
    let alarm = run.executor.sleep(time, as: agent, inBackground: isRepeated) { [unowned self] in
      run.touches?.note(object: object, touch_of_queue)
      give(work, to: line)
    }
    timers[timer] = (agent, alarm)
  }

  /// Puts the work in line at a queue when a group has ended.
  func give(_ work: Work, to line: exploration_line, atEndOf group: UInt) {
    run.touches?.note(object: objects.number(at: group), touch_of_queue)
    afterGroups[objects.number(at: group), default: []].append((line, work))
  }

  func endGroup(_ group: UInt) {
    run.touches?.note(object: objects.number(at: group), touch_of_queue)
    for (line, work) in afterGroups.removeValue(forKey: objects.number(at: group)) ?? [] {
      if looksForRaces { work.order() }
      give(work, to: line)
    }
  }

  /// By which agent a queue does its next work.
  private func agent(of queue: Int, isSerial: Bool) -> Int32 {
    if isSerial, let agent = agentsOfQueues[queue] { return agent }
    let agent = run.executor.newAgent()
    if isSerial { agentsOfQueues[queue] = agent }
    return agent
  }

  private func join(_ line: exploration_line) -> (object: Int, ticket: Int, admitted: [Int]) {
    let object = objects.number(at: line.root)
    run.touches?.note(object: object, touch_of_queue)
    let (ticket, admitted) = lines.join(
      object,
      from: line.queue == line.root ? object : objects.number(at: line.queue),
      isSerial: line.is_serial,
      isAlone: line.is_alone
    )
    return (object, ticket, admitted)
  }

  /// Gets the worker's job in line at a queue; whether its turn has come.
  func join(_ line: exploration_line, by worker: Worker) -> Bool {
    let (object, ticket, admitted) = join(line)
    worker.turns.append(Worker.Turn(in: line, object, ticket, hasCome: false))
    waitingJobs[ticket] = worker
    admit(admitted)
    return worker.turns.last?.hasCome == true
  }

  /// Ends the worker's latest turn.
  func leaveLine(_ worker: Worker) {
    guard let turn = worker.turns.popLast() else { return }
    run.touches?.note(object: turn.object, touch_of_queue)
    admit(lines.leave(turn.object, turn.ticket))
  }

  /// Has the queue begin no more work, or go on with it.
  func suspend(_ queue: UInt, _ isSuspended: Bool) {
    let object = objects.number(at: queue)
    run.touches?.note(object: object, touch_of_queue)
    if isSuspended { lines.suspend(object) } else { admit(lines.resume(object)) }
  }

  /// Those in the middle whose turn it is on a queue.
  func holders(ofQueue object: Int) -> [Worker] {
    (paused + blocked).filter { worker in
      worker.turns.contains { $0.object == object && $0.hasCome }
    }
  }

  /// The queue on which each agent waits for its turn.
  var queuesWaitedFor: [Int32: Int] {
    let waits = paused.compactMap { worker in
      worker.turns.last.flatMap { $0.hasCome ? nil : (worker.choice.agent, $0.object) }
    }
    return Dictionary(waits) { first, _ in first }
  }

  /// Why the turn on a queue that a job waits for does not come, in words that follow the queue's name.
  ///
  /// - Parameters:
  ///   - turn: the turn.
  ///   - name: what an agent is called.
  /// - Returns: words, none if nothing is in the way.
  func obstacle(to turn: Worker.Turn, _ name: (Choice) -> String) -> String {
    let holders = holders(ofQueue: turn.object)
    let names = ListText.all(holders.map { name($0.choice) })
    let on = holders.isEmpty ? "" : ", which \(names) \(holders.count == 1 ? "is" : "are") on"
    switch lines.obstacle(before: turn.ticket, at: turn.object) {
    case .suspension: return ", which is suspended"
    case .barrier: return "\(on), behind a barrier"
    case nil: return on
    }
  }

  private func admit(_ tickets: [Int]) {
    for ticket in tickets {
      if let work = waitingWork.removeValue(forKey: ticket) {
        add(work)
      } else if let worker = waitingJobs.removeValue(forKey: ticket) {
        worker.turns[worker.turns.count - 1].hasCome = true
      }
    }
  }
}
