package import Mechanisms
internal import WorkStealing

/// One trial as the workload sees it, in the process that was started for it.
package struct Trial: Sendable {
  package let request: TrialRequest
  private let entry: CatalogueEntry?
  /// What the trial's tasks run on; nil for the global pool.
  let executor: (any TaskExecutor)?

  /// `lanes` is what contestants on lanes share.
  package init(_ request: TrialRequest, lanes: (any TaskExecutor)? = nil) throws(TrialError) {
    self.request = request
    if let id = request.mechanism {
      guard let entry = Contestants.entry(id) else { throw .unknownMechanism(id) }
      self.entry = entry
    } else {
      entry = nil
    }
    executor = request.executor == .lanes ? lanes ?? WorkStealingExecutor() : nil
  }

  package var cell: Cell { request.cell }

  /// The limit the mechanism is made with.
  package var limit: Int { cell.limit ?? 1 }

  /// A new mechanism, with all its permits.
  package func makeMechanism() -> any Mechanism { makeMechanism(limit: limit) }

  func makeMechanism(limit: Int) -> any Mechanism {
    catalogueEntry.make(MechanismSetup(limit: limit, executor: executor))
  }

  var catalogueEntry: CatalogueEntry {
    guard let entry else { preconditionFailure("\(cell.workload) measures no mechanism") }
    return entry
  }

  package var profile: MechanismProfile { catalogueEntry.profile }

  /// How tasks spend their service time: as the cell says, or else as the mechanism's users would.
  package var kind: ServiceKind {
    if let named = cell.serviceKind.flatMap(ServiceKind.init) { return named }
    return profile.defaultKind.holdsThread ? .block : .suspend
  }

  /// Whether it measures a mechanism that limits, and not what the others are measured against.
  var hasToLimit: Bool { entry.map { $0.profile.limit != .none } ?? false }

  /// The number of bodies the mechanism promised to run at once with such tasks.
  package var promisedLimit: Int? {
    switch profile.limit {
    case .none: nil
    case .any: limit
    case .one: profile.order == .fifoToFirstSuspension && !kind.holdsThread ? nil : 1
    }
  }
}

/// Why a trial could not even begin.
package enum TrialError: Error, CustomStringConvertible {
  case unknownMechanism(String)
  case unknownWorkload(String)
  case tooFewProcessors(Int)

  package var description: String {
    switch self {
    case .unknownMechanism(let id):
      "no mechanism '\(id)': this program was built without it"
    case .unknownWorkload(let id):
      "no workload '\(id)': this program was built without it"
    case .tooFewProcessors(let count):
      "this process cannot be kept to \(count) of its processors"
    }
  }
}

extension ServiceKind {
  /// Whether work of this kind holds its thread while it serves, on mechanisms that own their threads.
  var holdsThread: Bool {
    switch self {
    case .suspend, .fetch, .query, .copy: false
    case .block, .spin, .download: true
    }
  }
}
