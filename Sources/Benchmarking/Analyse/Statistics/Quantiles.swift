internal import Foundation

/// The median of `values`; nil where there are none.
///
/// - Complexity: O(n log n).
package func median(_ values: [Double]) -> Double? {
  quantile(0.5, ofSorted: values.sorted())
}

/// The quantile at `fraction` (0 to 1) of ascending `values`, interpolated between neighbours.
///
/// Type 7 of Hyndman and Fan (1996), as in R, NumPy and spreadsheets.
package func quantile(_ fraction: Double, ofSorted values: [Double]) -> Double? {
  guard let last = values.indices.last else { return nil }
  let position = min(max(fraction, 0), 1) * Double(last)
  let below = Int(position)
  let above = min(below + 1, last)
  return values[below] + (values[above] - values[below]) * (position - Double(below))
}

/// The arithmetic mean; nil where there are no values.
package func mean(_ values: [Double]) -> Double? {
  values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
}

/// A range that holds a figure, as far as the data can tell.
package struct Interval: Hashable, Codable, Sendable {
  package var low: Double
  package var high: Double

  package init(low: Double, high: Double) {
    self.low = low
    self.high = high
  }

  package func contains(_ value: Double) -> Bool { low <= value && value <= high }
}

/// The interval between two order statistics that holds the median with at least this confidence.
///
/// For any continuous distribution (Thompson, 1936) the number of values below the true median is binomial with
/// p = ½, so P(x₍ₖ₎ ≤ median ≤ x₍ₙ₊₁₋ₖ₎) = 1 − 2·P(B < k); with ties it is at least that. Ten values give the
/// second and the ninth at 97.9 %.
///
/// - Returns: nil where there are too few values for that confidence: fewer than six for 95 %.
package func medianInterval(_ values: [Double], confidence: Double = 0.95) -> Interval? {
  let sorted = values.sorted()
  return medianRank(values.count, confidence).map { rank, _ in
    Interval(low: sorted[rank - 1], high: sorted[values.count - rank])
  }
}

/// What the interval of the median of so many values really covers, which is more than was asked for: .992 for eight.
package func medianCoverage(_ count: Int, confidence: Double = 0.95) -> Double? {
  medianRank(count, confidence)?.coverage
}

private func medianRank(_ count: Int, _ confidence: Double) -> (rank: Int, coverage: Double)? {
  var narrowest: (Int, Double)?
  // The probability of one value of the binomial, and of all those below it. The first is 2⁻ⁿ, which as a
  // number would be 0 from 1,075 values on, and with it all that follow; so it is a logarithm.
  var logarithm = -Double(count) * log(2)
  var below = 0.0
  for rank in 1...max(1, count / 2) where count >= 2 {
    below += exp(logarithm)
    logarithm += log(Double(count - rank + 1) / Double(rank))
    guard 1 - 2 * below >= confidence else { break }
    narrowest = (rank, 1 - 2 * below)
  }
  return narrowest
}
