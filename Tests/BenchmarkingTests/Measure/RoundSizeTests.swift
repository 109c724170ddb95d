import TestSupport
import Testing

@testable import Benchmarking

@Suite(.watched) struct `The size of a round` {
  /// Of operations that take so many nanoseconds each, with some rounds held up.
  private func found(
    grain: Int = 1,
    each: Int64,
    heldUp: [Int: Int64] = [:]
  ) -> (size: RoundSize, rounds: Int) {
    var size = RoundSize(grain: grain, length: 1_000_000)
    var rounds = 0
    while !size.isFound, rounds < 100 {
      rounds += 1
      size.find(after: Int64(size.times) * each + (heldUp[rounds] ?? 0))
    }
    return (size, rounds)
  }

  @Test(arguments: [Int64(1), 70, 2_000, 600_000])
  func `makes it as long as it should be`(each: Int64) {
    let (size, rounds) = found(each: each)
    #expect(size.isFound)
    #expect(Int64(size.times) * each <= 1_000_000)
    #expect(Int64(size.times + 1) * each > 1_000_000)
    #expect(rounds <= 22)
  }

  @Test(arguments: 1...12)
  func `does not depend on a single round that was held up`(round: Int) {
    #expect(found(each: 70, heldUp: [round: 20_000_000]).size.times == found(each: 70).size.times)
  }

  @Test func `is whole batches, at least one`() {
    #expect(found(grain: 64, each: 100).size.times == 9_984)
    #expect(found(grain: 64, each: 1_000_000).size.times == 64)
    #expect(found(each: 90_000_000).size.times == 1)
  }

  @Test func `ends where operations take no time`() {
    #expect(found(each: 0).size.isFound)
  }

  @Test func `shrinks while rounds take too long and grows back to what was found`() {
    var size = found(each: 1_000).size
    #expect(size.times == 1_000)
    size.adapt(after: 3_900_000)
    #expect(size.times == 1_000)
    size.adapt(after: 40_000_000)
    #expect(size.times == 100)
    size.adapt(after: 600_000)
    #expect(size.times == 100)
    var sizes: [Int] = []
    for _ in 1...5 {
      size.adapt(after: 100_000)
      sizes.append(size.times)
    }
    #expect(sizes == [200, 400, 800, 1_000, 1_000])
  }
}
