import Basics
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `A waiter queue` {
  private enum Operation {
    case join
    case pop
    /// The one who joined at this position in the order of arrival, if it has.
    case leave(Int)
  }

  @Test func `does what an array would, in every short history`() throws {
    let operations: [Operation] = [.join, .pop, .leave(0), .leave(1), .leave(2), .leave(3)]
    try forEverySequence(of: operations, length: 6) { sequence in
      var queue = WaiterQueue<Int>()
      var model: [Int] = []
      var tickets: [WaiterQueue<Int>.Ticket] = []
      for operation in sequence {
        switch operation {
        case .join:
          model.append(tickets.count)
          tickets.append(queue.append(tickets.count))
        case .pop:
          let expected = model.isEmpty ? nil : model.removeFirst()
          try #require(queue.popFirst() == expected)
        case .leave(let arrival):
          guard arrival < tickets.count else { continue }
          let expected = model.firstIndex(of: arrival).map { model.remove(at: $0) }
          try #require(queue.remove(tickets[arrival]) == expected)
        }
        try #require(queue.count == model.count)
      }
      try #require(queue.removeAll() == model)
      try #require(queue.count == 0)
    }
  }

  @Test func `keeps the order of those that stay, no matter which leave and in which order`() {
    var generator = SplitMix64(seed: 1)
    var queue = WaiterQueue<Int>()
    let tickets = (0..<1_000).map { queue.append($0) }
    let leavers = Set((0..<1_000).shuffled(using: &generator).prefix(600))
    for leaver in leavers.shuffled(using: &generator) {
      #expect(queue.remove(tickets[leaver]) == leaver)
    }
    #expect(queue.removeAll() == (0..<1_000).filter { !leavers.contains($0) })
  }

  @Test func `uses the slots of those who left, so that no leaver's memory stays`() {
    var queue = WaiterQueue<Int>()
    let first = queue.append(0)
    for arrival in 1..<10_000 {
      let ticket = queue.append(arrival)
      #expect(queue.remove(ticket) == arrival)
    }
    #expect(queue.slotCount == 2)
    #expect(queue.remove(first) == 0)
  }

  @Test func `releases a large line's memory when it runs empty, by popping or by leaving`() {
    var queue = WaiterQueue<Int>()
    for _ in 0..<2 {
      let tickets = (0..<10_000).map { queue.append($0) }
      #expect(queue.slotCount == 10_000)
      for ticket in tickets.dropFirst() { _ = queue.remove(ticket) }
      #expect(queue.slotCount == 10_000)
      #expect(queue.popFirst() == 0)
      #expect(queue.slotCount == 0)
      #expect(queue.slotCapacity == 0)
    }
  }

  @Test func `keeps a small line's memory, to use it again`() {
    var queue = WaiterQueue<Int>()
    for arrival in 0..<10 { _ = queue.append(arrival) }
    _ = queue.removeAll()
    #expect(queue.slotCount == 10)
  }

  @Test func `lets go of an element as soon as it has left`() {
    final class Element {}
    var queue = WaiterQueue<Element>()
    var element: Element? = Element()
    weak let watched = element
    let ticket = queue.append(element.take() ?? Element())
    #expect(watched != nil)
    _ = queue.remove(ticket)
    #expect(watched == nil)
  }

  @Test func `does not take an old ticket for the newcomer in the same slot`() {
    var queue = WaiterQueue<String>()
    let old = queue.append("old")
    _ = queue.popFirst()
    let new = queue.append("new")
    #expect(queue.slotCount == 1)
    #expect(queue.remove(old) == nil)
    #expect(queue.remove(new) == "new")
  }
}
