// Who was in which state from when to when: what a drawing of a run is made from.
//
// One pass over the log closes each task's state when the next begins. The spans of a task tile its
// life from arrival to end: each begins where the one before it ended. What has not ended goes on to the
// end of the log, or to now where the run is under way.

/// The spans of every task and every worker of a run, and how many ran and waited over time.
package struct Timeline: Sendable {
  /// The state of a task between two of its events.
  package enum Phase: Hashable, Sendable {
    case waiting
    /// Waiting, with a thread that waits too.
    case blocked
    case running
    /// In service, neither working nor holding a worker.
    case suspended
    /// In service, and could go on, but has no worker.
    case ready
  }

  package struct Span: Hashable, Sendable {
    package var start: Int64
    package var end: Int64
    package var phase: Phase
  }

  /// One task's life; its spans are in the order of time.
  package struct TaskLane: Hashable, Sendable {
    package var life: TaskLife
    package var spans: ArraySlice<Span>
  }

  /// A stretch of time in which a task held a worker.
  package struct WorkerSpan: Hashable, Sendable {
    package var start: Int64
    package var end: Int64
    package var task: TaskID
    /// `blocked` while the task waited, `running` while it was in service.
    package var phase: Phase
  }

  /// An event that happened on a worker.
  package struct Mark: Hashable, Sendable {
    package var time: Int64
    package var task: TaskID
    package var kind: TraceEvent.Kind
    package var route: TraceEvent.Route?
  }

  package struct WorkerLane: Hashable, Sendable {
    package var worker: WorkerID
    package var spans: [WorkerSpan] = []
    package var marks: [Mark] = []
  }

  /// The tasks in the order of their numbers.
  package private(set) var tasks: [TaskLane] = []
  /// The workers in the order of their numbers.
  package private(set) var workers: [WorkerLane] = []
  package private(set) var running = StepFunction()
  package private(set) var waiting = StepFunction()
  /// The limit in force; without steps where there is none.
  package private(set) var limit = StepFunction()
  /// How many workers are held.
  package private(set) var held = StepFunction()
  /// The time of the last event; of a run under way, now.
  package private(set) var end: Int64 = 0

  /// `now` is the moment of a run under way.
  ///
  /// `ready` says when tasks lacked a worker, in service or before they arrived, which no event does: for each
  /// task, in the order of time.
  ///
  /// - Complexity: O(n) for n events.
  package init(
    events: [TraceEvent],
    facts: RunFacts,
    ready: [TaskID: [Range<Int64>]] = [:],
    now: Int64? = nil
  ) {
    let lives = TaskLife.all(in: events, tasks: facts.tasks)
    end = max(0, events.last?.time ?? 0, now ?? 0)
    limit = StepFunction(limit: facts.limit, in: events)
    tasks = Self.taskLanes(events, lives, until: end).map { lane in
      guard let lacks = ready[lane.life.task] else { return lane }
      return TaskLane(life: lane.life, spans: Self.split(lane.spans, at: lacks)[...])
    }
    readCounts(events, facts, tasks: lives.count)
    readWorkers(events, facts, tasks: lives.count)
  }

  // MARK: Tasks

  private struct OpenSpan {
    var phase: Phase
    var start: Int64
  }

  private static func taskLanes(
    _ events: [TraceEvent],
    _ lives: [TaskLife],
    until end: Int64
  ) -> [TaskLane] {
    var open = [OpenSpan?](repeating: nil, count: lives.count)
    var closed: [(task: Int, span: Span)] = []
    closed.reserveCapacity(events.count)
    func close(_ task: Int, at time: Int64) {
      guard let span = open[task] else { return }
      // A state that took no time is not drawn, save a service: the task did run.
      if time > span.start || span.phase == .running {
        closed.append((task, Span(start: span.start, end: time, phase: span.phase)))
      }
      open[task] = nil
    }
    for event in events where event.task > .run {
      let task = Int(event.task.number) - 1
      let next: Phase?
      switch event.kind {
      case .arrived, .unblocked: next = .waiting
      case .blocked: next = .blocked
      case .admitted, .resumed: next = .running
      // What waits for another's fetch is drawn as what is suspended in service: it needs no permit.
      case .suspended, .answered(.hit), .answered(.joined): next = .suspended
      case .finished, .failed, .cancelled, .rejected: next = nil
      case .answered, .error, .holds, .progress, .limit: continue
      }
      close(task, at: event.time)
      open[task] = next.map { OpenSpan(phase: $0, start: event.time) }
    }
    for task in open.indices { close(task, at: end) }
    return lanes(lives, closed)
  }

  /// Groups spans by task, keeping each task's in the order of time: a counting sort.
  private static func lanes(
    _ lives: [TaskLife],
    _ closed: [(task: Int, span: Span)]
  ) -> [TaskLane] {
    var starts = [Int](repeating: 0, count: lives.count + 1)
    for entry in closed { starts[entry.task + 1] += 1 }
    for task in lives.indices { starts[task + 1] += starts[task] }
    var places = starts
    let empty = Span(start: 0, end: 0, phase: .waiting)
    var spans = [Span](repeating: empty, count: closed.count)
    for entry in closed {
      spans[places[entry.task]] = entry.span
      places[entry.task] += 1
    }
    return lives.indices.map { task in
      TaskLane(life: lives[task], spans: spans[starts[task]..<starts[task + 1]])
    }
  }

  /// Cuts what is in service where no worker was there, and puts before the first span what was so before it.
  private static func split(_ spans: ArraySlice<Span>, at lacks: [Range<Int64>]) -> [Span] {
    let arrival = spans.first?.start ?? .max
    let before = lacks.filter { $0.upperBound <= arrival }
      .map { Span(start: $0.lowerBound, end: $0.upperBound, phase: .ready) }
    let cut = spans.flatMap { span -> [Span] in
      guard span.phase == .running else { return [span] }
      var parts: [Span] = []
      var start = span.start
      for lack in lacks where lack.lowerBound >= start && lack.upperBound <= span.end {
        if lack.lowerBound > start {
          parts.append(Span(start: start, end: lack.lowerBound, phase: .running))
        }
        parts.append(Span(start: lack.lowerBound, end: lack.upperBound, phase: .ready))
        start = lack.upperBound
      }
      if start < span.end || parts.isEmpty {
        parts.append(Span(start: start, end: span.end, phase: .running))
      }
      return parts
    }
    return before + cut
  }

  // MARK: Counts

  private mutating func readCounts(_ events: [TraceEvent], _ facts: RunFacts, tasks: Int) {
    enum State {
      case away
      case waiting
      case running
    }
    var states = [State](repeating: .away, count: tasks)
    var counts: (running: Int, waiting: Int) = (0, 0)
    var workers = HeldWorkers(facts: facts)
    for event in events where event.task > .run {
      let task = Int(event.task.number) - 1
      let next: State
      switch event.kind {
      case .arrived: next = .waiting
      case .admitted: next = .running
      case .finished, .failed, .cancelled, .rejected, .answered(.hit), .answered(.joined):
        next = .away
      case .blocked, .unblocked, .answered, .error, .holds, .progress, .suspended, .resumed, .limit:
        next = states[task]
      }
      workers.note(event)
      held.set(workers.count, at: event.time)
      guard next != states[task] else { continue }
      if states[task] == .waiting { counts.waiting -= 1 }
      if states[task] == .running { counts.running -= 1 }
      if next == .waiting { counts.waiting += 1 }
      if next == .running { counts.running += 1 }
      states[task] = next
      running.set(counts.running, at: event.time)
      waiting.set(counts.waiting, at: event.time)
    }
  }

  // MARK: Workers

  private mutating func readWorkers(_ events: [TraceEvent], _ facts: RunFacts, tasks: Int) {
    var open = [(worker: Int, span: OpenSpan)?](repeating: nil, count: tasks)
    func close(_ task: Int, at time: Int64) {
      guard let (worker, span) = open[task] else { return }
      open[task] = nil
      workers[worker].spans.append(
        WorkerSpan(start: span.start, end: time, task: TaskID(task + 1), phase: span.phase)
      )
    }
    for event in events where event.task > .run {
      let task = Int(event.task.number) - 1
      if event.kind.changesHolding { close(task, at: event.time) }
      guard let worker = event.worker, worker.number > 0 else { continue }
      let lane = Int(worker.number) - 1
      while workers.count <= lane {
        workers.append(WorkerLane(worker: WorkerID(workers.count + 1)))
      }
      workers[lane].marks.append(
        Mark(time: event.time, task: event.task, kind: event.kind, route: event.route)
      )
      let phase: Phase?
      switch event.kind {
      case .blocked: phase = .blocked
      case .admitted, .resumed: phase = facts.serviceHoldsWorker ? .running : nil
      default: phase = nil
      }
      if let phase { open[task] = (lane, OpenSpan(phase: phase, start: event.time)) }
    }
    for task in open.indices { close(task, at: end) }
    for lane in workers.indices {
      workers[lane].spans.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    }
  }
}

extension TraceEvent.Kind {
  /// Whether what the task holds may be another worker, or none, from here on.
  fileprivate var changesHolding: Bool {
    switch self {
    case .arrived, .answered, .error, .holds, .progress, .limit: false
    case .blocked, .unblocked, .admitted, .suspended, .resumed, .finished, .failed, .cancelled,
      .rejected:
      true
    }
  }
}
