package import Mechanisms

/// Where every task of a run that is under way stands now, kept up to date from the events.
package struct LiveBoard: Sendable {
  /// Where one task stands.
  enum State: Hashable {
    /// Has not arrived.
    case pending
    case waiting
    /// Waits, and holds a thread meanwhile.
    case blocked
    case running(since: Int64, share: UInt8?)
    case ended(TraceEvent.Kind)
  }

  package let plan: [SimulatedTask]
  private(set) var states: [State]
  package private(set) var running = 0
  package private(set) var waiting = 0
  package private(set) var ended = 0
  /// How many waiting tasks hold a thread.
  package private(set) var blocked = 0
  /// The time of the last event.
  package private(set) var lastTime: Int64 = 0
  /// The limit it was changed to last; nil where it has not changed.
  package private(set) var limit: Int?

  package init(plan: [SimulatedTask]) {
    self.plan = plan
    states = Array(repeating: .pending, count: plan.count)
  }

  /// Whether every task has ended.
  package var isOver: Bool { ended == plan.count }

  /// Takes note of events, in the order of the log.
  package mutating func take(_ events: [TraceEvent]) {
    for event in events { take(event) }
  }

  mutating func take(_ event: TraceEvent) {
    lastTime = event.time
    if case .limit(let limit) = event.kind { self.limit = Int(limit) }
    let index = Int(event.task.number) - 1
    guard states.indices.contains(index) else { return }
    count(states[index], by: -1)
    states[index] = next(after: states[index], event)
    count(states[index], by: 1)
  }

  private func next(after state: State, _ event: TraceEvent) -> State {
    switch event.kind {
    case .arrived, .unblocked: return .waiting
    case .blocked: return .blocked
    case .admitted: return .running(since: event.time, share: nil)
    case .progress(let share):
      if case .running(let since, _) = state { return .running(since: since, share: share) }
      return state
    case .answered, .error, .holds, .suspended, .resumed, .limit: return state
    case .finished, .failed, .cancelled, .rejected: return .ended(event.kind)
    }
  }

  private mutating func count(_ state: State, by change: Int) {
    switch state {
    case .pending: break
    case .waiting: waiting += change
    case .blocked:
      waiting += change
      blocked += change
    case .running: running += change
    case .ended: ended += change
    }
  }
}
