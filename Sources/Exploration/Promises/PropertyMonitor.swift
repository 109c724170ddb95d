internal import Basics

/// Watches one schedule for broken promises.
///
/// A value type fed with what tasks report and what the driver does; it keeps the first violation. A
/// permit that rests while somebody waits is kept apart: what comes of it (a lost wake-up, say) tells
/// more, and counts first.
struct PropertyMonitor {
  enum Phase: UInt8 {
    /// Not arrived.
    case outside
    case waiting
    case running
    /// Departed, left or rejected.
    case done
  }

  struct TaskState {
    var phase = Phase.outside
    var isCancelled = false
    /// Was cancelled while it waited and nobody had handed it a permit.
    var mustNotRun = false
    /// The task's coroutine has returned.
    var hasEnded = false
    var arrival: Int32 = 0
    /// How many had arrived when its place in the line was settled.
    var settled = Int32.max
    var overtaken: Int32 = 0
    var isRejected = false
    /// How many of its visits were admitted.
    var served: Int32 = 0
  }

  private let promises: Scenario.Promises
  private let startLimit: Int
  private let visits: Int
  private let simulated: Int
  private let inside: Bool
  private(set) var limit: Int
  /// Index 0 is nobody; behind the simulated tasks come those that try the permits at the end.
  private(set) var tasks: [TaskState]
  private var arrivals: Int32 = 0
  private(set) var running = 0
  private(set) var waiting = 0
  private(set) var ended = 0
  private(set) var violation: Violation?
  /// A permit that rested while somebody waited.
  private var idle: Violation?

  init(_ scenario: Scenario) {
    startLimit = scenario.limit ?? .max
    limit = startLimit
    promises = scenario.promises
    visits = scenario.visits
    simulated = scenario.tasks
    inside = scenario.inside
    tasks = Array(repeating: TaskState(), count: scenario.tasks + scenario.probes + 1)
  }

  /// Starts anew, with the same promises.
  mutating func reset() {
    for index in tasks.indices { tasks[index] = TaskState() }
    limit = startLimit
    arrivals = 0
    running = 0
    waiting = 0
    ended = 0
    violation = nil
    idle = nil
  }

  // MARK: What happens

  mutating func observe(_ observation: Observation, _ task: Int) {
    guard tasks.indices.contains(task), task > 0 else {
      fatalError("task \(task) reported, but the scenario's tasks are 1 to \(simulated)")
    }
    switch observation {
    case .arrived:
      arrivals += 1
      tasks[task].arrival = arrivals
      tasks[task].settled = inside ? .max : arrivals
      enter(.waiting, task)
    case .admitted: admit(task)
    case .holdsConnection, .holdsFile: break
    case .cancelledRunning:
      enter(.done, task)
      noteWrongCancellation(of: task, "its body was told that it is cancelled")
    case .cancelledWaiting:
      let wasWaiting = tasks[task].phase == .waiting
      if wasWaiting { enter(.done, task) }
      noteWrongCancellation(
        of: task,
        wasWaiting
          ? "it was turned away as if it were cancelled"
          : "its body had ended, and the limiter told it that it is cancelled"
      )
    case .finished, .failed: enter(.done, task)
    case .rejected:
      // Told why, by an error that is not the limiter's: what a pool's builder threw, say.
      enter(.done, task)
      tasks[task].isRejected = true
    case .lostResult:
      fail(
        .notServed,
        [task],
        "\(Self.name(task)) was not told how its body ended: the limiter returned something else"
      )
    }
  }

  /// Notes that a task has come to its end or its first suspension since it arrived.
  ///
  /// Where tasks stop inside code, one that arrived may not be in the line yet: who comes meanwhile
  /// overtakes nobody.
  mutating func noteSettled(_ task: Int) {
    if tasks[task].phase == .waiting { tasks[task].settled = min(tasks[task].settled, arrivals) }
  }

  /// Notes that the limit is another one from now on; bodies in service stay.
  mutating func noteLimit(_ limit: Int) { self.limit = limit }

