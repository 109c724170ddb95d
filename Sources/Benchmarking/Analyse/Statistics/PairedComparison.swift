internal import Foundation

/// Two mechanisms that were measured beside each other: how many times the one's figure is the other's.
///
/// The blocks of a run, its processes, are the unit: within one, figures agree far better than from one to the next.
/// A block has a ratio for each of its rounds, and its own is their median, which a round in which the machine did
/// something else does not move. The ratio is the geometric mean of the blocks', from eight blocks on
/// without an eighth of them at either end: a whole process may have been disturbed.
///
/// Its uncertainty is what resampling at both levels would find: blocks drawn with replacement, the rounds within each
/// without (Davison and Hinkley, *Bootstrap Methods*, 1997, 3.8). Of a mean of blocks that has a closed form, so
/// nothing is drawn: the spread of the blocks, which includes that of their rounds. The blocks at the ends, which the
/// mean leaves out, count in it with the value of the nearest that is kept (Yuen 1974). Since the blocks are few, the
/// interval and the probabilities are those of Student's t with one degree of freedom less than there are blocks in
/// the mean.
package struct PairedComparison: Hashable, Sendable {
  package let ratio: Ratio
  /// Of the ratio's logarithm.
  package let error: Double
  package let blocks: Int
  private let degrees: Double
  /// The probability of a ratio at least this far from 1 if the two were equal.
  package let p: Double
  /// The probability of a ratio at least this near to 1 if the two differed by `margin` (two one-sided tests,
  /// Schuirmann 1987): small where they are the same within it.
  package let pSame: Double

  /// What counts as the same: 3 %.
  package static let margin = 0.03
  /// Of the interval.
  package static let confidence = 0.95

  /// Compares by the ratios of the rounds, one list a block; nil with fewer than two blocks, or where a ratio is not
  /// positive.
  package init?(rounds: [[Double]]) {
    let logarithms = rounds.filter { !$0.isEmpty }.map { block in
      block.map { $0 > 0 ? log($0) : .nan }
    }
    guard logarithms.count >= 2, logarithms.allSatisfy({ $0.allSatisfy(\.isFinite) })
    else { return nil }
    let number = logarithms.count
    let count = Double(number)
    blocks = number
    let middles = logarithms.map { median($0) ?? 0 }
    let sorted = middles.sorted()
    let cut = number / 8
    let kept = sorted[cut..<number - cut]
    let centre = kept.reduce(0, +) / Double(kept.count)
    degrees = Double(kept.count - 1)
    // Each block as it is, but those at the ends moved to the next.
    let moved = middles.map { min(max($0, sorted[cut]), sorted[number - 1 - cut]) }
    let spread = Moments(moved)
    let share = Double(kept.count) / count
    error = (spread.variance / count).squareRoot() / share
    let student = StudentT(degrees: degrees)
    let reach = student.bound(confidence: Self.confidence) * error
    ratio = Ratio(
      value: exp(centre),
      interval: Interval(low: exp(centre - reach), high: exp(centre + reach))
    )
    let room = log(1 + Self.margin) - abs(centre)
    if error > 0 {
      p = student.twoSided(centre / error)
      let tail = student.twoSided(room / error) / 2
      pSame = room > 0 ? tail : 1 - tail
    } else {
      p = centre == 0 ? 1 : 0
      pSame = room > 0 ? 0 : 1
    }
  }

  /// The least difference that this comparison would have found with the probability of error asked for, as a share:
  /// .04 for 4 %.
  package func detectable(significance: Double) -> Double {
    exp(StudentT(degrees: degrees).bound(confidence: 1 - significance) * error) - 1
  }
}
