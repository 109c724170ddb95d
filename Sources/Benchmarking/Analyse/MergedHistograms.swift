internal import Histogram

/// One HdrHistogram for each latency of each contestant, from all forks that kept their promises and reported it, at
/// whatever distance.
package struct MergedHistograms: Sendable {
  package struct Key: Hashable, Sendable {
    package var entry: Int
    package var contestant: Int
    package var metric: String

    package init(entry: Int, contestant: Int, metric: String) {
      self.entry = entry
      self.contestant = contestant
      self.metric = metric
    }
  }

  /// A step of the percentile spectrum.
  package struct Step: Hashable, Sendable {
    package var percentile: Double
    /// Nanoseconds that this share of the values does not exceed.
    package var value: UInt64
    /// Values at or below.
    package var count: UInt64
    package var total: UInt64
  }

  /// In the order in which they first appeared.
  package private(set) var keys: [Key] = []
  private var histograms: [Key: Histogram<UInt64>] = [:]

  package init(_ records: [BlockRecord]) {
    for (record, trial) in ForkFigures.countedTrials(records) {
      for recorded in trial.report.histograms {
        let key = Key(entry: record.entry, contestant: trial.contestant, metric: recorded.metric)
        if histograms[key] == nil { keys.append(key) }
        // In place: a copy of a histogram is tens of kilobytes.
        for (value, count) in zip(recorded.values, recorded.counts) {
          histograms[key, default: .forLatencies()].record(value, count: count)
        }
      }
    }
  }

  /// From the smallest value to the largest, denser towards the largest; empty if nothing was measured.
  package func spectrum(_ key: Key) -> [Step] {
    guard let histogram = histograms[key] else { return [] }
    var steps: [Step] = []
    for step in histogram.percentiles(ticksPerHalfDistance: 2)
    where steps.last?.count != step.totalCountToThisValue || steps.isEmpty {
      steps.append(
        Step(
          percentile: step.percentile,
          value: step.value,
          count: step.totalCountToThisValue,
          total: histogram.totalCount
        )
      )
    }
    return steps
  }

  /// The counts in buckets that do not depend on the data, ascending; only those that hold something.
  ///
  /// Up to 15 a bucket is a whole number, from there on there are eight to each doubling.
  package func buckets(_ key: Key) -> [(range: ClosedRange<UInt64>, count: UInt64)] {
    guard let histogram = histograms[key] else { return [] }
    var counts: [UInt64: UInt64] = [:]
    for step in histogram.recordedValues() {
      counts[Self.bucket(of: step.value).lowerBound, default: 0] += step.count
    }
    return counts.sorted { $0.key < $1.key }.map { (Self.bucket(of: $0.key), $0.value) }
  }

  /// The bucket that a value lies in.
  package static func bucket(of value: UInt64) -> ClosedRange<UInt64> {
    let digits = UInt64.bitWidth - value.leadingZeroBitCount
    let shift = max(0, digits - 4)
    let low = (value >> shift) << shift
    return low...(low + (1 << shift) - 1)
  }
}
