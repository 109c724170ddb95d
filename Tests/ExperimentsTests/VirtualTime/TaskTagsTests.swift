import Basics
import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct TaskTagsTests {
  @Test func `the table agrees with a dictionary over a long random history`() {
    var random = SplitMix64(seed: 3)
    var table = TaskTags()
    var model: [UInt: (serial: UInt64, tag: Int32)] = [:]
    for _ in 0..<200_000 {
      // Few addresses, close together: clusters form, wrap round and are removed from the middle.
      let address = UInt(random.next(below: 90) + 1) * 16
      switch random.next(below: 3) {
      case 0:
        let entry = (serial: UInt64(random.next(below: 5)), tag: Int32(random.next(below: 1000)))
        table.set(address, serial: entry.serial, tag: entry.tag, cause: 0)
        model[address] = entry
      case 1:
        table.remove(address)
        model[address] = nil
      default:
        let serial = UInt64(random.next(below: 5))
        let expected = model[address].flatMap { $0.serial == serial ? $0.tag : nil }
        #expect(table.find(address, serial: serial)?.tag == expected)
      }
      #expect(table.isEmpty == model.isEmpty)
    }
  }
}
