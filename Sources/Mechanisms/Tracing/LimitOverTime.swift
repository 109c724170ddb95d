// The limit of a run, which may change on the way: `limit` events say to what and when.
//
// A raise holds at once. Lowering stops nobody who runs: those already admitted serve to their end, and
// a waiter that was handed its permit just before may still begin its service. Each departure then takes
// one permit away until no more are out than the new limit. So the most that may be in service is known
// exactly, from the log alone, and nothing that a right limiter does is taken for a violation.

/// How many may be in service, followed through a log.
struct AdmissionBound {
  /// The limit in force; nil where none was promised.
  private(set) var limit: Int?
  /// The most tasks that may hold a permit now.
  private(set) var most: Int?

  init(_ limit: Int?) {
    self.limit = limit
    most = limit
  }

  mutating func change(to limit: Int32) {
    guard let most else { return }
    self.limit = Int(limit)
    self.most = max(most, Int(limit))
  }

  /// A task in service departs.
  mutating func depart() {
    guard let most, let limit else { return }
    self.most = max(limit, most - 1)
  }
}

extension StepFunction {
  /// The limit over time, from the one promised at the start; without steps where there is none.
  package init(limit: Int?, in events: [TraceEvent]) {
    self.init()
    guard let limit else { return }
    set(limit, at: 0)
    for event in events {
      if case .limit(let limit) = event.kind { set(Int(limit), at: max(0, event.time)) }
    }
  }
}
