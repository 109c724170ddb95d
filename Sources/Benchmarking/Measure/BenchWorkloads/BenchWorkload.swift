package import Mechanisms

/// Something to measure mechanisms with.
///
/// A new one is one file in this folder and one line in `BenchWorkloads.all`.
package protocol BenchWorkload: Sendable {
  /// What people and files call it: `fan-out`.
  var id: String { get }

  /// What it asks, in one sentence.
  var question: String { get }

  /// The measure by which mechanisms are compared; nil where there is nothing to win.
  var headline: Headline? { get }

  /// Whether a comparison needs visits that waited: a limiter nobody waits for looks free.
  var needsWaiting: Bool { get }

  /// Whether the tasks of every block are drawn anew, so that mechanisms are compared path by path.
  var drawsPaths: Bool { get }

  /// Whether Swift tasks are measured on both executors.
  var comparesExecutors: Bool { get }
  /// Whether it measures the machine and the runtime, and no code of this package.
  var measuresMachine: Bool { get }

  /// Whether mechanisms are measured, or the machine itself.
  var measuresMechanisms: Bool { get }

  /// What it measures beside the mechanisms, by name: a specimen, a floor, a client that limits itself.
  var guests: [String] { get }

  /// Its cells for a run of this size; `limits` are what the user asked for instead of its own.
  func cells(_ scale: Scale, limits: [Int]?) -> [Cell]

  /// Whether the cell makes sense for such a mechanism.
  func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool

  /// Whether such a mechanism does what is asked, so that it may be called the best of those that do.
  func ranks(_ mechanism: MechanismProfile) -> Bool

  /// How many times the blocks of others measure one of its cells, in the default run: more where two runs would
  /// disagree, fewer where they agree with fewer.
  var share: Double { get }

  /// How long one contestant takes in one process, in seconds, for the plan and the estimate of the time left.
  func expectedSeconds(_ cell: Cell, scale: Scale) -> Double

  /// Runs the trial and reports what it found.
  func measure(_ trial: Trial, into report: inout TrialReport) async
}

/// The one figure of a workload that verdicts are made from.
package struct Headline: Hashable, Sendable {
  package var metric: Metric
  package var stat: String

  package init(_ metric: Metric, _ stat: String) {
    self.metric = metric
    self.stat = stat
  }
}

extension BenchWorkload {
  package var measuresMechanisms: Bool { true }
  package var guests: [String] { [] }
  package var needsWaiting: Bool { false }
  package var drawsPaths: Bool { false }
  package var comparesExecutors: Bool { false }
  package var measuresMachine: Bool { false }

  /// Ordered queues run at limit 1 only, because that is what they are.
  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit != .one || cell.limit == 1
  }

  package func ranks(_ mechanism: MechanismProfile) -> Bool { true }

  package var share: Double { 1 }

  /// How many blocks measure a cell, in a run of this size.
  package func forks(_ scale: Scale) -> Int {
    let usual = isPaired ? scale.forks : scale.forksApart
    return scale == .standard ? Int((share * Double(usual)).rounded()) : usual
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    // Starting a process and warming up come on top of the measured part.
    0.04 + 1.5 * Double(scale.budget) / 1e9
  }

  /// Whether all contestants of a cell share a process; the others have one each.
  package var isPaired: Bool { self is any PairedWorkload }
}

/// Every workload there is, in the order of the report.
package enum BenchWorkloads {
  package static let all: [any BenchWorkload] =
    Baseline.all + Calls.all + Exploring.all + [
      Uncontended(),
      HandOff(),
      HandOff(acrossPriorities: true),
      Contended(body: .empty),
      Contended(body: .yield),
      Contended(body: .criticalSection),
      FanOut(body: .empty),
      FanOut(body: .computing),
      Scaling(),
      OpenLoop(),
      Overload(),
      WaitingAmongCancelled(),
      CancellationStorm(order: .random),
      CancellationStorm(order: .head),
      CancellationStorm(order: .tail),
      Fairness(),
      MemoryPerWaiter(),
      Threads(),
      WakeUp(),
      Resting(),
      VirtualRuns(),
      ImageCaching(.distinct),
      ImageCaching(.repeated),
      ImageCaching(.distinct, isWarm: true),
      ImageCaching(.repeated, isWarm: true),
      FileDownloads(),
      DatabaseQueries(.read),
      DatabaseQueries(.mixed),
    ]

  package static func named(_ id: String) -> (any BenchWorkload)? { all.first { $0.id == id } }
}

/// How much a run measures.
package enum Scale: String, CaseIterable, Hashable, Codable, Sendable {
  case quick
  case standard = "default"
  case full
  case ci

  /// The measured part of a trial that has a process of its own, in nanoseconds.
  package var budget: Int64 {
    switch self {
    case .ci, .quick: 12_000_000
    case .standard: 30_000_000
    case .full: 300_000_000
    }
  }

  /// How often each contestant of a process is measured beside the others.
  package var rounds: Int {
    switch self {
    case .ci: 4
    case .quick: 6
    case .standard: 8
    case .full: 40
    }
  }

  /// The length of such a round, in nanoseconds.
  package var round: Int64 {
    switch self {
    case .ci: 500_000
    case .quick: 1_000_000
    case .standard: 2_000_000
    case .full: 5_000_000
    }
  }

  /// How many processes measure a cell whose contestants share them: the blocks of the comparison.
  ///
  /// Processes differ by more than the rounds of one do, so there are rather many with few rounds than the reverse.
  package var forks: Int {
    switch self {
    case .ci: 3
    case .quick: 6
    case .standard: 16
    case .full: 20
    }
  }

  /// How many blocks a cell has that takes longer: one in which each contestant has a process of its own.
  package var forksApart: Int {
    switch self {
    case .ci: 3
    case .quick: 6
    case .standard: 6
    case .full: 20
    }
  }

  /// How many seconds a run may measure; nil for as many as it takes.
  ///
  /// Measuring longer under load does not exceed it, and on a slow machine each cell's last blocks are left out.
  package var limit: Double? {
    switch self {
    case .ci, .quick: 120
    case .standard: 580
    case .full: nil
    }
  }

  /// One value for the short runs, another for the default, another for the long one.
  func pick<Value>(short: Value, standard: Value, full: Value) -> Value {
    switch self {
    case .ci, .quick: short
    case .standard: standard
    case .full: full
    }
  }
}
