import Basics
import TestSupport
import Testing

@testable import Mechanisms

/// The samples are seeded, so a bound either holds for ever or never: none of these can flake.
@Suite(.watched) struct `A service time` {
  struct Moments {
    var mean: Double
    var squaredVariation: Double

    init(of distribution: ServiceTime, draws: Int = 200_000) {
      var generator = SplitMix64(seed: 42)
      var sum = 0.0
      var sumOfSquares = 0.0
      for _ in 0..<draws {
        let length = Double(distribution.draw(from: &generator))
        sum += length
        sumOfSquares += length * length
      }
      mean = sum / Double(draws)
      squaredVariation = (sumOfSquares / Double(draws) - mean * mean) / (mean * mean)
    }
  }

  static let distributions: [ServiceTime] = [
    .fixed(40_000_000),
    .exponential(mean: 40_000_000),
    .uniform(10_000_000...70_000_000),
    .lognormal(mean: 40_000_000, sigma: 0.5),
    .lognormal(mean: 40_000_000, sigma: 1),
  ]

  @Test(arguments: distributions)
  func `has the mean and the variance it names`(distribution: ServiceTime) {
    let sample = Moments(of: distribution)
    #expect(abs(sample.mean / distribution.mean - 1) < 0.01)
    #expect(
      abs(sample.squaredVariation - distribution.squaredVariation)
        <= 0.05 * distribution.squaredVariation
    )
  }

  @Test func `names the textbook's moments`() {
    #expect(ServiceTime.fixed(5).squaredVariation == 0)
    #expect(ServiceTime.exponential(mean: 5).squaredVariation == 1)
    #expect(ServiceTime.uniform(10...70).mean == 40)
    #expect(ServiceTime.uniform(10...70).squaredVariation == 60.0 * 60 / 12 / 1600)
    #expect(ServiceTime.uniform(0...0).squaredVariation == 0)
    let lognormal = ServiceTime.lognormal(mean: 40, sigma: 0.5).squaredVariation
    #expect(abs(lognormal - 0.284_025_416_687_741_5) < 1e-14)
  }

  @Test func `of the exponential kind exceeds t with the probability of the textbook`() {
    var generator = SplitMix64(seed: 7)
    let mean = 1_000_000.0
    let draws = (0..<200_000).map { _ in
      Double(ServiceTime.exponential(mean: 1_000_000).draw(from: &generator))
    }
    for multiple in [0.1, 0.5, 1, 2, 4] {
      let share = Double(draws.count { $0 > multiple * mean }) / Double(draws.count)
      #expect(abs(share - PortableMath.exp(-multiple)) < 0.004)
    }
  }

  @Test func `of the uniform kind stays in its range and reaches both ends`() {
    var generator = SplitMix64(seed: 7)
    let draws = Set((0..<2000).map { _ in ServiceTime.uniform(3...7).draw(from: &generator) })
    #expect(draws == [3, 4, 5, 6, 7])
    #expect(ServiceTime.uniform(5...5).draw(from: &generator) == 5)
  }

  @Test func `is never negative, nor longer than a clock can hold`() {
    var generator = SplitMix64(seed: 1)
    for _ in 0..<10_000 {
      let length = ServiceTime.lognormal(mean: 1_000_000_000, sigma: 8).draw(from: &generator)
      #expect(length >= 0)
      #expect(length <= 1_000_000_000_000_000)
    }
  }
}
