internal import Foundation
package import Histogram

/// What one trial is asked to do; travels to the child process as its argument.
package struct TrialRequest: Hashable, Codable, Sendable {
  package var cell: Cell
  package var mechanism: String?
  package var seed: UInt64
  /// How long the measured part should take, in nanoseconds.
  package var budget: Int64

  package init(cell: Cell, mechanism: String?, seed: UInt64, budget: Int64) {
    self.cell = cell
    self.mechanism = mechanism
    self.seed = seed
    self.budget = budget
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
  /// The repetition within the trial, from 1; nil where the trial has only one.
  package var repetition: Int?
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
    measures.append(
      Measure(
        metric: metric.id,
        stat: stat,
        value: value,
        count: count,
        repetition: repetition
      )
    )
  }

  /// Adds a distribution: its mean and percentiles as measures, the whole as a histogram.
  package mutating func add(_ metric: Metric, of values: [Int64], inFull: Bool = true) {
    guard !values.isEmpty else { return }
    var histogram = Histogram<UInt64>.forLatencies()
    var sum = 0.0
    for value in values {
      sum += Double(value)
      // A clock may step back by a few nanoseconds between cores; an hour is beyond any deadline.
      histogram.record(min(UInt64(max(0, value)), Histogram<UInt64>.longestLatency))
    }
    let count = values.count
    add(metric, "mean", sum / Double(count), count: count)
    if inFull {
      add(metric, "p50", Double(histogram.valueAtPercentile(50)), count: count)
      add(metric, "p90", Double(histogram.valueAtPercentile(90)), count: count)
    }
    add(metric, "p99", Double(histogram.valueAtPercentile(99)), count: count)
    if inFull {
      add(metric, "max", values.max().map(Double.init), count: count)
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
