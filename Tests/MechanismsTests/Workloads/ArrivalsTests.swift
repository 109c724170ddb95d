import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `The arrivals` {
  @Test func `together are all at the start`() {
    #expect(Arrivals.together.times(count: 3, seed: 1) == [0, 0, 0])
  }

  @Test func `at a pace start at once and keep it`() {
    #expect(Arrivals.every(5).times(count: 4, seed: 1) == [0, 5, 10, 15])
  }

  @Test func `of nobody are none`() {
    for arrivals: Arrivals in [.together, .every(5), .poisson(perSecond: 1)] {
      #expect(arrivals.times(count: 0, seed: 1).isEmpty)
    }
  }

  @Test func `of a Poisson process ascend and have exponential gaps of the right mean`() {
    let times = Arrivals.poisson(perSecond: 200).times(count: 100_000, seed: 5)
    let gaps = zip([0] + times, times).map { Double($1 - $0) }
    #expect(gaps.allSatisfy { $0 >= 0 })
    let mean = gaps.reduce(0, +) / Double(gaps.count)
    let squares = gaps.reduce(0) { $0 + $1 * $1 } / Double(gaps.count)
    #expect(abs(mean / 5_000_000 - 1) < 0.01)
    #expect(abs((squares - mean * mean) / (mean * mean) - 1) < 0.03)
  }

  @Test func `of a Poisson process do not depend on how many follow`() {
    let few = Arrivals.poisson(perSecond: 10).times(count: 10, seed: 5)
    let many = Arrivals.poisson(perSecond: 10).times(count: 100, seed: 5)
    #expect(Array(many.prefix(10)) == few)
  }
}
