package import Mechanisms
package import WorkStealing

/// Which clock a run was timed with.
package enum RunClock: String, Hashable, Sendable {
  case virtual
  case real
}

/// Everything one run left behind: what was asked, what was planned, what happened.
///
/// Every view, check, lesson and export is a pure function of this value.
package struct Run: Sendable {
  /// The mechanism's identifier.
  package var mechanism: String
  /// The limit at the start, or 1 for the ordered queues, or nil for `none`.
  package var limit: Int?
  package var seed: UInt64
  package var clock: RunClock
  /// How many workers the virtual pool or the lanes had; nil on the global pool.
  package var workers: Int?
  /// What the workers of the lanes did; nil elsewhere.
  package var lanes: WorkStealingExecutor.Statistics?
  /// What a comparison calls it: the mechanism, and that it ran on lanes if it did.
  package var label: String { lanes == nil ? mechanism : mechanism + "@lanes" }
  /// Which platform's queues were modelled; nil where the mechanism was the real one.
  package var platform: Platform?
  /// What carries the tasks: "thread" or "worker".
  package var threadNoun: String { clock == .real || platform != nil ? "thread" : "worker" }
  /// What the mechanism promised in this run.
  package var facts: RunFacts
  /// The tasks, by number from 1.
  package var plan: [SimulatedTask]
  /// In the order of time.
  package var events: [TraceEvent]
  /// When the mechanism itself said that all was done, in nanoseconds, for those that say so.
  package var completion: Int64?
  /// Permits still in use after the last task ended, where the mechanism can tell.
  ///
  /// Anything but 0 is a leak.
  package var permitsLeft: Int?
  /// Why the run could not end by itself, as a line for people: a deadlock, an interrupt.
  package var stoppedBecause: String?
  /// The moment of a run under way, up to which this is what has happened; nil where every task has ended.
  package var now: Int64?
  /// Whether nobody has waited for its end yet: more tasks may join, and what the mechanism says last is
  /// not known.
  package var isOpen = false
  /// Whether it goes on.
  package var isUnderWay: Bool { now != nil }
  /// What was counted of real work; empty where all was simulated.
  package var work: [WorkFigure: Int]

  package init(
    mechanism: String,
    limit: Int?,
    seed: UInt64,
    clock: RunClock,
    workers: Int?,
    lanes: WorkStealingExecutor.Statistics? = nil,
    platform: Platform? = nil,
    facts: RunFacts,
    plan: [SimulatedTask],
    events: [TraceEvent],
    completion: Int64? = nil,
    permitsLeft: Int? = nil,
    stoppedBecause: String? = nil,
    work: [WorkFigure: Int] = [:]
  ) {
    self.mechanism = mechanism
    self.limit = limit
    self.seed = seed
    self.clock = clock
    self.workers = workers
    self.lanes = lanes
    self.platform = platform
    self.facts = facts
    self.plan = plan
    self.events = events
    self.completion = completion
    self.permitsLeft = permitsLeft
    self.stoppedBecause = stoppedBecause
    self.work = work
  }
}

extension Run {
  /// Who was in which state from when to when.
  ///
  /// - Complexity: O(n) for n events.
  package var timeline: Timeline {
    Timeline(
      events: events,
      facts: facts,
      ready: readyBeforeArrival.merging(readyWithoutWorker) { $0 + $1 },
      now: now
    )
  }

  /// When tasks were to arrive, but had no worker to do it on.
  private var readyBeforeArrival: [TaskID: [Range<Int64>]] {
    guard clock == .virtual, workers != nil else { return [:] }
    var ready: [TaskID: [Range<Int64>]] = [:]
    for event in events where event.kind == .arrived {
      let place = Int(event.task.number) - 1
      guard plan.indices.contains(place), plan[place].arrival < event.time else { continue }
      ready[event.task] = [plan[place].arrival..<event.time]
    }
    guard let now else { return ready }
    let arrived = Set(events.lazy.filter { $0.kind == .arrived }.map(\.task))
    for task in plan where task.arrival < now && !arrived.contains(TaskID(task.number)) {
      ready[TaskID(task.number)] = [task.arrival..<now]
    }
    return ready
  }

  /// How long a task could have gone on in service, but had no worker; nil where it never lacked one, or
  /// where nobody can tell.
  package func readyWithoutWorker(_ life: TaskLife) -> Int64? {
    readyWithoutWorker[life.task].map { $0.reduce(0) { $0 + $1.upperBound - $1.lowerBound } }
  }

  /// When tasks in service could have gone on, but had no worker.
  ///
  /// In virtual time work takes what was planned, and nothing but a worker can be missing: what comes later
  /// than planned was ready from then on.
  private var readyWithoutWorker: [TaskID: [Range<Int64>]] {
    // What runs on an actor may have to wait for the actor.
    guard clock == .virtual, workers != nil,
      Catalogue.entry(mechanism)?.profile.order != .fifoToFirstSuspension
    else { return [:] }
    var due: [TaskID: (time: Int64, parts: ArraySlice<Int64>)] = [:]
    var ready: [TaskID: [Range<Int64>]] = [:]
    for event in events where event.task > .run {
      let place = Int(event.task.number) - 1
      guard plan.indices.contains(place), [.suspend, .download].contains(plan[place].kind)
      else { continue }
      switch event.kind {
      case .admitted:
        let task = plan[place]
        let parts = task.kind == .download ? task.parts[...] : [task.service]
        due[event.task] = (event.time + (parts.first ?? 0), parts.dropFirst())
      case .progress, .finished:
        guard let (time, parts) = due[event.task] else { continue }
        if event.time > time { ready[event.task, default: []].append(time..<event.time) }
        due[event.task] = parts.first.map { (event.time + $0, parts.dropFirst()) }
      // A task that is made to wait in service, or is told to stop, goes by another plan.
      case .suspended, .resumed, .failed, .cancelled: due[event.task] = nil
      case .arrived, .blocked, .unblocked, .answered, .error, .holds, .rejected, .limit: continue
      }
    }
    if let now {
      for (task, (time, _)) in due where time < now { ready[task, default: []].append(time..<now) }
    }
    return ready
  }
}
