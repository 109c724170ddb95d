internal import Basics

/// Watches one schedule for broken promises.
///
/// A value type fed with what tasks report and what the driver does; it keeps the first violation.
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
    var overtaken: Int32 = 0
  }

  private let limit: Int
  private let promises: Scenario.Promises
  /// Index 0 is nobody.
  private(set) var tasks: [TaskState]
  private var arrivals: Int32 = 0
  private(set) var running = 0
  private(set) var waiting = 0
  private(set) var ended = 0
  private(set) var violation: Violation?

  init(_ scenario: Scenario) {
    limit = scenario.limit ?? .max
    promises = scenario.promises
    tasks = Array(repeating: TaskState(), count: scenario.tasks + 1)
  }

  /// Starts anew, with the same promises.
  mutating func reset() {
    for index in tasks.indices { tasks[index] = TaskState() }
    arrivals = 0
    running = 0
    waiting = 0
    ended = 0
    violation = nil
  }

  mutating func observe(_ observation: Observation, _ task: Int) {
    precondition(
      tasks.indices.contains(task) && task > 0,
      "task \(task) reported, but the scenario's tasks are 1 to \(tasks.count - 1)"
    )
    switch observation {
    case .arrived:
      arrivals += 1
      tasks[task].arrival = arrivals
      enter(.waiting, task)
    case .admitted: admit(task)
    case .finished, .failed, .cancelledRunning, .cancelledWaiting, .rejected: enter(.done, task)
    }
  }

  mutating func noteEnd(of task: Int) {
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

  mutating func noteDoubleResume(_ what: String) {
    fail(.doubleResume, [], "\(what) was resumed twice")
  }

  /// Judges a schedule in which nothing can run any more.
  mutating func judgeRest(permitsInUse: Int?) {
    let left = tasks.indices.dropFirst().filter { !tasks[$0].hasEnded }
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

  private mutating func admit(_ task: Int) {
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
      && tasks[other].arrival < tasks[task].arrival
    {
      earlier.append(other)
      tasks[other].overtaken += 1
      if let bound = promises.overtakingBound, tasks[other].overtaken > bound {
        fail(
          .starvation,
          [other, task],
          "\(Self.name(other)) was overtaken \(tasks[other].overtaken) times, promised at most \(bound)"
        )
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
    if violation == nil { violation = Violation(kind: kind, message: message, tasks: tasks) }
  }

  static func name(_ task: Int) -> String { TaskLabel.text(task, amongst: 0) }

  private static func names(_ tasks: [Int]) -> String {
    ListText.all(tasks.map(name))
  }
}
