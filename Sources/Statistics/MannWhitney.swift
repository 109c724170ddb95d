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
  /// Exact up to 20 values a side without ties, by counting all arrangements; beyond, and with ties,
  /// the normal approximation with the correction for ties and for continuity.
  package init?(_ first: [Double], _ second: [Double]) {
    let (n, m) = (first.count, second.count)
    guard n > 0, m > 0 else { return nil }
    let pooled = (first.map { ($0, true) } + second.map { ($0, false) }).sorted { $0.0 < $1.0 }

    var rankSum = 0.0
    var tieTerm = 0.0
    var start = 0
    while start < pooled.count {
      var end = start + 1
      while end < pooled.count, pooled[end].0 == pooled[start].0 { end += 1 }
      let size = Double(end - start)
      // Tied values share the mean of the ranks start+1 … end.
      let rank = Double(start + 1 + end) / 2
      rankSum += rank * Double(pooled[start..<end].count(where: \.1))
      tieTerm += size * size * size - size
      start = end
    }
    u = rankSum - Double(n * (n + 1)) / 2

    if tieTerm == 0, n <= 20, m <= 20 {
      p = Self.exactProbability(u: Int(u), n, m)
    } else {
      p = Self.approximateProbability(u: u, n, m, tieTerm: tieTerm)
    }
  }

  /// The smallest probability that samples of these sizes can give: that of no overlap at all.
  package static func leastProbability(_ n: Int, _ m: Int) -> Double {
    guard n > 0, m > 0 else { return 1 }
    return min(1, (1...n).reduce(2.0) { $0 * Double($1) / Double(m + $1) })
  }

  /// Twice the smaller tail, from the number of arrangements that give each U.
  private static func exactProbability(u: Int, _ n: Int, _ m: Int) -> Double {
    // counts[i][v]: arrangements of i values of the first sample among the first j of the second
    // with U = v; f(i, j, v) = f(i−1, j, v−j) + f(i, j−1, v), built up in j.
    var counts = [[Double]](repeating: [], count: n + 1)
    for i in 0...n { counts[i] = [1] }
    for j in 1...m {
      for i in 1...n {
        var row = [Double](repeating: 0, count: i * j + 1)
        for (v, count) in counts[i].enumerated() { row[v] += count }
        for (v, count) in counts[i - 1].enumerated() { row[v + j] += count }
        counts[i] = row
      }
    }
    let distribution = counts[n]
    let total = distribution.reduce(0, +)
    let tail = min(u, n * m - u)
    return min(1, 2 * distribution[0...tail].reduce(0, +) / total)
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
