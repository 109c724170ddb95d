internal import Foundation

/// The rank test of Mann and Whitney (1947).
///
/// Asks whether both samples could come from one distribution. Two-sided. It needs no normality, and one
/// fork far from the others changes little.
package struct MannWhitney: Hashable, Sendable {
  /// How many pairs (one of each sample) the first sample wins, a tie counting half.
  package var u: Double
  /// The probability of a U at least this far from its mean if both samples come from one
  /// distribution.
  package var p: Double

  /// Compares the samples; nil where one is empty.
  ///
  /// Exact up to 20 values a side, ties included, by counting all arrangements; beyond, the normal approximation with
  /// the correction for ties and for continuity.
  package init?(_ first: [Double], _ second: [Double]) {
    let (n, m) = (first.count, second.count)
    guard n > 0, m > 0 else { return nil }
    let pooled = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }

    var rankSum = 0.0
    var tieTerm = 0.0
    // Twice, because tied values have ranks between whole ones.
    var twiceRanks: [Int] = []
    var start = 0
    while start < pooled.count {
      var end = start + 1
      while end < pooled.count, pooled[end].0 == pooled[start].0 { end += 1 }
      let size = Double(end - start)
      // Tied values share the mean of the ranks start+1 … end.
      let rank = Double(start + 1 + end) / 2
      rankSum += rank * Double(pooled[start..<end].count(where: \.1))
      tieTerm += size * size * size - size
      twiceRanks += repeatElement(start + 1 + end, count: end - start)
      start = end
    }
    u = rankSum - Double(n * (n + 1)) / 2

    if n <= 20, m <= 20 {
      p = Self.exactProbability(rankSum: rankSum, twiceRanks: twiceRanks, n)
    } else {
      p = Self.approximateProbability(u: u, n, m, tieTerm: tieTerm)
    }
  }

  /// The share of the arrangements whose sum of ranks is at least as far from the mean.
  private static func exactProbability(rankSum: Double, twiceRanks: [Int], _ n: Int) -> Double {
    // counts[k][s]: how many ways there are to choose k of the ranks so far with twice the sum s.
    let most = twiceRanks.reduce(0, +)
    var counts = [[Double]](repeating: [Double](repeating: 0, count: most + 1), count: n + 1)
    counts[0][0] = 1
    var reached = 0
    for rank in twiceRanks {
      reached += rank
      for k in stride(from: n, through: 1, by: -1) {
        for sum in stride(from: reached, through: rank, by: -1) {
          counts[k][sum] += counts[k - 1][sum - rank]
        }
      }
    }
    let mean = Double(n * (twiceRanks.count + 1))
    let distance = abs(2 * rankSum - mean) - 1e-9
    var (far, all) = (0.0, 0.0)
    for (sum, count) in counts[n].enumerated() {
      all += count
      if abs(Double(sum) - mean) >= distance { far += count }
    }
    return min(1, far / all)
  }

  private static func approximateProbability(
    u: Double,
    _ n: Int,
    _ m: Int,
    tieTerm: Double
  ) -> Double {
    let (a, b) = (Double(n), Double(m))
    let all = a + b
    let variance = a * b / 12 * ((all + 1) - tieTerm / (all * (all - 1)))
    // All values tied: nothing tells the samples apart.
    guard variance > 0 else { return 1 }
    let distance = max(0, abs(u - a * b / 2) - 0.5)
    return min(1, erfc(distance / variance.squareRoot() / 2.0.squareRoot()))
  }
}

/// Holm's step-down correction (1979): the probabilities, raised so that the chance of even one false
/// alarm among all of them stays what was asked for one.
///
/// - Complexity: O(n log n).
package func holmCorrected(_ probabilities: [Double]) -> [Double] {
  var corrected = probabilities
  var highest = 0.0
  let order = probabilities.indices.sorted { probabilities[$0] < probabilities[$1] }
  for (step, index) in order.enumerated() {
    highest = max(highest, min(1, probabilities[index] * Double(probabilities.count - step)))
    corrected[index] = highest
  }
  return corrected
}