  mutating func noteEnd(of task: Int) {
    if tasks[task].hasEnded { return }
    noteLateEnd(of: task)
    let state = tasks[task]
    guard !state.isCancelled, !state.isRejected, promises.service, state.served < visits else {
      return
    }
    fail(
      .notServed,
      [task],
      "\(Self.name(task)) was not cancelled, and its body "
        + (visits == 1 ? "never ran" : "ran \(state.served) times for \(visits) visits")
    )
  }

  /// Notes an end that counts for no promise: the schedule is over.
  mutating func noteLateEnd(of task: Int) {
    if tasks[task].hasEnded { return }
    tasks[task].hasEnded = true
    ended += 1
  }

  /// Notes the cancellation, just before it takes effect.
  ///
  /// - Parameters:
  ///   - task: who is cancelled.
  ///   - isHandOffPossible: whether somebody may already be on the way with a permit.
  mutating func noteCancellation(of task: Int, isHandOffPossible: Bool) {
    tasks[task].isCancelled = true
    if tasks[task].phase == .waiting, !isHandOffPossible { tasks[task].mustNotRun = true }
  }

  /// Notes that a step has ended, with `isParked` telling which tasks nobody is about to resume.
  mutating func noteParkedCancelled(isParked: (Int) -> Bool) {
    for task in tasks.indices.dropFirst()
    where tasks[task].isCancelled && tasks[task].phase == .waiting && !tasks[task].mustNotRun {
      if isParked(task) { tasks[task].mustNotRun = true }
    }
  }

  /// Notes what was found elsewhere.
  mutating func note(_ found: Violation) { if violation == nil { violation = found } }

  mutating func noteDoubleResume(_ what: String) {
    fail(.doubleResume, [], "\(what) was resumed twice")
  }

  mutating func noteLivelock(_ retrying: [Int]) {
    fail(
      .livelock,
      retrying,
      "\(Self.names(retrying)) \(retrying.count == 1 ? "retries" : "retry") for ever: each had its turn "
        + "again and again, and nothing happens any more"
    )
  }

  // MARK: Judgements

  /// Whether some permit is free while somebody not cancelled waits.
  var mayHaveIdlePermit: Bool {
    promises.workConservation && idle == nil && waiting > 0 && running < limit
  }

  /// Notes that nothing is under way that could bring a free permit to who waits.
  mutating func noteQuiet(isParked: (Int) -> Bool) {
    let waiters = tasks.indices.dropFirst().filter {
      tasks[$0].phase == .waiting && !tasks[$0].isCancelled && isParked($0)
    }
    if waiters.isEmpty { return }
    idle = Violation(
      kind: .idlePermit,
      message:
        "\(Self.names(waiters)) \(waiters.count == 1 ? "waits" : "wait") though a permit is free: "
        + "\(running) running, limit \(limit)",
      tasks: waiters
    )
  }

  /// Judges a schedule in which nothing can run any more.
  mutating func judgeRest(permitsInUse: Int?) {
    let left = (1...simulated).filter { !tasks[$0].hasEnded }
    if left.isEmpty {
      if let permitsInUse, permitsInUse != 0 {
        fail(
          .permitLeak,
          [],
          "every task has ended, and \(permitsInUse) \(permitsInUse == 1 ? "permit is" : "permits are") "
            + "still in use"
        )
      }
      return
    }
    let waiters = left.filter { tasks[$0].phase == .waiting }
    let inService = left.filter { tasks[$0].phase == .running }
    if waiters.count == left.count {
      let names = Self.names(waiters)
      let verb = waiters.count == 1 ? "waits" : "wait"
      if let kind = promises.whenAllWait {
        fail(kind, waiters, "\(names) \(verb) for ever for each other")
      } else if let permitsInUse, permitsInUse > 0 {
        fail(
          .permitLeak,
          waiters,
          "\(names) \(verb) for ever: no body is in service, yet \(permitsInUse) of \(limit) permits "
            + "are in use"
        )
      } else {
        fail(.lostWakeUp, waiters, "\(names) \(verb) for ever though no body is in service")
      }
    } else if inService.isEmpty {
      fail(.deadlock, left, "\(Self.names(left)) cannot return")
    } else {
      let others = waiters.isEmpty ? "" : ", and \(Self.names(waiters)) behind"
      fail(.deadlock, left, "\(Self.names(inService)) in service can never go on\(others)")
    }
  }

