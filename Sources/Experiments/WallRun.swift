internal import Basics
internal import Foundation
internal import Limiters
package import Mechanisms
internal import WorkStealing

/// A run on the wall clock, under way.
///
/// A thread of its own keeps the agenda: it sleeps to the next arrival and starts that visit
/// immediately, so that visits enter the mechanism in the order of their arrival, however busy the
/// pool is. Each visit is a task that may be cancelled by number. On lanes a visit begins on a worker:
/// the visits enter in the order in which workers take them.
package final class WallRun: LiveRun {
  /// A visit that has been started and has not ended.
  private enum VisitState {
    /// Its task is being made and may be running already.
    case starting
    case cancelledWhileStarting
    case running(Task<Void, Never>)
  }

  private struct State {
    var plan: [SimulatedTask] = []
    var agenda = Agenda()
    /// The visits under way, by task number.
    var visits: [Int: VisitState] = [:]
    /// Cancelled before they arrived.
    var cancelledEarly: Set<Int> = []
    /// Who ran as the run was stopped, to be cancelled once nobody is starting.
    var cancelledLast: [Task<Void, Never>] = []
    /// How many visits have come to the mechanism.
    var arrived = 0
    /// Who wants to know when the mechanism has been given so many tasks.
    var whenGiven: [(count: Int, waiter: CheckedContinuation<Void, Never>)] = []
    /// How many visits have ended.
    var ended = 0
    /// How many tasks there were when somebody last wanted to know when all is done.
    var wantsCompletionOf = 0
    /// How many of them the mechanism was asked about, and when it said that they are done.
    var askedForCompletionOf = 0
    var completion: Task<Int64, Never>?
    /// No more tasks will be given.
    var closed = false
    /// The agenda's thread has done all it will do.
    var allStarted = false
    var stoppedBecause: String?
    var whenEnded: CheckedContinuation<Void, Never>?

    var allEnded: Bool { allStarted && visits.isEmpty }

    /// Those to be cancelled last, if their time has come.
    mutating func takeCancelledLast() -> [Task<Void, Never>] {
      let isSomebodyStarting = visits.values.contains {
        if case .running = $0 { false } else { true }
      }
      if isSomebodyStarting { return [] }
      defer { cancelledLast = [] }
      return cancelledLast
    }
  }

  package let experiment: Experiment
  private let mechanism: any Mechanism
  /// What runs the visits; nil for the global pool.
  private let lanes: WorkStealingExecutor?
  private let steering: Steering
  private let recorder: TraceRecorder
  private let world: WallWorld
  private let site: RealSite
  private let state = Lock(State())
  /// Wakes the agenda's thread before its time.
  private let bell = DispatchSemaphore(value: 0)

  /// How many of its tasks may be at work at once: without a limit it depends on when they come, and what is too many
  /// for the machine is a part of what such a run shows.
  private static func mostAtOnce(_ experiment: Experiment) -> Int {
    let most =
      switch experiment.mechanism.profile.limit {
      case .any: experiment.limit
      case .one: 1
      case .none: 64
      }
    return min(experiment.workload.count, most)
  }

  /// Opens a run; its clock starts now.
  package init(_ experiment: Experiment) {
    self.experiment = experiment
    lanes =
      switch experiment.executor {
      case .global: nil
      case .lanes(let workers): WorkStealingExecutor(workers: workers, name: "lane")
      }
    mechanism = experiment.mechanism.make(
      MechanismSetup(limit: experiment.limit, executor: lanes)
    )
    let start = MachineClock.monotonic()
    let clock = WallTraceSource(start: start)
    recorder = TraceRecorder(source: lanes == nil ? clock : LanesTraceSource(clock: clock))
    steering = Steering(mechanism, limit: experiment.limit, recorder)
    world = WallWorld(start: start)
    site = RealSite(
      mechanism,
      limit: experiment.limit,
      atOnce: Self.mostAtOnce(experiment),
      seed: experiment.workload.seed,
      serverCapacity: experiment.serverCapacity,
      recorder,
      world
    )
    state.withLock { state in
      for (time, control) in experiment.controls { state.agenda.add(.control(control), at: time) }
    }
    OSThread("agenda", startsTasks: true) { [self] in keepAgenda() }.detach()
  }

  package var plan: [SimulatedTask] { state.withLock { $0.plan } }

  package var now: Int64 { world.now }

  package func events(since cursor: inout TraceRecorder.Cursor) -> [TraceEvent] {
    recorder.events(since: &cursor)
  }

  @discardableResult
  package func submit(_ workload: Workload) -> [SimulatedTask] {
    // The plan's length is read and written under one lock, so that numbers are never given twice;
    // drawing the tasks meanwhile is the price.
    let tasks = state.withLock { state in
      let tasks = workload.tasks(
        numberedFrom: state.plan.count + 1,
        startingAt: state.plan.isEmpty ? 0 : world.now
      )
      state.plan += tasks
      state.agenda.add(tasks)
      return tasks
    }
    bell.signal()
    return tasks
  }

  package func cancel(_ number: Int) {
    let running = state.withLock { state -> Task<Void, Never>? in
      switch state.visits[number] {
      case .running(let task): return task
      case .starting, .cancelledWhileStarting: state.visits[number] = .cancelledWhileStarting
      case nil: state.cancelledEarly.insert(number)
      }
      return nil
    }
    running?.cancel()
  }

  package func perform(_ control: Experiment.Control) { steering.perform(control) }

  package var isSuspended: Bool { steering.isSuspended }

  package func stop(because reason: String) {
    let numbers = state.withLock { state in
      if state.stoppedBecause == nil { state.stoppedBecause = reason }
      state.agenda.removeAll()
      return Array(state.visits.keys)
    }
    bell.signal()
    // What waits in a suspended queue could not even leave it.
    if experiment.mechanism.profile.controls.contains(.suspension) {
      mechanism.setSuspended(false)
    }
    // Those who wait first: a permit of one that runs would go to one that waits, which would then be
    // cancelled while it runs. One that is starting may wait already, and is cancelled where it was started.
    let running = running
    for number in numbers where !running.contains(number) { cancel(number) }
    let last = state.withLock { state in
      for number in numbers where running.contains(number) {
        switch state.visits[number] {
        case .running(let task): state.cancelledLast.append(task)
        case .starting: state.visits[number] = .cancelledWhileStarting
        case .cancelledWhileStarting, nil: break
        }
      }
      return state.takeCancelledLast()
    }
    for task in last { task.cancel() }
  }

  /// The numbers of the tasks that have been admitted and have not ended.
  private var running: Set<Int> {
    var cursor = TraceRecorder.Cursor()
    return recorder.events(since: &cursor).reduce(into: []) { running, event in
      if event.kind == .admitted { running.insert(Int(event.task.number)) }
      if event.kind.isEnd { running.remove(Int(event.task.number)) }
    }
  }

  /// How many tasks have not ended.
  package var unended: Int { state.withLock { $0.plan.count - $0.ended } }

  package func expectEnd() {
    state.withLock { state in
      // What is asked for when all is long done says only when it was asked.
      if state.ended < state.plan.count { state.wantsCompletionOf = state.plan.count }
    }
    // Of real work it is not known before all is done that the mechanism has been given everything: it comes
    // there when a cache, say, has looked.
    if !experiment.workload.kind.isReal { askForCompletion() }
  }

  /// Asks the mechanism to say when all is done, if somebody wants to know and it has been given everything.
  ///
  /// While tasks still run, so that it is the mechanism that says when they are done.
  private func askForCompletion(hasAll: Bool = false) {
    let isDue = state.withLock { state in
      guard hasAll || state.arrived == state.plan.count,
        state.wantsCompletionOf > state.askedForCompletionOf
      else { return false }
      state.askedForCompletionOf = state.wantsCompletionOf
      return true
    }
    guard isDue else { return }
    let completion = Task { [mechanism, world] in
      await mechanism.completed()
      return world.now
    }
    state.withLock { $0.completion = completion }
  }

  /// Waits until the mechanism says that all it was given by now has ended.
  ///
  /// - Returns: When it said so, in nanoseconds of the run.
  package func completed() async -> Int64 {
    // A mechanism that is asked before a task was given to it does not wait for that task.
    await withCheckedContinuation { continuation in
      let hasAll = state.withLock { state in
        if state.allStarted || state.arrived >= state.plan.count { return true }
        state.whenGiven.append((state.plan.count, continuation))
        return false
      }
      if hasAll { continuation.resume() }
    }
    await mechanism.completed()
    return world.now
  }

  package func finish() async -> Run {
    expectEnd()
    state.withLock { $0.closed = true }
    bell.signal()
    await reached(\.whenEnded) { $0.allEnded }
    if experiment.workload.kind.isReal { askForCompletion(hasAll: true) }
    let completion = state.withLock { state in
      state.askedForCompletionOf == state.plan.count ? state.completion : nil
    }
    let completionTime = await completion?.value
    if completion == nil { await mechanism.completed() }
    await lanes?.shutdown()
    let signals = experiment.mechanism.profile.completionSignal != nil
    let work = await site.close()
    let (plan, stoppedBecause) = state.withLock { ($0.plan, $0.stoppedBecause) }
    return Run(
      mechanism: experiment.mechanism.id,
      limit: experiment.effectiveLimit,
      seed: experiment.workload.seed,
      clock: .real,
      workers: lanes?.workers,
      lanes: lanes?.statistics,
      facts: experiment.facts(tasks: plan.count),
      plan: plan,
      events: recorder.finish(),
      completion: signals ? completionTime : nil,
      permitsLeft: mechanism.permitsInUse,
      stoppedBecause: stoppedBecause ?? site.failure,
      work: work
    )
  }

  // MARK: The agenda's thread

  /// What the agenda's thread does next.
  private enum Step {
    case perform(Agenda.Item)
    case wait(nanoseconds: Int64)
    case waitForMore
    case end
  }

  private func keepAgenda() {
    while true {
      let step = state.withLock { state -> Step in
        // What is left to cancel or to change concerns nobody any more.
        if state.closed, state.visits.isEmpty, !state.agenda.awaitsTasks { return .end }
        if let time = state.agenda.nextTime {
          let left = time - world.now
          if left > 0 { return .wait(nanoseconds: left) }
          if let item = state.agenda.removeNext() { return .perform(item) }
        }
        return state.closed ? .end : .waitForMore
      }
      switch step {
      case .perform(.arrive(let task)):
        start(task)
        state.withLock { $0.arrived += 1 }
        tellWhoWaits()
        if !task.kind.isReal { askForCompletion() }
      case .perform(.cancel(let number)): cancel(number)
      case .perform(.control(let control)): perform(control)
      case .wait(let nanoseconds):
        _ = bell.wait(timeout: .now() + .nanoseconds(Int(nanoseconds)))
      case .waitForMore: bell.wait()
      case .end:
        // Where the run was stopped, those that have not come will not.
        if !experiment.workload.kind.isReal { askForCompletion(hasAll: true) }
        note { $0.allStarted = true }
        tellWhoWaits()
        return
      }
    }
  }

  /// Tells those who wait for the mechanism to have been given what there was.
  private func tellWhoWaits() {
    let told = state.withLock { state in
      let given = state.allStarted ? .max : state.arrived
      let told = state.whenGiven.filter { $0.count <= given }
      state.whenGiven.removeAll { $0.count <= given }
      return told
    }
    for (_, waiter) in told { waiter.resume() }
  }

  private func start(_ task: SimulatedTask) {
    let number = task.number
    if task.kind.isReal { site.open(for: task.kind) }
    let isStopped = state.withLock { state in
      if state.stoppedBecause != nil { return true }
      let isCancelled = state.cancelledEarly.remove(number) != nil
      state.visits[number] = isCancelled ? .cancelledWhileStarting : .starting
      return false
    }
    // As what is left of the agenda.
    if isStopped { return }
    let priority: TaskPriority =
      switch task.priority {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
    let running =
      if let lanes {
        Task(executorPreference: lanes, priority: priority) { [self] in await carry(task) }
      } else {
        Task.immediate(priority: priority) { [self] in await carry(task) }
      }
    let (isCancelled, last) = state.withLock { state in
      let isCancelled: Bool
      switch state.visits[number] {
      // Ended before it could be put on the list.
      case nil: isCancelled = false
      case .cancelledWhileStarting:
        state.visits[number] = .running(running)
        isCancelled = true
      case .starting, .running:
        state.visits[number] = .running(running)
        isCancelled = false
      }
      return (isCancelled, state.takeCancelledLast())
    }
    if isCancelled { running.cancel() }
    for task in last { task.cancel() }
  }

  private func carry(_ task: SimulatedTask) async {
    if task.kind.isReal {
      await site.carry(task)
    } else {
      await mechanism.carry(Visit(task, tracer: recorder, world: world))
    }
    note {
      $0.visits[task.number] = nil
      $0.ended += 1
    }
  }

  // MARK: Waiting for the run

  /// Changes the state, and wakes the waiters of what has come true.
  private func note(_ change: (inout State) -> Void) {
    let (ended, isOver) = state.withLock { state in
      change(&state)
      return (
        state.allEnded ? state.whenEnded.take() : nil,
        state.closed && state.visits.isEmpty
      )
    }
    ended?.resume()
    // The agenda may wait for an hour that concerned the last task alone.
    if isOver { bell.signal() }
  }

  private func reached(
    _ waiter: WritableKeyPath<State, CheckedContinuation<Void, Never>?>,
    _ isReached: (State) -> Bool
  ) async {
    await withCheckedContinuation { continuation in
      let already = state.withLock { state in
        if isReached(state) { return true }
        state[keyPath: waiter] = continuation
        return false
      }
      if already { continuation.resume() }
    }
  }
}
