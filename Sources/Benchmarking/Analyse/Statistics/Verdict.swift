/// What a comparison says.
package enum Verdict: String, Hashable, Codable, Sendable {
  case faster
  case slower
  /// The difference, if any, is smaller than what counts: 3 % within a run, the band of the noise between two runs.
  case same
  /// This run cannot tell.
  case undecided
  /// On one side too few visits had to wait: a limiter that nobody waits for looks free.
  case incomparable = "too-few-waited"
  /// On one side more ran at once than the limit allows: who does not limit has nothing to compare.
  case aboveLimit = "above-limit"

  /// The largest corrected probability that counts as evidence.
  package static let significance = 0.05

  /// Judges a comparison by its two tests, both corrected for the family of comparisons that it belongs to.
  ///
  /// What is the same within the margin is called that, though it may be shown to differ by less.
  package init(ratio: Double, p: Double, pSame: Double, lowerIsBetter: Bool = true) {
    if pSame < Self.significance {
      self = .same
    } else if p < Self.significance {
      self = (ratio < 1) == lowerIsBetter ? .faster : .slower
    } else {
      self = .undecided
    }
  }

  /// Judges a ratio of two runs by its interval, and by the rank test, corrected for the number of comparisons.
  ///
  /// It is the same if the whole interval is within the noise. It is faster or slower if the test finds a difference
  /// and the whole interval is beyond the noise. `noise` says which ratios count as no difference: .03 for those
  /// from 1 / 1.03 to 1.03.
  package init(
    ratio: Ratio,
    correctedProbability: Double,
    noise: Double,
    lowerIsBetter: Bool = true
  ) {
    self = .undecided
    if ratio.interval.low > 1 / (1 + noise), ratio.interval.high < 1 + noise {
      self = .same
    } else if correctedProbability < Self.significance {
      if ratio.interval.low > 1 + noise {
        self = lowerIsBetter ? .slower : .faster
      } else if ratio.interval.high < 1 / (1 + noise) {
        self = lowerIsBetter ? .faster : .slower
      }
    }
  }

  /// For people: memory is less, and what is neither time nor memory better.
  package func word(forUnit unit: String) -> String {
    switch self {
    case .faster: unit == "ns" ? "faster" : unit == "bytes" ? "less" : "better"
    case .slower: unit == "ns" ? "slower" : unit == "bytes" ? "more" : "worse"
    case .same: "the same"
    case .undecided: "undecided"
    case .incomparable: "no comparison: too few waited"
    case .aboveLimit: "no comparison: ran above the limit"
    }
  }
}
