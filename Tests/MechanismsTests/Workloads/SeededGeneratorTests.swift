import Basics
import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `A seeded generator` {
  @Test func `gives the published numbers of SplitMix64`() {
    // The first five outputs for seed 1234567, as the algorithm's reference code prints them.
    var generator = SplitMix64(seed: 1_234_567)
    let numbers = (1...5).map { _ in generator.next() }
    #expect(
      numbers == [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
      ]
    )
  }

  @Test func `gives each purpose and each number a stream of its own`() {
    let purposes: [RandomPurpose] = [
      .service, .arrival, .failure, .cancellation, .priority, .parts,
    ]
    var seen: Set<UInt64> = []
    for seed in UInt64(0)..<20 {
      for purpose in purposes {
        for number in 0..<50 {
          var generator = SplitMix64(seed: seed, purpose: purpose, number: number)
          seen.insert(generator.next())
        }
      }
    }
    #expect(seen.count == 20 * purposes.count * 50)
  }

  @Test func `draws units strictly between 0 and 1`() {
    var generator = SplitMix64(seed: 3)
    var smallest = 1.0
    var largest = 0.0
    var sum = 0.0
    for _ in 0..<100_000 {
      let unit = generator.nextUnit()
      smallest = min(smallest, unit)
      largest = max(largest, unit)
      sum += unit
    }
    #expect(smallest > 0)
    #expect(largest < 1)
    #expect(abs(sum / 100_000 - 0.5) < 0.005)
  }
}
