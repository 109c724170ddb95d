import Basics
import Benchmarking
import TestSupport
import Testing

@Suite(.watched) struct `Quantiles and intervals` {
  @Test func `the median of an even number of values lies between the middle two`() {
    #expect(median([4, 1, 3, 2]) == 2.5)
    #expect(median([7]) == 7)
    #expect(median([]) == nil)
  }

  @Test(arguments: [(0.0, 10.0), (0.25, 17.5), (0.5, 25.0), (0.9, 37.0), (1.0, 40.0)])
  func `a quantile interpolates as R and NumPy do`(fraction: Double, expected: Double) {
    #expect(quantile(fraction, ofSorted: [10, 20, 30, 40]) == expected)
  }

  /// Ranks from the binomial distribution, as SciPy gives them.
  @Test(arguments: [
    (6, 1, 6), (9, 2, 8), (10, 2, 9), (20, 6, 15), (30, 10, 21), (1_000, 469, 532),
    (1_074, 505, 570), (1_075, 505, 571), (2_000, 956, 1_045), (10_000, 4_902, 5_099),
  ])
  func `the median's interval lies between the ranks the binomial gives`(
    count: Int,
    low: Int,
    high: Int
  ) throws {
    let values = (1...count).map(Double.init).reversed()
    #expect(
      medianInterval(Array(values)) == Interval(low: Double(low), high: Double(high))
    )
    #expect(try #require(medianCoverage(count)) >= 0.95)
  }

  @Test func `an interval says what it covers`() throws {
    #expect(isClose(try #require(medianCoverage(8)), 1 - 2.0 / 256))
    #expect(isClose(try #require(medianCoverage(10)), 1 - 22.0 / 1_024))
    #expect(medianCoverage(5) == nil)
  }

  @Test(arguments: 0...5)
  func `five values or fewer give no interval at 95 percent`(count: Int) {
    #expect(medianInterval((0..<count).map(Double.init)) == nil)
  }
}

@Suite(.watched) struct `The rank test` {
  /// Every expected probability is SciPy's.
  @Test func `small samples without ties are counted exactly`() throws {
    let small = try #require(MannWhitney([1.1, 2.2, 3.3, 4.4, 5.5], [2.5, 3.5, 6.5, 7.5]))
    #expect(small.u == 5)
    #expect(isClose(small.p, 0.2857142857142857))

    let apart = try #require(
      MannWhitney((1...10).map(Double.init), (11...20).map(Double.init))
    )
    #expect(apart.u == 0)
    #expect(isClose(apart.p, 1.082508822446903e-05))

    let mixed = try #require(
      MannWhitney(
        [12, 15, 11, 18, 20, 13, 17, 19, 22, 10],
        [14, 16, 21, 23, 25, 24, 26, 27, 28, 9]
      )
    )
    #expect(mixed.u == 22)
    #expect(isClose(mixed.p, 0.035462989023360536))
  }

  /// Counted by looking at all 6,435 ways to choose seven of the fifteen.
  @Test func `ties are counted exactly too`() throws {
    let tied = try #require(MannWhitney([1, 2, 2, 3, 3, 3, 4], [2, 3, 4, 4, 5, 5, 6, 6]))
    #expect(tied.u == 8.5)
    #expect(isClose(tied.p, 142.0 / 6435))
  }

  @Test func `large samples use the corrected normal approximation`() throws {
    let large = try #require(
      MannWhitney((0..<30).map(Double.init), (0..<30).map { Double($0) + 4.5 })
    )
    #expect(isClose(large.p, 0.06567125768912659))
  }

  @Test func `values that are all the same tell nothing apart`() {
    #expect(MannWhitney([1, 1, 1], [1, 1, 1])?.p == 1)
  }

  @Test func `an empty sample cannot be tested`() {
    #expect(MannWhitney([], [1]) == nil)
    #expect(MannWhitney([1], []) == nil)
  }

  @Test func `exchanging the samples changes nothing but the side`() throws {
    let (a, b): ([Double], [Double]) = ([3, 8, 1, 9, 12, 4], [5, 2, 7, 6, 10])
    let one = try #require(MannWhitney(a, b))
    let other = try #require(MannWhitney(b, a))
    #expect(one.p == other.p)
    #expect(one.u + other.u == 30)
  }
}

