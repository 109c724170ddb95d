/// One of two groups that the forks of a figure fall into.
package struct Mode: Hashable, Sendable {
  package var median: Double
  package var forks: Int

  package init(median: Double, forks: Int) {
    self.median = median
    self.forks = forks
  }
}

/// The two groups that the values fall into, lower first; empty where they are one.
///
/// Between two groups there is a gap in which the median may lie although no fork was there. They count
/// as two where each has a fifth of the values and at least two, the gap between them is twice as wide
/// as either group, and the higher group lies at least a quarter above the lower one.
package func modes(_ values: [Double]) -> [Mode] {
  let sorted = values.sorted()
  let least = max(2, sorted.count / 5)
  guard sorted.count >= 2 * least else { return [] }
  let cuts = least...(sorted.count - least)
  guard let cut = cuts.max(by: { sorted[$0] - sorted[$0 - 1] < sorted[$1] - sorted[$1 - 1] })
  else { return [] }
  let (low, high) = (Array(sorted[..<cut]), Array(sorted[cut...]))
  let gap = high[0] - low[cut - 1]
  let widest = max(low[cut - 1] - low[0], high[high.count - 1] - high[0])
  guard gap > 2 * widest, high[0] > 1.25 * low[cut - 1],
    let below = median(low), let above = median(high)
  else { return [] }
  return [Mode(median: below, forks: low.count), Mode(median: above, forks: high.count)]
}
