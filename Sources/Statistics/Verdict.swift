/// What a comparison of two sets of forks says.
package enum Verdict: String, Hashable, Codable, Sendable {
  case faster
  case slower
  /// The difference, if any, is not larger than what the same code shows against itself.
  case inconclusive
  /// So few forks could not have shown any difference, however large.
  case undecidable
  /// On one side too few visits had to wait: a limiter that nobody waits for looks free.
  case incomparable = "too-few-waited"
  /// On one side more ran at once than the limit allows: who does not limit has nothing to compare.
  case aboveLimit = "above-limit"

  /// The largest corrected probability that counts as evidence.
  package static let significance = 0.05

  /// Judges a ratio of a metric for which lower is better.
  ///
  /// Both must speak: the rank test, corrected for the number of comparisons, and the whole interval
  /// of the ratio lying beyond the noise band.
  ///
  /// - Parameters:
  ///   - ratio: subject over reference; nil is inconclusive.
  ///   - correctedProbability: from the rank test, after Holm.
  ///   - noise: the half-width of the band around 1 that counts as no difference: .03 for ±3 %.
  ///   - lowerIsBetter: false turns the verdict round.
  package init(
    ratio: Ratio?,
    correctedProbability: Double,
    noise: Double,
    lowerIsBetter: Bool = true
  ) {
    self = .inconclusive
    guard let ratio, correctedProbability < Self.significance else { return }
    if ratio.interval.low > 1 + noise {
      self = lowerIsBetter ? .slower : .faster
    } else if ratio.interval.high < 1 / (1 + noise) {
      self = lowerIsBetter ? .faster : .slower
    }
  }
}

extension Verdict {
  /// This verdict, or `undecidable` where even the smallest probability that the forks can give would be
  /// no evidence among so many comparisons.
  package func unlessUndecidable(leastProbability: Double, comparisons: Int) -> Verdict {
    leastProbability * Double(comparisons) >= Self.significance ? .undecidable : self
  }

  /// For people: less memory is better, not faster.
  package func word(forUnit unit: String) -> String {
    switch self {
    case .faster: unit == "ns" ? "faster" : "better"
    case .slower: unit == "ns" ? "slower" : "worse"
    case .inconclusive: "inconclusive"
    case .undecidable: "undecidable: too few forks"
    case .incomparable: "no comparison: too few waited"
    case .aboveLimit: "no comparison: ran above the limit"
    }
  }
}

/// The noise of one cell: how far two measurements of the same code lay apart.
package struct NoiseFloor: Hashable, Codable, Sendable {
  /// The second half of the pair over the first.
  package var ratio: Ratio
  /// Whether the pair's figures vary from fork to fork: a pair of constants always agrees.
  package var varies: Bool
  /// What the pairs of the run span typically: one pair may be close by chance.
  package var typical = 0.0

  package init(ratio: Ratio, varies: Bool = true) {
    self.ratio = ratio
    self.varies = varies
  }

  /// How far the pair's medians lie apart: .03 for 3 %.
  package var distance: Double {
    ratio.value >= 1 ? ratio.value - 1 : 1 / ratio.value - 1
  }

  /// The half-width of the band around 1 that counts as no difference: what this pair spans, and at
  /// least what the pairs of the run span typically.
  package var band: Double { max(typical, distance) }

  /// Whether the pair agrees, as it should.
  package var agrees: Bool { ratio.interval.contains(1) }
}
