internal import Basics
internal import Mechanisms
internal import Synchronization

// An urgent task waits for an unimportant one, and the unimportant one waits for everybody.
//
// One worker, one permit. A task of low priority takes the permit and suspends while it has it, as code
// that waits for a disk does. Tasks of medium priority arrive, which need no permit but the
// worker. Then a task of high priority arrives and needs the permit. It waits for the low one; and
// whenever that could go on, the worker goes to a medium one, which is more urgent. So the most urgent
// task waits for all the tasks of medium priority, though it shares nothing with them.
//
// The real limiter runs here on a virtual pool of one worker that heeds priorities.

/// A run in which a permit is held by the least urgent task.
package struct PriorityInversion: Sendable {
  /// What is done about it.
  package enum Remedy: String, CaseIterable, Sendable {
    case none
    /// While a task has the permit, it is made as urgent as the most urgent task that may want it.
    case ceiling
    /// The task that has the permit is made as urgent as the task that has come to wait for it.
    case inherit
    /// The permit is not held across a suspension: the waiting was done before it is taken.
    case short
  }

  package var remedy = Remedy.none
  /// How many tasks of medium priority there are.
  package var medium = 20
  /// How long each of them computes, in nanoseconds.
  package var work: Int64 = 10_000_000

  package init() {}

  /// How long the task of low priority has the permit if nobody is in its way, in nanoseconds.
  private static let section: Int64 = 60_000_000
  /// What is left of that where the permit is held only while computing.
  private static let shortSection: Int64 = 10_000_000
  /// When the others arrive: the low one has the permit by then, and has suspended.
  private static let arrival: Int64 = 5_000_000
  /// How long the urgent task computes, in nanoseconds.
  private static let urgentWork: Int64 = 10_000_000

  /// The number of the urgent task: the last.
  package var urgentTask: Int { medium + 2 }

  package func run() async -> Run {
    let scheduler = VirtualScheduler(workers: 1, heedingPriority: true)
    let recorder = TraceRecorder(source: VirtualTraceSource(scheduler: scheduler))
    let world = VirtualWorld(scheduler: scheduler)
    guard let entry = Catalogue.entry("limiter"), let free = Catalogue.entry("none") else {
      preconditionFailure("the catalogue lacks the limiter or its absence")
    }
    let limiter = entry.make(MechanismSetup(limit: 1, executor: scheduler))
    let unlimited = free.make(MechanismSetup(limit: 1, executor: scheduler))
    let plan = plan
    let holder = Holder()

    for task in plan {
      let visit = Visit(task, tracer: recorder, world: world)
      let priority: TaskPriority =
        switch task.priority {
        case .low: remedy == .ceiling ? .high : .low
        case .medium: .medium
        case .high: .high
        }
      let mechanism = task.priority == .medium ? unlimited : limiter
      let inherits = remedy == .inherit && task.priority == .high
      let running = Task(executorPreference: scheduler, priority: priority) {
        scheduler.tagCurrentTask(Int32(task.number))
        if task.arrival > 0 { try? await scheduler.clock.sleep(nanoseconds: task.arrival) }
        // It is about to wait for the permit, and the one who has it hears how urgent that is.
        if inherits { holder.raise(to: .high) }
        await mechanism.carry(visit)
      }
      if task.priority == .low { holder.task = running }
    }
    let outcome = await scheduler.onOwnThread { $0.runUntilIdle() }
    let events = recorder.finish()
    let facts = RunFacts(
      tasks: plan.count,
      limit: nil,
      promisesOrder: false,
      serviceHoldsWorker: true,
      withoutPermit: Set(plan.filter { $0.priority == .medium }.map { TaskID($0.number) })
    )
    var stoppedBecause: String?
    if case .stuck = outcome {
      let permitsInUse = limiter.permitsInUse
      stoppedBecause = Standstill(events: events, facts: facts, permitsInUse: permitsInUse).text
    }
    return Run(
      mechanism: remedy == .none ? "inversion" : "inversion-\(remedy.rawValue)",
      limit: nil,
      seed: 1,
      clock: .virtual,
      workers: 1,
      facts: facts,
      plan: plan,
      events: events,
      permitsLeft: limiter.permitsInUse,
      stoppedBecause: stoppedBecause
    )
  }

  private var plan: [SimulatedTask] {
    let low =
      remedy == .short
      ? SimulatedTask(
        number: 1,
        service: Self.shortSection,
        kind: .spin,
        priority: .low
      )
      : SimulatedTask(
        number: 1,
        service: Self.section,
        kind: .download,
        priority: .low,
        parts: [Int64](repeating: Self.section / 6, count: 6)
      )
    let others = (0..<medium).map { index in
      SimulatedTask(
        number: index + 2,
        arrival: Self.arrival,
        service: work,
        kind: .spin,
        priority: .medium
      )
    }
    let high = SimulatedTask(
      number: urgentTask,
      arrival: Self.arrival,
      service: Self.urgentWork,
      kind: .spin,
      priority: .high
    )
    return [low] + others + [high]
  }

  /// The task that takes the permit first, once it is known.
  private final class Holder: Sendable {
    private let stored = Mutex<Task<Void, Never>?>(nil)

    var task: Task<Void, Never>? {
      get { stored.withLock { $0 } }
      set { stored.withLock { $0 = newValue } }
    }

    func raise(to priority: TaskPriority) { task?.escalatePriority(to: priority) }
  }
}
