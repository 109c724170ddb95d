import TestSupport
import Testing

@testable import Limiters

private final class Element: Sendable {}

@Suite(.watched) struct `The pool's state` {
  private enum Operation {
    case arrive
    /// The build that has been under way longest ends well, or not.
    case built
    case buildFailed
    /// The element lent longest comes back, or is given up.
    case giveBack
    case discard
    case leave(Int)
  }

  @Test func `conserves places and serves in order, in every short history`() throws {
    let operations: [Operation] = [
      .arrive, .built, .buildFailed, .giveBack, .discard, .leave(1), .leave(2),
    ]
    try forEverySequence(of: operations, length: 6) { sequence in
      var state = PoolState<Int>(maxElements: 1)
      var building = 0
      var lent: [Element] = []
      var idle: [Element] = []
      var line: [Int] = []
      var tickets: [Int: PoolState<Int>.Ticket] = [:]
      var arrivals = 0
      for operation in sequence {
        switch operation {
        case .arrive:
          switch state.arrive(arrivals) {
          case .granted(.element(let element)):
            let isWarmest = idle.last === element
            try #require(isWarmest)
            lent.append(idle.removeLast())
          case .granted(.place):
            try #require(idle.isEmpty && lent.count + building < 1)
            building += 1
          case .wait(let ticket):
            try #require(idle.isEmpty && lent.count + building == 1)
            line.append(arrivals)
            tickets[arrivals] = ticket
          }
          arrivals += 1
        case .built:
          guard building > 0 else { continue }
          let element = Element()
          let isNew = state.built(element)
          try #require(isNew)
          lent.append(element)
          building -= 1
        case .buildFailed:
          guard building > 0 else { continue }
          let next = line.isEmpty ? nil : line.removeFirst()
          try #require(state.buildFailed() == next)
          if next == nil { building -= 1 }
        case .giveBack:
          guard !lent.isEmpty else { continue }
          let element = lent.removeFirst()
          switch state.return(element) {
          case .hand(let waiter):
            try #require(line.first == waiter)
            line.removeFirst()
            lent.append(element)
          case .keep:
            try #require(line.isEmpty)
            idle.append(element)
          case .foreign, .double:
            Issue.record("a lent element was not recognised")
          }
        case .discard:
          guard !lent.isEmpty else { continue }
          switch state.discard(lent.removeFirst()) {
          case .passPlace(let waiter):
            try #require(line.first == waiter)
            line.removeFirst()
            building += 1
          case .shrink:
            try #require(line.isEmpty)
          case .foreign, .double:
            Issue.record("a lent element was not recognised")
          }
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let expected = line.firstIndex(of: arrival).map { line.remove(at: $0) }
          try #require(state.leave(ticket) == expected)
        }
        try #require(state.lent == lent.count)
        try #require(state.idle == idle.count)
        try #require(state.building == building)
        try #require(state.waiting == line.count)
        try #require(line.isEmpty || lent.count + building == 1)
      }
    }
  }

  @Test func `recognises what is not lent`() throws {
    var state = PoolState<Int>(maxElements: 2)
    let element = Element()
    _ = state.acquire()
    let isNew = state.built(element)
    #expect(isNew)
    _ = state.acquire()
    let isNewAgain = state.built(element)
    #expect(!isNewAgain, "the same object, built twice")
    guard case .foreign = state.return(Element()) else {
      Issue.record("a foreign element was taken in")
      return
    }
    guard case .keep = state.return(element), case .double = state.return(element) else {
      Issue.record("a second return was not recognised")
      return
    }
    guard case .double = state.discard(element) else {
      Issue.record("an idle element was discarded")
      return
    }
  }

  @Test func `recognises a second return while the element is idle, not once it is lent again`() {
    var state = PoolState<Int>(maxElements: 1)
    let element = Element()
    func isLentAtOnce() -> Bool {
      guard case .element(let lent) = state.acquire() else { return false }
      return lent === element
    }
    _ = state.acquire()
    _ = state.built(element)
    guard case .keep = state.return(element), case .double = state.return(element) else {
      Issue.record("a second return of an idle element was not recognised")
      return
    }
    #expect(isLentAtOnce(), "B has the element")
    // A's second return: the pool can only take it for B's.
    guard case .keep = state.return(element) else {
      Issue.record("identity says more than which element it is: say so in PoolState.swift")
      return
    }
    #expect(isLentAtOnce(), "B and C have the same element")
  }

  @Test func `lends the element used last first, while it is warm`() {
    var state = PoolState<Int>(maxElements: 3)
    let elements = (0..<3).map { _ in Element() }
    for element in elements {
      _ = state.acquire()
      _ = state.built(element)
    }
    for element in elements { _ = state.return(element) }
    guard case .element(let first) = state.acquire() else {
      Issue.record("no element was idle")
      return
    }
    let isWarmest = first === elements[2]
    #expect(isWarmest)
  }
}
