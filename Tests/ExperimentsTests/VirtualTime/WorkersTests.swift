import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct WorkersTests {
  @Test(arguments: [1, 2, 63, 64, 65, 130])
  func `workers are taken lowest first, each once, and come back`(count: Int) {
    var workers = Workers(count: count)
    var taken: [Int32] = []
    while let worker = workers.take() { taken.append(worker) }
    #expect(taken == (1...count).map(Int32.init))
    for back in Set([1, (count + 1) / 2, count]) {
      workers.giveBack(Int32(back))
      let again = workers.take()
      #expect(again == Int32(back))
    }
    workers.giveBack(Int32(count))
    workers.giveBack(1)
    let lowest = workers.take()
    #expect(lowest == 1)
  }
}
