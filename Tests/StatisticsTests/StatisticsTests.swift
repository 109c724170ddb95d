import Statistics
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
  ) {
    let values = (1...count).map(Double.init).reversed()
    #expect(
      medianInterval(Array(values)) == Interval(low: Double(low), high: Double(high))
    )
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

  @Test func `ties and large samples use the corrected normal approximation`() throws {
    let tied = try #require(MannWhitney([1, 2, 2, 3, 3, 3, 4], [2, 3, 4, 4, 5, 5, 6, 6]))
    #expect(tied.u == 8.5)
    #expect(isClose(tied.p, 0.025144761173357368))

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

  private func verdict(_ values: [Double], noise: Double = 0.03, comparisons: Int = 100) throws
    -> Verdict
  {
    let test = try #require(MannWhitney(values, base))
    return Verdict(
      ratio: Ratio.ofMedians(values, to: base, seed: 1),
      correctedProbability: min(1, test.p * Double(comparisons)),
      noise: noise
    )
  }

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

  @Test func `a fifth slower is slower and a fifth faster is faster`() throws {
    #expect(try verdict(base.map { $0 * 1.2 }) == .slower)
    #expect(try verdict(base.map { $0 / 1.2 }) == .faster)
  }

  @Test func `where more is better the verdicts are turned round`() throws {
    let ratio = Ratio.ofMedians(base.map { $0 * 1.2 }, to: base, seed: 1)
    #expect(
      Verdict(ratio: ratio, correctedProbability: 0, noise: 0.03, lowerIsBetter: false) == .faster
    )
  }

  @Test func `a difference within the noise is inconclusive`() throws {
    #expect(try verdict(base.map { $0 * 1.2 }, noise: 0.25) == .inconclusive)
  }

  @Test func `a difference of few forks is inconclusive however large`() throws {
    #expect(try verdict([300, 310, 290]) == .inconclusive)
  }

  @Test
  func `the noise band is the pair's distance either way, and at least what pairs span typically`()
  {
    func band(_ value: Double, typical: Double = 0) -> Double {
      var noise = NoiseFloor(
        ratio: Ratio(value: value, interval: Interval(low: value, high: value))
      )
      noise.typical = typical
      return noise.band
    }
    #expect(isClose(band(1.05), 0.05))
    #expect(isClose(band(1 / 1.05), 0.05))
    #expect(isClose(band(1.001), 0.001))
    #expect(band(1.001, typical: 0.02) == 0.02)
  }

  @Test func `a difference that no such number of forks could show is undecidable`() throws {
    let least = MannWhitney.leastProbability(3, 10)
    #expect(isClose(least, 2.0 / 286))
    let apart = try #require(MannWhitney([300, 310, 290], (1...10).map(Double.init)))
    #expect(isClose(least, apart.p))
    #expect(Verdict.slower.unlessUndecidable(leastProbability: least, comparisons: 7) == .slower)
    #expect(
      Verdict.inconclusive.unlessUndecidable(leastProbability: least, comparisons: 8)
        == .undecidable
    )
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

  @Test func `pairs on equal paths show a small difference that the paths' own spread would hide`()
    throws
  {
    let paths: [Double] = [10, 40, 15, 90, 22, 31, 60, 12, 18, 75]
    let slower = paths.enumerated().map { $1 * ($0.isMultiple(of: 2) ? 1.05 : 1.04) }
    let paired = try #require(PairedComparison(slower, to: paths))
    #expect(paired.p < 1e-6)
    #expect(paired.ratio.interval.low > 1.03 && paired.ratio.interval.high < 1.06)
    #expect(try #require(MannWhitney(slower, paths)).p > 0.5)
  }

  @Test func `equal pairs show no difference, and values without a logarithm are not compared`()
    throws
  {
    let equal = try #require(PairedComparison([1, 2, 3], to: [1, 2, 3]))
    #expect(equal.p == 1 && equal.ratio.value == 1)
    #expect(PairedComparison([1, 0], to: [1, 1]) == nil)
    #expect(PairedComparison([1, 2], to: [1]) == nil)
  }

  @Test func `too few paths, or one that is not positive, give no interval of the mean`() {
    #expect(meanInterval([1, 2, 3, 4, 5]) == nil)
    #expect(meanInterval([1, 2, 3, 4, 5, 0]) == nil)
    #expect(meanInterval([1, 2, 3, 4, 5, 6])?.contains(3.5) == true)
  }
}

@Suite(.watched) struct `Modes` {
  @Test func `two groups with a gap in which the median lies are told apart`() {
    let found = modes([2.0, 5.5, 2.1, 5.4, 2.2, 5.6, 2.1, 5.5, 2.0, 5.3])
    #expect(found == [Mode(median: 2.1, forks: 5), Mode(median: 5.5, forks: 5)])
  }

  @Test(arguments: [
    [1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9], [1, 1, 1, 1, 1, 1, 1, 1, 1, 9],
    [1, 1, 1, 1, 1, 1.1, 1.1, 1.1, 1.1, 1.1], [5], [],
  ])
  func `one group, one fork far away and two that nearly touch are one`(values: [Double]) {
    #expect(modes(values).isEmpty)
  }
}
