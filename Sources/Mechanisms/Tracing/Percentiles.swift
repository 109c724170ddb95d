/// What a set of durations comes to, in nanoseconds.
///
/// Percentiles are by nearest rank: the p-th of n values in ascending order is the one at rank
/// ⌈p·n/100⌉, counting from 1. It is always a value that occurred, and it is exact, so two runs can
/// be compared byte for byte. All are 0 where there are no values.
package struct Percentiles: Hashable, Sendable {
  package var count: Int
  /// The sum over the count, rounded to the nearest nanosecond.
  package var mean: Int64
  package var min: Int64
  package var p50: Int64
  package var p90: Int64
  package var p99: Int64
  package var max: Int64

  /// - Complexity: O(n log n).
  package init(_ values: [Int64]) {
    let sorted = values.sorted()
    count = sorted.count
    // A million waits of hours overflow 64 bits.
    let sum = sorted.reduce(Int128(0)) { $0 + Int128($1) }
    let divisor = Int128(Swift.max(count, 1))
    mean = Int64((2 * sum + divisor) / (2 * divisor))
    min = sorted.first ?? 0
    max = sorted.last ?? 0
    p50 = Self.nearestRank(50, of: sorted)
    p90 = Self.nearestRank(90, of: sorted)
    p99 = Self.nearestRank(99, of: sorted)
  }

  /// The value at rank ⌈percent·n/100⌉ of values in ascending order; 0 if there are none.
  package static func nearestRank(_ percent: Int, of sorted: [Int64]) -> Int64 {
    guard !sorted.isEmpty else { return 0 }
    let rank = (percent * sorted.count + 99) / 100
    return sorted[Swift.max(rank, 1) - 1]
  }
}