@Suite(.watched) struct `Holm's correction` {
  @Test func `it steps down from the smallest and never decreases`() {
    let corrected = holmCorrected([0.01, 0.04, 0.03, 0.005])
    for (value, expected) in zip(corrected, [0.03, 0.06, 0.06, 0.02]) {
      #expect(isClose(value, expected))
    }
  }

  @Test func `one probability needs no correction and none gives none`() {
    #expect(holmCorrected([0.2]) == [0.2])
    #expect(holmCorrected([]).isEmpty)
  }

  @Test func `no probability exceeds one`() {
    #expect(holmCorrected([0.9, 0.8, 0.7]) == [1, 1, 1])
  }
}

@Suite(.watched) struct `Ratios and verdicts` {
  private let base: [Double] = [100, 102, 98, 101, 99, 103, 97, 100, 101, 99]

  @Test func `a ratio's interval holds the ratio and comes out the same for the same seed`() throws
  {
    let ratio = try #require(Ratio.ofMedians(base.map { $0 * 1.2 }, to: base, seed: 7))
    #expect(isClose(ratio.value, 1.2))
    #expect(ratio.interval.contains(1.2))
    #expect(ratio.interval.low > 1.15 && ratio.interval.high < 1.25)
    #expect(ratio == Ratio.ofMedians(base.map { $0 * 1.2 }, to: base, seed: 7))
  }

  @Test func `medians that are not positive have no ratio`() {
    #expect(Ratio.ofMedians([0, 0, 0], to: base, seed: 1) == nil)
    #expect(Ratio.ofMedians(base, to: [0, 0, 0], seed: 1) == nil)
    #expect(Ratio.ofMedians([1], to: base, seed: 1) == nil)
  }

  @Test func `of two runs a fifth is a difference, and what lies within the noise is the same`()
    throws
  {
    func verdict(_ factor: Double, noise: Double = 0.1) throws -> Verdict {
      let ratio = try #require(Ratio.ofMedians(base.map { $0 * factor }, to: base, seed: 1))
      return Verdict(ratio: ratio, correctedProbability: 0.001, noise: noise)
    }
    #expect(try verdict(1.2) == .slower)
    #expect(try verdict(1 / 1.2) == .faster)
    #expect(try verdict(1.01) == .same)
    #expect(try verdict(1.2, noise: 0.2) == .undecided)
  }

  @Test(arguments: [
    (1.05, 0.01, 0.9, Verdict.slower), (0.95, 0.01, 0.9, .faster), (1.01, 0.01, 0.01, .same),
    (1.0, 0.9, 0.01, .same), (1.05, 0.2, 0.6, .undecided),
  ])
  func `four verdicts come of two tests, and what is the same within 3 percent is that first`(
    ratio: Double,
    p: Double,
    pSame: Double,
    verdict: Verdict
  ) {
    #expect(Verdict(ratio: ratio, p: p, pSame: pSame) == verdict)
    let turned: [Verdict: Verdict] = [.faster: .slower, .slower: .faster]
    #expect(
      Verdict(ratio: ratio, p: p, pSame: pSame, lowerIsBetter: false) == turned[verdict] ?? verdict
    )
  }
}

/// Rounds that were never measured: what is true of them is known.
@Suite(.watched) struct `Comparisons in pairs` {
  /// Eight processes of sixteen rounds, each process half a percent off and each round two; one round in ten is
  /// disturbed and takes up to twice as long.
  private func comparison(_ factor: Double, seed: UInt64, spread: Double = 0.005) throws
    -> PairedComparison
  {
    var generator = SplitMix64(seed: seed)
    func normal() -> Double { (0..<12).reduce(-6.0) { sum, _ in sum + generator.nextUnit() } }
    let rounds = (0..<8).map { _ in
      let process = 1 + spread * normal()
      return (0..<16).map { _ in
        let isDisturbed = generator.nextUnit() < 0.1
        return factor * process * (1 + 0.02 * normal())
          * (isDisturbed ? 1 + generator.nextUnit() : 1)
      }
    }
    return try #require(PairedComparison(rounds: rounds))
  }

