internal import Basics
package import Mechanisms
internal import Synchronization

/// A run in virtual time, under way: it stands still until it is told to go on.
///
/// Between two drives it may be given tasks, watched and steered, from one thread at a time.
package final class VirtualRun: LiveRun {
  /// What letting time pass came to.
  package enum Outcome: Hashable, Sendable {
    /// Every task has ended.
    case finished
    /// Something sleeps beyond the time that was to pass.
    case paused
    /// Nothing can run, nothing sleeps, and tasks remain.
    case stuck
    case stopped

    init(_ outcome: VirtualScheduler.Outcome) {
      switch outcome {
      case .finished: self = .finished
      case .paused: self = .paused
      case .stuck: self = .stuck
      case .stopped: self = .stopped
      }
    }
  }

  private struct State {
    var plan: [SimulatedTask] = []
    /// The visits under way, by task number.
    var visits: [Int: Task<Void, Never>] = [:]
    var cancelledEarly: Set<Int> = []
    var stoppedBecause: String?
  }

  package let experiment: Experiment
  private let scheduler: VirtualScheduler
  private let mechanism: any Mechanism
  private let steering: Steering
  private let recorder: TraceRecorder
  private let world: VirtualWorld
  private let state = Mutex(State())
  private let faults = FaultLog()

  /// More than any modelled platform has.
  private static let mostThreads = 1_024

  /// Opens a run at instant 0 of its own time.
  package init(_ experiment: Experiment) {
    self.experiment = experiment
    let platform = experiment.mechanism.platform
    // A modelled platform keeps account of its threads itself.
    scheduler = VirtualScheduler(workers: platform == nil ? experiment.workers : Self.mostThreads)
    var setup = MechanismSetup(limit: experiment.limit, executor: scheduler)
    if let platform {
      setup.model = MechanismSetup.Model(
        platform,
        processors: experiment.workers,
        clock: scheduler.clock
      )
    }
    // A learner's mistake ends the run that shows it, and not the program.
    if experiment.mechanism.id == Catalogue.yours { setup = setup.noting(in: faults) }
    mechanism = experiment.mechanism.make(setup)
    recorder = TraceRecorder(
      source: VirtualTraceSource(scheduler: scheduler, isModel: platform != nil)
    )
    steering = Steering(mechanism, limit: experiment.limit, recorder)
    world = VirtualWorld(scheduler: scheduler)
    let controls = experiment.controls.sorted { $0.at < $1.at }
    if !controls.isEmpty {
      scheduler.spawn { [self] in
        for (time, control) in controls {
          guard await reach(time) else { return }
          perform(control)
        }
      }
    }
  }

  package var plan: [SimulatedTask] { state.withLock { $0.plan } }

  package var now: Int64 { scheduler.now }

  package func events(since cursor: inout TraceRecorder.Cursor) -> [TraceEvent] {
    recorder.events(since: &cursor)
  }

  @discardableResult
  package func submit(_ workload: Workload) -> [SimulatedTask] {
    let tasks = state.withLock { state in
      let tasks = workload.tasks(numberedFrom: state.plan.count + 1, startingAt: scheduler.now)
      state.plan += tasks
      return tasks
    }
    var agenda = Agenda()
    agenda.add(tasks)
    scheduler.spawn { [self, agenda] in await keep(agenda) }
    return tasks
  }

  package func cancel(_ number: Int) {
    let visit = state.withLock { state in
      if state.visits[number] == nil { state.cancelledEarly.insert(number) }
      return state.visits[number]
    }
    visit?.cancel()
  }

  package func perform(_ control: Experiment.Control) { steering.perform(control) }

  package var isSuspended: Bool { steering.isSuspended }

  package func stop(because reason: String) {
    state.withLock { state in
      if state.stoppedBecause == nil { state.stoppedBecause = reason }
    }
    scheduler.stop()
  }

  /// Lets `nanoseconds` pass; with 0, runs what can run now.
  package func advance(by nanoseconds: Int64) async -> Outcome {
    Outcome(await scheduler.onOwnThread { $0.advance(by: nanoseconds) })
  }

  /// Runs until nothing can run and nothing sleeps.
  package func idle() async -> Outcome {
    Outcome(await scheduler.onOwnThread { $0.runUntilIdle() })
  }

  /// Lets time pass up to an instant on the calling thread, but no further than something is to happen.
  ///
  /// For a thread that draws what happens: it may block, and no other steers the run meanwhile.
  @available(*, noasync, message: "drives on the calling thread; use advance")
  package func play(to time: Int64) -> Outcome {
    var outcome = Outcome(scheduler.advance(by: 0))
    while outcome == .paused, let next = scheduler.nextDeadline, next <= time {
      outcome = Outcome(scheduler.advance(by: max(0, next - scheduler.now)))
    }
    if outcome == .paused, time > scheduler.now {
      outcome = Outcome(scheduler.advance(by: time - scheduler.now))
    }
    return outcome
  }

  /// When something is to happen next, as far as that is known; nil where nothing is.
  package var nextInstant: Int64? { scheduler.nextDeadline }

  package func finish() async -> Run {
    let outcome = await idle()
    // Before the stragglers are cleared away, which leaves traces of its own.
    let events = recorder.finish()
    let permitsLeft = mechanism.permitsInUse
    if outcome == .stuck {
      let reason = standstill(events, permitsInUse: permitsLeft)
      state.withLock { state in
        if state.stoppedBecause == nil { state.stoppedBecause = reason }
      }
      scheduler.stop()
      _ = await idle()
    }
    let (plan, stopped) = state.withLock { ($0.plan, $0.stoppedBecause) }
    let stoppedBecause = faults.first ?? stopped
    return Run(
      mechanism: experiment.mechanism.id,
      limit: experiment.effectiveLimit,
      seed: experiment.workload.seed,
      clock: .virtual,
      workers: experiment.workers,
      platform: experiment.mechanism.platform,
      facts: experiment.facts(tasks: plan.count),
      plan: plan,
      events: events,
      permitsLeft: permitsLeft,
      stoppedBecause: stoppedBecause
    )
  }

  /// What a run says of itself when a drive came to `stuck`: one line, who waits for what.
  package var standstill: String {
    var cursor = TraceRecorder.Cursor()
    return standstill(recorder.events(since: &cursor), permitsInUse: mechanism.permitsInUse)
  }

  private func standstill(_ events: [TraceEvent], permitsInUse: Int?) -> String {
    Standstill(
      events: events,
      facts: experiment.facts(tasks: plan.count),
      permitsInUse: permitsInUse
    ).text
  }

  // MARK: The agenda

  private func keep(_ agenda: Agenda) async {
    var agenda = agenda
    while let time = agenda.nextTime, let item = agenda.removeNext() {
      guard await reach(time) else { return }
      switch item {
      case .arrive(let task): start(task)
      case .cancel(let number): cancel(number)
      case .control(let control): perform(control)
      }
    }
  }

  /// Sleeps until that time of the run.
  ///
  /// - Returns: false if the run was stopped meanwhile.
  private func reach(_ time: Int64) async -> Bool {
    if time > scheduler.now {
      do { try await scheduler.clock.sleep(nanoseconds: time - scheduler.now) } catch {
        return false
      }
    }
    return !Task.isCancelled
  }

  private func start(_ task: SimulatedTask) {
    let number = task.number
    recorder.record(.arrived, of: TaskID(number))
    let visit = Visit(
      task,
      tracer: VirtualTracer(recorder: recorder, scheduler: scheduler),
      world: world,
      hasArrived: true
    )
    let root = scheduler.register(tag: Int32(number))
    let running = Task(executorPreference: scheduler) { [self] in
      scheduler.begin(root)
      await mechanism.carry(visit)
      state.withLock { $0.visits[number] = nil }
      scheduler.end(root)
    }
    scheduler.noteStart(of: root, as: running)
    // The visit's first step comes after this one, so it cannot have ended yet.
    let isCancelled = state.withLock { state in
      state.visits[number] = running
      return state.cancelledEarly.remove(number) != nil
    }
    if isCancelled { running.cancel() }
  }
}

