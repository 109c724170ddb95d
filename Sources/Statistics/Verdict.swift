/// What a comparison of two sets of forks says.
package enum Verdict: String, Hashable, Codable, Sendable {
  case faster
  case slower
  /// The difference, if any, is not larger than what the same code shows against itself.
  case inconclusive

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
  /// For people: less memory is better, not faster.
  package func word(forUnit unit: String) -> String {
    switch self {
    case .faster: unit == "ns" ? "faster" : "better"
    case .slower: unit == "ns" ? "slower" : "worse"
    case .inconclusive: "inconclusive"
    }
  }
}

/// The noise of one cell: how far two measurements of the same code lay apart.
package struct NoiseFloor: Hashable, Codable, Sendable {
  /// The second half of the pair over the first.
  package var ratio: Ratio

  package init(ratio: Ratio) { self.ratio = ratio }

  /// The half-width of the band around 1 that the pair's medians span, never below 1 %: .03 for ±3 %.
  package var band: Double {
    max(0.01, ratio.value >= 1 ? ratio.value - 1 : 1 / ratio.value - 1)
  }

  /// Whether the pair agrees, as it should.
  package var agrees: Bool { ratio.interval.contains(1) }
}