  private func verdict(_ comparison: PairedComparison, family: Double = 20) -> Verdict {
    Verdict(
      ratio: comparison.ratio.value,
      p: min(1, comparison.p * family),
      pSame: min(1, comparison.pSame * family)
    )
  }

  /// Disturbed rounds make the median of a process about a third of a percent longer.
  @Test func `a planted slow-down of a twentieth is slower and a planted nothing is the same`()
    throws
  {
    let slowed = try (1...40).map { try verdict(comparison(1.05, seed: UInt64($0))) }
    let equal = try (1...40).map { try verdict(comparison(1, seed: UInt64(100 + $0))) }
    #expect(slowed.count { $0 == .slower } >= 36 && !slowed.contains(.faster))
    #expect(equal.count { $0 == .same } >= 36)
    #expect(!equal.contains(.faster) && !equal.contains(.slower))
  }

  @Test func `where processes differ by more the same rounds say less, and nothing wrong`() throws {
    let verdicts = try (1...40).map { try verdict(comparison(1.05, seed: UInt64($0), spread: 0.1)) }
    #expect(verdicts.count { $0 == .undecided } >= 36 && !verdicts.contains(.faster))
    let quiet = try comparison(1.05, seed: 1).detectable(significance: 0.0025)
    let busy = try comparison(1.05, seed: 1, spread: 0.1).detectable(significance: 0.0025)
    #expect(quiet < 0.03 && busy > 0.1)
  }

  @Test func `the interval covers what is true in at least nine of ten`() throws {
    let covering = try (1...200).count { seed in
      try comparison(1, seed: UInt64(seed), spread: 0.02).ratio.interval.contains(1)
    }
    #expect(covering >= 185, "\(covering) of 200")
  }

  @Test func `one process for each gives the interval of Student's t`() throws {
    let paths: [Double] = [10, 40, 15, 90, 22, 31, 60, 12, 18, 75]
    let slower = paths.indices.map { [$0.isMultiple(of: 2) ? 1.05 : 1.04] }
    let paired = try #require(PairedComparison(rounds: slower))
    #expect(paired.p < 1e-6)
    #expect(paired.ratio.interval.low > 1.03 && paired.ratio.interval.high < 1.06)
  }

  @Test func `equal figures are the same, and those without a logarithm are not compared`() throws {
    let equal = try #require(PairedComparison(rounds: [[1], [1], [1]]))
    #expect(equal.p == 1 && equal.pSame == 0 && equal.ratio.value == 1)
    let different = try #require(PairedComparison(rounds: [[2], [2], [2]]))
    #expect(different.p == 0 && different.pSame == 1)
    #expect(PairedComparison(rounds: [[1], [0]]) == nil)
    #expect(PairedComparison(rounds: [[1, 2]]) == nil)
    #expect(PairedComparison(rounds: [[1, 2], []]) == nil)
  }
}

@Suite(.watched) struct `The index of fairness` {
  @Test func `is one when all got the same and one nth when one got all`() {
    #expect(jainIndex([5, 5, 5, 5]) == 1)
    #expect(jainIndex([8, 0, 0, 0]) == 0.25)
    #expect(jainIndex([0, 0]) == nil)
  }
}

@Suite(.watched) struct `Figures over paths` {
  /// Values from the tables of Student's t.
  @Test(arguments: [(0.95, 1.0, 12.70620474), (0.95, 9.0, 2.26215716), (0.99, 9.0, 3.24983554)])
  func `Student's t has the tables' bounds`(confidence: Double, degrees: Double, bound: Double) {
    let student = StudentT(degrees: degrees)
    #expect(isClose(student.bound(confidence: confidence), bound, within: 1e-7))
    #expect(isClose(student.twoSided(bound), 1 - confidence, within: 1e-6))
  }

  @Test func `too few paths, or one that is not positive, give no interval of the mean`() {
    #expect(meanInterval([1, 2, 3, 4, 5]) == nil)
    #expect(meanInterval([1, 2, 3, 4, 5, 0]) == nil)
    #expect(meanInterval([1, 2, 3, 4, 5, 6])?.contains(3.5) == true)
  }
}