/// Virtual time as simulated work takes it.
struct VirtualWorld: World {
  let scheduler: VirtualScheduler

  var now: Int64 { scheduler.now }

  func suspend(for nanoseconds: Int64) async throws {
    try await scheduler.clock.sleep(nanoseconds: nanoseconds)
  }

  /// Nothing to leave: a visit's first step is a job of its own.
  func leaveStartingThread() async {}

  func block(for nanoseconds: Int64) { scheduler.hold(for: nanoseconds) }

  func spin(for nanoseconds: Int64) { scheduler.hold(for: nanoseconds) }
}

/// Records, and lets the scheduler know whom a mechanism's own task serves.
///
/// The child of a task group is a task of its own, which nobody tagged: without this, whatever it makes
/// runnable would count as caused by the task that had the child started.
struct VirtualTracer: Tracer {
  let recorder: TraceRecorder
  let scheduler: VirtualScheduler

  func record(_ kind: TraceEvent.Kind, of task: TaskID) {
    // Only a body runs on the task it belongs to: a group's loop also notes who left the line.
    if case .admitted = kind { scheduler.tagCurrentTask(task.number) }
    recorder.record(kind, of: task)
  }
}

/// Stamps events with virtual time, the modelled worker or thread, and the task that caused the step.
struct VirtualTraceSource: TraceSource {
  let scheduler: VirtualScheduler
  /// Whether blocks run on the threads of a modelled platform.
  var isModel = false

  var isSerial: Bool { true }

  func stamp() -> TraceStamp {
    let current = scheduler.current
    // A task that its own timer woke has no other to thank.
    let cause = current.cause == current.tag ? nil : TaskID(Int(current.cause))
    let thread = isModel ? ModelledThread.number : nil
    return TraceStamp(
      time: current.now,
      worker: UInt64(thread ?? Int(current.worker)),
      cause: cause
    )
  }
}
