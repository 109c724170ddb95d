internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// Several runs of the same: what each figure came to, and whether anything differed at all.
struct Repetition: Sendable {
  /// Which seeds the runs have.
  enum Seeds: String, CaseIterable {
    /// The first has the seed that was asked for, each later one the next.
    case follow
    case same

    func seed(of index: Int, from first: UInt64) -> UInt64 {
      switch self {
      case .follow: first &+ UInt64(index)
      case .same: first
      }
    }
  }

  private(set) var count = 0
  private var first: Run?
  /// Whether all runs were the same, event for event, with the same tasks.
  private(set) var areAlike = true
  private var values: [String: (unit: Spread.Unit, values: [Double])] = [:]
  /// How many broke a rule, and where the first of them was.
  private(set) var faulty: (count: Int, firstAt: Int)?

  mutating func take(_ run: Run, _ metrics: RunMetrics, isFaulty: Bool) {
    if isFaulty { faulty = ((faulty?.count ?? 0) + 1, faulty?.firstAt ?? count) }
    count += 1
    if let first {
      areAlike = areAlike && first.events == run.events && first.plan == run.plan
    } else {
      first = run
    }
    for name in Self.names {
      guard let value = metrics.value(of: Metric(name)), let (unit, size) = Self.number(value)
      else { continue }
      values[name, default: (unit, [])].values.append(size)
    }
  }

  /// Every figure that is a number.
  var all: [Spread] {
    Self.names.compactMap { name in
      values[name].map { Spread(name: name, unit: $0.unit, values: $0.values) }
    }
  }

  /// Those that a person looks at first, and of the others those that tell of something unusual.
  var chosen: [Spread] { all.filter { Self.main.contains($0.name) || Self.isNews($0) } }

  private static let main: Set = [
    "makespan", "throughput", "peak_running", "peak_waiting", "threads_peak", "utilisation",
    "waiting_mean", "waiting_p50", "waiting_p99", "waiting_max", "service_mean", "response_mean",
    "response_p99", "finished",
  ]

  /// Whether a count of what need not happen says that it did.
  private static func isNews(_ spread: Spread) -> Bool {
    unusual.contains(spread.name) && spread.most > 0
      || WorkFigure.allCases.contains { $0.rawValue == spread.name }
  }

  private static let unusual: Set = [
    "failed", "cancelled", "rejected", "unended", "fifo_inversions", "order_breaks",
    "over_admissions", "violations", "permits_left",
  ]

  /// What was asked for is no figure of how it went.
  private static let asked: Set = [
    "mechanism", "clock", "kind", "limit", "workers", "cores", "tasks", "seed",
  ]
  private static let names = RunMetrics.forms.filter { !asked.contains($0) && !$0.contains("(") }

  private static func number(_ value: MetricValue) -> (Spread.Unit, Double)? {
    switch value {
    case .duration(let nanoseconds): (.nanoseconds, Double(nanoseconds))
    case .count(let count): (.number, Double(count))
    case .rate(let rate): (.perSecond, rate)
    case .percent(let percent): (.percent, percent)
    case .number(let number): (.number, number)
    case .word, .absent: nil
    }
  }
}
