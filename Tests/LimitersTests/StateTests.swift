import TestSupport
import Testing

@testable import Limiters

// The decisions of each mechanism, tried in every short history against a model that is too simple to
// be wrong: an array for the line, a count for the permits.

@Suite(.watched) struct `The limiter's state` {
  private enum Operation {
    case arrive
    case depart
    /// The waiter who arrived at this position, if it waits.
    case leave(Int)
    case setLimit(Int)
  }

  @Test func `hands permits on in order and conserves them, in every short history`() throws {
    let operations: [Operation] = [
      .arrive, .depart, .leave(1), .leave(2), .setLimit(1), .setLimit(2),
    ]
    try forEverySequence(of: operations, length: 6) { sequence in
      var state = LimiterState<Int>(limit: 1)
      var limit = 1
      var admitted = 0
      var line: [Int] = []
      var tickets: [Int: LimiterState<Int>.Ticket] = [:]
      var arrivals = 0
      for operation in sequence {
        switch operation {
        case .arrive:
          let ticket = state.arrive(arrivals)
          if admitted < limit {
            try #require(ticket == nil)
            admitted += 1
          } else {
            let ticket = try #require(ticket)
            tickets[arrivals] = ticket
            line.append(arrivals)
          }
          arrivals += 1
        case .depart:
          guard admitted > 0 else { continue }
          admitted -= 1
          let next = admitted < limit && !line.isEmpty ? line.removeFirst() : nil
          try #require(state.depart() == next)
          if next != nil { admitted += 1 }
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let expected = line.firstIndex(of: arrival).map { line.remove(at: $0) }
          try #require(state.leave(ticket) == expected)
        case .setLimit(let newLimit):
          limit = newLimit
          let next = Array(line.prefix(max(0, limit - admitted)))
          line.removeFirst(next.count)
          admitted += next.count
          try #require(state.setLimit(limit) == next)
        }
        try #require(state.running == admitted)
        try #require(state.waiting == line.count)
        try #require(state.waiting == 0 || state.running >= state.limit)
      }
    }
  }

  @Test func `gives a newcomer no permit while somebody waits`() {
    var state = LimiterState<Int>(limit: 1)
    #expect(state.arrive(0) == nil)
    #expect(state.arrive(1) != nil)
    #expect(state.depart() == 1)
    let overtook = state.admitAtOnce()
    #expect(!overtook)
  }
}

@Suite(.watched) struct `The serial permit's state` {
  private enum Operation {
    case arrive
    case enqueue
    case release
    case leave(Int)
  }

  private enum Entry: Equatable {
    case waiter(Int)
    case work(Int)
  }

  @Test func `passes the permit on in order, in every short history`() throws {
    let operations: [Operation] = [.arrive, .enqueue, .release, .leave(1), .leave(2)]
    try forEverySequence(of: operations, length: 6) { sequence in
      var state = SerialPermitState<Int, Int>()
      var isTaken = false
      var line: [Entry] = []
      var tickets: [Int: SerialPermitState<Int, Int>.Ticket] = [:]
      var arrivals = 0
      for operation in sequence {
        switch operation {
        case .arrive:
          let ticket = state.arrive(arrivals)
          try #require((ticket == nil) == !isTaken)
          if isTaken { line.append(.waiter(arrivals)) }
          tickets[arrivals] = ticket
          isTaken = true
          arrivals += 1
        case .enqueue:
          let hasPermit = state.enqueue(arrivals)
          try #require(hasPermit == !isTaken)
          if isTaken { line.append(.work(arrivals)) }
          isTaken = true
          arrivals += 1
        case .release:
          guard isTaken else { continue }
          let expected = line.isEmpty ? nil : line.removeFirst()
          isTaken = expected != nil
          switch state.release() {
          case .waiter(let waiter): try #require(expected == .waiter(waiter))
          case .work(let work): try #require(expected == .work(work))
          case nil: try #require(expected == nil)
          }
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let index = line.firstIndex(of: .waiter(arrival))
          if let index { line.remove(at: index) }
          try #require(state.leave(ticket) == index.map { _ in arrival })
        }
        try #require(state.isTaken == isTaken)
        try #require(state.waiting == line.count)
      }
    }
  }
}

@Suite(.watched) struct `The condition's state` {
  private enum Operation {
    case arrive
    case settle(Condition.Outcome)
    case leave(Int)
  }

  @Test func `wakes every waiter once, in every short history`() throws {
    let operations: [Operation] = [
      .arrive, .settle(.signalled), .settle(.dropped), .settle(.cancelled), .leave(0), .leave(1),
    ]
    try forEverySequence(of: operations, length: 6) { sequence in
      var state = ConditionState<Int>()
      var outcome: Condition.Outcome?
      var parked: [Int] = []
      var tickets: [WaiterQueue<Int>.Ticket] = []
      for operation in sequence {
        switch operation {
        case .arrive:
          switch state.arrive(tickets.count) {
          case .settled(let settled): try #require(settled == outcome)
          case .wait(let ticket):
            try #require(outcome == nil)
            parked.append(tickets.count)
            tickets.append(ticket)
          }
        case .settle(let settled):
          try #require(state.settle(settled) == parked)
          parked = []
          outcome = outcome ?? settled
        case .leave(let arrival):
          guard arrival < tickets.count else { continue }
          let expected = parked.firstIndex(of: arrival).map { parked.remove(at: $0) }
          try #require(state.leave(tickets[arrival]) == expected)
        }
        try #require(state.outcome == outcome)
        try #require(state.waiting == parked.count)
      }
    }
  }
}

@Suite(.watched) struct `The hand-off's state` {
  @Test func `gives the value to the receiver when the value comes first`() {
    var state = HandOffState<Int, String>.empty
    #expect(state.deliver(1) == nil)
    #expect(state.receive(with: "receiver") == 1)
  }

  @Test func `gives the value to the receiver when the receiver comes first`() {
    var state = HandOffState<Int, String>.empty
    #expect(state.receive(with: "receiver") == nil)
    #expect(state.deliver(1) == "receiver")
  }

  @Test func `stops when a value is delivered twice`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      var state = HandOffState<Int, String>.empty
      _ = state.deliver(1)
      _ = state.deliver(2)
    }
    #expect(message(of: result).contains("a hand-off was delivered twice"))
  }

  @Test func `stops when it is received twice`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      var state = HandOffState<Int, String>.empty
      _ = state.receive(with: "first")
      _ = state.receive(with: "second")
    }
    #expect(message(of: result).contains("a hand-off was received twice"))
  }
}
