internal import Foundation
package import Histogram

/// What one process is asked to do; travels to it as its argument.
package struct ProcessRequest: Hashable, Codable, Sendable {
  /// The contestants of the process, of one cell; one where the workload has a process for each.
  package var trials: [TrialRequest]
  /// How often each is measured, where they share the process.
  package var rounds: Int

  package init(trials: [TrialRequest], rounds: Int) {
    self.trials = trials
    self.rounds = rounds
  }
}

/// What one contestant is to do in a process.
package struct TrialRequest: Hashable, Codable, Sendable {
  package var cell: Cell
  package var mechanism: String?
  package var seed: UInt64
  /// How long the measured part should take in a process of its own, in nanoseconds.
  package var budget: Int64
  /// How long a round should take in a process that is shared, in nanoseconds.
  package var round: Int64
  package var executor: Executor?
  /// Whether it is measured in full, as in the first process of a cell.
  ///
  /// What is the same in all processes is measured there. Of the reference's two trials only one is measured in full.
  package var isFirst: Bool
  /// Whether the report is to hold the stamps of every visit, where the workload has them to give.
  package var keepsStamps: Bool

  package init(
    cell: Cell,
    mechanism: String?,
    seed: UInt64,
    budget: Int64,
    round: Int64 = Scale.ci.round,
    executor: Executor? = nil,
    isFirst: Bool = true,
    keepsStamps: Bool = false
  ) {
    self.cell = cell
    self.mechanism = mechanism
    self.seed = seed
    self.budget = budget
    self.round = round
    self.executor = executor
    self.isFirst = isFirst
    self.keepsStamps = keepsStamps
  }
}

/// One measured value.
package struct Measure: Hashable, Codable, Sendable {
  package var metric: String
  /// What it is of the values it was made from: `mean`, `p99`, `max`, `total`.
  package var stat: String
  package var value: Double
  /// How many values it was made from.
  package var count: Int
  /// The round or the repetition within the process, from 1; nil where there is only one.
  package var repetition: Int?

  package init(metric: String, stat: String, value: Double, count: Int, repetition: Int?) {
    self.metric = metric
    self.stat = stat
    self.value = value
    self.count = count
    self.repetition = repetition
  }
}

/// How often each latency occurred, to two significant digits: an HdrHistogram's non-empty cells.
package struct RecordedHistogram: Hashable, Codable, Sendable {
  package var metric: String
  package var values: [UInt64]
  package var counts: [UInt64]
}

/// A figure over time within one trial.
package struct Series: Hashable, Codable, Sendable {
  package var metric: String
  /// Nanoseconds from the start.
  package var times: [Int64]
  package var values: [Double]

  package init(metric: String, times: [Int64], values: [Double]) {
    self.metric = metric
    self.times = times
    self.values = values
  }
}

/// One visit of an open loop, in nanoseconds from the first intended arrival.
package struct Stamps: Hashable, Codable, Sendable {
  package var intended: Int64
  package var arrival: Int64
  package var admission: Int64
  package var departure: Int64

  package init(intended: Int64, arrival: Int64, admission: Int64, departure: Int64) {
    self.intended = intended
    self.arrival = arrival
    self.admission = admission
    self.departure = departure
  }
}

/// What one trial found; travels back from the child process as its output.
package struct TrialReport: Hashable, Codable, Sendable {
  package var measures: [Measure] = []
  package var histograms: [RecordedHistogram] = []
  package var series: [Series] = []
  /// Each promise that was broken, as a line for people; anything here makes the trial invalid.
  package var violations: [String] = []
  /// How the tasks really spent their service time.
  package var serviceKind: String?
  package var achievedUtilisation: Double?
  /// When each visit that counts was meant to arrive, arrived, was admitted and departed; nil where that
  /// was not asked for.
  package var stamps: [Stamps]?

  package init() {}

  package mutating func add(
    _ metric: Metric,
    _ stat: String,
    _ value: Double?,
    count: Int = 1,
    repetition: Int? = nil
  ) {
    // What could not be measured is absent, and JSON has no infinity.
    guard let value, value.isFinite else { return }
    assert(Metric.named[metric.id] != nil, "'\(metric.id)' is missing in Metric.all")
    measures.append(
      Measure(
        metric: metric.id,
        stat: stat,
        // What comes after these digits is no measurement.
        value: value.rounded(digits: 9),
        count: count,
        repetition: repetition
      )
    )
  }

  /// Adds a distribution: its mean, median and 99th percentile as measures, the whole as a histogram.
  package mutating func add(_ metric: Metric, of values: [Int64], inFull: Bool = true) {
    guard !values.isEmpty else { return }
    // A clock may step back by a few nanoseconds between cores.
    let sorted = values.map { max(0, $0) }.sorted()
    let count = sorted.count
    // Exact, not the histogram's: two digits of fixed services would be the same in every fork.
    func percentile(_ share: Double) -> Double {
      Double(sorted[max(0, Int((share * Double(count)).rounded(.up)) - 1)])
    }
    add(metric, "mean", sorted.reduce(0.0) { $0 + Double($1) } / Double(count), count: count)
    if inFull || metric == .handOff { add(metric, "p50", percentile(0.5), count: count) }
    add(metric, "p99", percentile(0.99), count: count)
    guard inFull else { return }
    var histogram = Histogram<UInt64>.forLatencies()
    // An hour is beyond any deadline.
    for value in sorted { histogram.record(min(UInt64(value), Histogram<UInt64>.longestLatency)) }
    let recorded = histogram.recordedValues().map { ($0.value, $0.count) }
    histograms.append(
      RecordedHistogram(
        metric: metric.id,
        values: recorded.map(\.0),
        counts: recorded.map(\.1)
      )
    )
  }
}

extension TrialReport {
  /// Leaves what every process has to say: the figures that are compared, those that exclude, and the oracle's.
  ///
  /// The rest describes a mechanism, and the first process does that alone: the tables of a run would be twice as long
  /// without anything being decided by it.
  ///
  /// `limit` is what the contestant has to keep to; nil where it does not limit.
  mutating func keepWhatIsCompared(_ workload: any BenchWorkload, limit: Int?) {
    let hasOracle = measures.contains { $0.metric == Metric.oracleWait.id }
    let isStretched = measures.contains { $0.metric == Metric.stretch.id }
    measures = measures.filter { measure in
      if let headline = workload.headline, headline.metric.id == measure.metric,
        headline.stat == measure.stat
      {
        return true
      }
      switch measure.metric {
      case Metric.waited.id: return workload.needsWaiting
      // At most the limit was seen in most processes, and says no more than the first.
      case Metric.peakRunning.id, Metric.peakRequests.id:
        return measure.value > limit.map(Double.init) ?? .infinity
      case Metric.oracleWait.id, Metric.residualWait.id: return true
      case Metric.waiting.id: return hasOracle && measure.stat == "mean"
      // What is stretched, in its own unit.
      case Metric.response.id: return isStretched && measure.stat == "mean"
      default: return false
      }
    }
  }
}

extension Histogram where Count == UInt64 {
  /// An hour in nanoseconds.
  static var longestLatency: UInt64 { 3_600_000_000_000 }

  /// Preallocated, because the first automatic growth costs milliseconds.
  package static func forLatencies() -> Histogram<UInt64> {
    Histogram<UInt64>(
      highestTrackableValue: longestLatency,
      numberOfSignificantValueDigits: .two
    )
  }
}
