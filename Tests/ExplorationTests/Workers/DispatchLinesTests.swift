import Exploration
import TestSupport
import Testing

/// Whose turn it is at a dispatch queue.
@Suite(.watched) struct `Lines at dispatch queues` {
  @Test func `on a serial queue each waits for the end of the one before`() {
    var lines = DispatchLines()
    let one = lines.join(1, isSerial: true, isAlone: false)
    let two = lines.join(1, isSerial: true, isAlone: false)
    let three = lines.join(1, isSerial: true, isAlone: false)
    #expect(one.admitted == [one.ticket])
    #expect(two.admitted == [] && three.admitted == [])
    #expect(lines.leave(1, one.ticket) == [two.ticket])
    #expect(lines.leave(1, two.ticket) == [three.ticket])
    #expect(lines.leave(1, three.ticket) == [])
  }

  @Test func `a barrier waits for all before it, and all behind it wait for the barrier`() {
    var lines = DispatchLines()
    let readers = (0..<2).map { _ in lines.join(1, isSerial: false, isAlone: false) }
    #expect(readers.allSatisfy { $0.admitted == [$0.ticket] })
    let barrier = lines.join(1, isSerial: false, isAlone: true)
    let behind = (0..<2).map { _ in lines.join(1, isSerial: false, isAlone: false) }
    #expect(barrier.admitted == [] && behind.allSatisfy { $0.admitted == [] })
    #expect(lines.leave(1, readers[1].ticket) == [])
    #expect(lines.leave(1, readers[0].ticket) == [barrier.ticket])
    #expect(lines.leave(1, barrier.ticket) == behind.map(\.ticket))
  }

  @Test func `who waits behind a barrier, or at a suspended queue, is told so`() {
    var lines = DispatchLines()
    _ = lines.join(1, isSerial: false, isAlone: false)
    let barrier = lines.join(1, isSerial: false, isAlone: true)
    let behind = lines.join(1, isSerial: false, isAlone: false)
    #expect(lines.obstacle(before: barrier.ticket, at: 1) == nil)
    #expect(lines.obstacle(before: behind.ticket, at: 1) == .barrier)
    lines.suspend(1)
    #expect(lines.obstacle(before: barrier.ticket, at: 1) == .suspension)
    _ = lines.join(2, isSerial: true, isAlone: false)
    _ = lines.join(2, isSerial: true, isAlone: false)
    let last = lines.join(2, isSerial: true, isAlone: false)
    #expect(lines.obstacle(before: last.ticket, at: 2) == nil)
  }

  @Test func `queues know nothing of each other`() {
    var lines = DispatchLines()
    let one = lines.join(1, isSerial: true, isAlone: false)
    let other = lines.join(2, isSerial: true, isAlone: true)
    #expect(one.admitted == [one.ticket] && other.admitted == [other.ticket])
    #expect(lines.leave(2, other.ticket) == [])
  }

  @Test func `work of a suspended queue keeps nobody's at the queue that both have as target`() {
    var lines = DispatchLines()
    lines.suspend(2)
    let kept = lines.join(1, from: 2, isSerial: true, isAlone: false)
    let other = lines.join(1, from: 3, isSerial: true, isAlone: false)
    #expect(kept.admitted == [] && other.admitted == [other.ticket])
    #expect(lines.resume(2) == [])
    #expect(lines.leave(1, other.ticket) == [kept.ticket])
    lines.suspend(2)
    #expect(lines.leave(1, kept.ticket) == [])
    let again = lines.join(1, from: 2, isSerial: true, isAlone: false)
    #expect(again.admitted == [])
    #expect(lines.resume(2) == [again.ticket])
  }
}
