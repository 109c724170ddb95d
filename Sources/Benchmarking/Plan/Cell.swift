/// One question put to several mechanisms: a workload with all its parameters but the mechanism.
///
/// What does not apply is nil, and an empty cell in the files.
package struct Cell: Hashable, Codable, Sendable {
  /// What decides when the next task starts.
  package enum Loop: String, Hashable, Codable, Sendable {
    /// The end of the previous task: a slow limiter is asked less often.
    case closed
    /// A clock, however slow the limiter is: a slow limiter builds up a queue.
    case open
  }

  package var workload: String
  package var limit: Int?
  package var tasks: Int?
  package var loop: Loop?
  package var arrivals: String?
  /// How tasks spend their service time; nil leaves it to the mechanism's own way.
  package var serviceKind: String?
  package var serviceDistribution: String?
  /// The mean service time in nanoseconds.
  package var service: Int64?
  /// The utilisation asked for: arrival rate times service time over the limit.
  package var utilisation: Double?
  package var cancelFraction: Double?
  /// How many processors the trial's threads may use; nil for all.
  package var processors: Int?

  package init(
    _ workload: String,
    limit: Int? = nil,
    tasks: Int? = nil,
    loop: Loop? = nil,
    arrivals: String? = nil,
    serviceKind: String? = nil,
    serviceDistribution: String? = nil,
    service: Int64? = nil,
    utilisation: Double? = nil,
    cancelFraction: Double? = nil,
    processors: Int? = nil
  ) {
    self.workload = workload
    self.limit = limit
    self.tasks = tasks
    self.loop = loop
    self.arrivals = arrivals
    self.serviceKind = serviceKind
    self.serviceDistribution = serviceDistribution
    self.service = service
    self.utilisation = utilisation
    self.cancelFraction = cancelFraction
    self.processors = processors
  }

  /// What people read, and what `--filter` is matched against: `fan-out limit=8 tasks=1000`.
  package var name: String {
    var words = [workload]
    if let limit { words.append("limit=\(limit)") }
    if let tasks { words.append("tasks=\(tasks)") }
    if let utilisation { words.append("rho=\(utilisation)") }
    if let serviceDistribution { words.append("service=\(serviceDistribution)") }
    if let serviceKind { words.append("kind=\(serviceKind)") }
    if let cancelFraction { words.append("cancel=\(Int((cancelFraction * 100).rounded()))%") }
    if let processors { words.append("processors=\(processors)") }
    return words.joined(separator: " ")
  }
}

/// What runs Swift tasks.
package enum Executor: String, Hashable, Codable, Sendable {
  /// The pool that every Swift program has.
  case global
  /// `WorkStealingExecutor`, with a worker for each processor.
  case lanes
}

/// What is measured in a cell: a mechanism, or a call or a part of the machine.
package struct Contestant: Hashable, Codable, Sendable {
  /// The mechanism's identifier; nil for the baselines.
  package var mechanism: String?
  /// The second half of the A/A pair: the same code, measured as if it were another mechanism.
  package var isAgain: Bool
  /// What runs its tasks; nil where it has none, or threads of its own.
  package var executor: Executor?

  package init(mechanism: String?, isAgain: Bool = false, executor: Executor? = nil) {
    self.mechanism = mechanism
    self.isAgain = isAgain
    self.executor = executor
  }

  /// For people: `limiter`, `limiter on lanes`.
  package var name: String? {
    mechanism.map { executor == .lanes ? "\($0) on lanes" : $0 }
  }

  /// What the files call it: `limiter`, and `limiter-again` for the second half of the pair.
  package var label: String? { isAgain ? (mechanism ?? "") + Self.againSuffix : mechanism }

  package static let againSuffix = "-again"
}