  /// Judges a schedule in which jobs in the middle can never go on.
  mutating func judgeStuck(_ stuck: [String]) {
    fail(
      .deadlock,
      (1...simulated).filter { !tasks[$0].hasEnded },
      stuck.joined(separator: "; ")
    )
  }

  /// Judges how many of the tasks that tried the permits at the end were let in, none waiting for
  /// another's end.
  mutating func judgeProbes(_ count: Int) {
    let served = tasks[(simulated + 1)...].count { $0.served > 0 }
    guard served < count else { return }
    fail(
      .permitLeak,
      [],
      "every task has ended, and only \(served) of \(count) permits can be taken"
    )
  }

  /// Ends the schedule: a permit that rested counts now, nothing graver having come of it.
  mutating func close() {
    if violation == nil { violation = idle }
  }

  // MARK: Admission

  private mutating func admit(_ task: Int) {
    guard tasks[task].phase == .waiting else {
      let why = tasks[task].phase == .outside ? "ran before the task arrived" : "ran a second time"
      return fail(.ranTwice, [task], "the body of \(Self.name(task)) \(why)")
    }
    tasks[task].served += 1
    enter(.running, task)
    if running > limit {
      fail(.overAdmission, [task], "\(running) running, limit \(limit)")
    }
    if promises.cancelledWaitersNeverRun, tasks[task].mustNotRun {
      fail(
        .ranAfterCancel,
        [task],
        "\(Self.name(task)) was cancelled while it waited, and its body ran"
      )
    }
    if promises.order || promises.overtakingBound != nil { noteOvertaken(by: task) }
  }

  /// Judges overtaking by counting.
  ///
  /// A task that arrived earlier and waits may have been handed a
  /// permit and only not have run yet. But all bodies in service and all such tasks together cannot
  /// have more permits than there are.
  private mutating func noteOvertaken(by task: Int) {
    var earlier: [Int] = []
    for other in tasks.indices.dropFirst()
    where tasks[other].phase == .waiting && !tasks[other].isCancelled
      && tasks[other].settled < tasks[task].arrival
    {
      earlier.append(other)
      tasks[other].overtaken += 1
      if let bound = promises.overtakingBound, tasks[other].overtaken > bound {
        let times = "\(tasks[other].overtaken) times, promised at most \(bound)"
        let how = bound == 0 ? "by \(Self.name(task)), which arrived later" : times
        fail(.overtaken, [other, task], "\(Self.name(other)) was overtaken \(how)")
      }
    }
    if promises.order, !earlier.isEmpty, running + earlier.count > limit {
      fail(
        .order,
        [task] + earlier,
        "\(Self.name(task)) was admitted before \(Self.names(earlier)), which arrived earlier"
      )
    }
  }

  private mutating func noteWrongCancellation(of task: Int, _ how: String) {
    if tasks[task].isCancelled { return }
    fail(.cancelledWrongly, [task], "nobody cancelled \(Self.name(task)), but \(how)")
  }

  private mutating func enter(_ phase: Phase, _ task: Int) {
    switch tasks[task].phase {
    case .running: running -= 1
    case .waiting: waiting -= 1
    case .outside, .done: break
    }
    switch phase {
    case .running: running += 1
    case .waiting: waiting += 1
    case .outside, .done: break
    }
    tasks[task].phase = phase
  }

  private mutating func fail(_ kind: Violation.Kind, _ tasks: [Int], _ message: String) {
    note(Violation(kind: kind, message: message, tasks: tasks))
  }

  static func name(_ task: Int) -> String { TaskLabel.text(task, amongst: 0) }

  private static func names(_ tasks: [Int]) -> String {
    ListText.all(tasks.map(name))
  }
}
