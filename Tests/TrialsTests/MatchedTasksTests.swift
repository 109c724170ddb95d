import TestSupport
import Testing
import Workloads

@testable import Trials

@Suite(.watched) struct `Tasks matched to a rate and a service` {
  @Test(arguments: [2, 3, 70, 140, 1_000], [UInt64(1), 2, 3])
  func `have exactly that rate and mean, whatever was drawn`(count: Int, seed: UInt64) {
    let drawn = Workload(
      count: count,
      service: .exponential(mean: 4_000_000),
      arrivals: .poisson(perSecond: 400),
      seed: seed
    ).tasks()
    let matched = drawn.matched(perSecond: 400, meanService: 4_000_000)

    #expect(matched.map(\.arrival).first == 0)
    // A nanosecond of rounding a task at most.
    #expect(abs(matched.map(\.arrival).last! - Int64(count - 1) * 2_500_000) <= 1)
    let total = matched.map(\.service).reduce(0, +)
    #expect(abs(total - Int64(count) * 4_000_000) <= Int64(count))
    #expect(matched.map(\.number) == drawn.map(\.number))
    #expect(matched.map(\.arrival) == matched.map(\.arrival).sorted())
  }

  @Test func `stay as they are where there is no rate to match`() {
    let together = Workload(count: 5, service: .fixed(1_000)).tasks()
    #expect(together.matched(perSecond: 400, meanService: 2_000) == together)
    #expect([SimulatedTask]().matched(perSecond: 1, meanService: 1).isEmpty)
  }
}
