import TestSupport
import Testing

@testable import Limiters

// The decisions of each mechanism, tried in every short history against a model that is too simple to
// be wrong: an array for the line, a count for the permits.

@Suite(.watched) struct `The limiter's state` {
  private enum Operation {
    case arrive(weight: Int, priority: UInt8)
    case depart
    /// The waiter who arrived at this position, if it waits.
    case leave(Int)
    case setLimit(Int)
    case close
  }

  /// Holders and a line, as simple as can be.
  private struct Model {
    var limit = 1
    var holders: [Int] = []
    var line: [(number: Int, weight: Int, priority: UInt8)] = []
    var isClosed = false

    func fits(_ weight: Int) -> Bool { holders.isEmpty || holders.reduce(weight, +) <= limit }

    /// Joins behind those who are at least as important.
    mutating func join(_ number: Int, _ weight: Int, _ priority: UInt8) {
      let index = line.firstIndex { $0.priority < priority } ?? line.endIndex
      line.insert((number, weight, priority), at: index)
    }

    /// Admits from the front, and returns who it was.
    mutating func admit() -> [Int] {
      var admitted: [Int] = []
      while let next = line.first, fits(next.weight) {
        holders.append(next.weight)
        admitted.append(next.number)
        line.removeFirst()
      }
      return admitted
    }
  }

  /// By priority, the light ones go first, or the heavy ones.
  @Test(
    arguments: [[1, 2], [2, 3]].fewUnlessSearching { $0 == [1, 2] },
    ([[0, 0], [1, 0], [0, 1]] as [[UInt8]]).fewUnlessSearching { $0 == [1, 0] }
  )
  func `hands permits on in order and conserves them, in every short history`(
    weights: [Int],
    priorities: [UInt8]
  ) throws {
    let operations: [Operation] =
      zip(weights, priorities).map { .arrive(weight: $0, priority: $1) } + [
        .depart, .leave(1), .leave(2), .setLimit(1), .setLimit(2), .close,
      ]
    try forEverySequence(of: operations, length: 5) { sequence in
      var state = LimiterState<Int>(limit: 1)
      var model = Model()
      var tickets: [Int: LimiterState<Int>.Ticket] = [:]
      var arrivals = 0
      for operation in sequence {
        switch operation {
        case .arrive(let weight, let priority):
          let arrival = state.arrive(
            .init(waiter: arrivals, weight: weight, priority: priority)
          )
          if case .refused = arrival {
            try #require(model.isClosed)
          } else {
            try #require(!model.isClosed)
            model.join(arrivals, weight, priority)
          }
          let admitted = model.admit()
          switch arrival {
          case .admitted: try #require(admitted == [arrivals])
          case .wait(let ticket, let turns):
            try #require(turns.all == admitted)
            tickets[arrivals] = ticket
          case .refused: try #require(admitted.isEmpty)
          }
          arrivals += 1
        case .depart:
          guard !model.holders.isEmpty else { continue }
          let turns = state.depart(model.holders.removeFirst())
          try #require(turns.all == model.admit())
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let index = model.line.firstIndex { $0.number == arrival }
          if let index { model.line.remove(at: index) }
          let left = state.leave(ticket)
          try #require(left?.leaver == (index == nil ? nil : arrival))
          try #require(left?.turns.all ?? [] == model.admit())
        case .setLimit(let limit):
          model.limit = limit
          try #require(state.setLimit(limit).all == model.admit())
        case .close:
          let (refused, turns) = state.close()
          try #require(refused == model.line.map(\.number))
          try #require(turns.all.isEmpty)
          model.line = []
          model.isClosed = true
        }
        try #require(state.running == model.holders.reduce(0, +))
        try #require(state.holders == model.holders.count)
        try #require(state.waiting == model.line.count)
        try #require(state.limit == model.limit)
        let offer = state.offer()
        try #require((offer == nil) == (!model.line.isEmpty || model.isClosed || state.free < 0))
        if let offer {
          try #require(offer.free == state.free && offer.holders == state.holders)
        }
      }
    }
  }

  @Test func `gives a newcomer no permit while somebody waits`() {
    var state = LimiterState<Int>(limit: 2)
    _ = state.arrive(.init(waiter: 0))
    guard case .wait = state.arrive(.init(waiter: 1, weight: 2)) else {
      Issue.record("two permits were given out of one")
      return
    }
    let overtook = state.admitAtOnce()
    #expect(!overtook, "one permit rests for the one who needs two")
  }

  @Test func `admits who stood behind a heavy waiter that left`() {
    var state = LimiterState<Int>(limit: 2)
    _ = state.arrive(.init(waiter: 0))
    guard case .wait(let heavy, _) = state.arrive(.init(waiter: 1, weight: 2)) else { return }
    _ = state.arrive(.init(waiter: 2))
    #expect(state.leave(heavy)?.turns.all == [2])
  }

  @Test func `admits by priority, but first a waiter that has waited for the aging bound`() {
    var state = LimiterState<String>(limit: 1, agingAfter: .seconds(10))
    _ = state.arrive(.init(waiter: "holder"))
    func arrive(_ name: String, _ priority: UInt8, at seconds: Int) {
      _ = state.arrive(.init(waiter: name, priority: priority, arrived: .seconds(seconds)))
    }
    arrive("low 1", 1, at: 1)
    arrive("high 1", 9, at: 2)
    arrive("middle", 5, at: 3)
    arrive("high 2", 9, at: 4)
    arrive("low 2", 1, at: 5)
    #expect(state.longestWait(at: .seconds(6)) == .seconds(5), "that of low 1")
    let order = [9, 10, 11, 12, 14].flatMap { state.depart(at: .seconds($0)).all }
    #expect(order == ["high 1", "high 2", "low 1", "middle", "low 2"])
  }

  @Test
  func `admits the one first that has waited longest, of those who have waited for the bound`() {
    for names in [["low", "high"], ["high", "low"]] {
      var state = LimiterState<String>(limit: 1, agingAfter: .seconds(10))
      _ = state.arrive(.init(waiter: "holder"))
      for (second, name) in names.enumerated() {
        let priority: UInt8 = name == "low" ? 1 : 9
        _ = state.arrive(.init(waiter: name, priority: priority, arrived: .seconds(second)))
      }
      let order = names.flatMap { _ in state.depart(at: .seconds(20)).all }
      #expect(order == names)
    }
  }

  @Test func `keeps the order of those whom closing does not refuse`() {
    var state = LimiterState<Int>(limit: 1)
    for waiter in 0..<6 {
      _ = state.arrive(.init(waiter: waiter, outlastsClosing: waiter.isMultiple(of: 2)))
    }
    let (refused, turns) = state.close()
    #expect(refused == [1, 3, 5] && turns.all.isEmpty)
    let order = (0..<2).flatMap { _ in state.depart().all }
    #expect(order == [2, 4])
  }

  @Test func `counts what happened`() {
    var state = LimiterState<Int>(limit: 1)
    _ = state.arrive(.init(waiter: 0))
    for (waiter, why) in [(1, LimiterState<Int>.Departure.cancelled), (2, .timedOut)] {
      guard case .wait(let ticket, _) = state.arrive(.init(waiter: waiter, arrived: .seconds(1)))
      else {
        continue
      }
      _ = state.leave(ticket, why, at: .seconds(1 + waiter))
      let again = state.leave(ticket, why)
      #expect(again == nil, "it has left already")
    }
    _ = state.arrive(.init(waiter: 3, arrived: .seconds(10)))
    #expect(state.longestWait(at: .seconds(11)) == .seconds(2))
    #expect(state.longestWait(at: .seconds(15)) == .seconds(5), "those who still wait count too")
    _ = state.depart(at: .seconds(17))
    #expect(state.longestWait(at: .seconds(17)) == .seconds(7))
    #expect(state.admitted == 2 && state.cancelled == 1 && state.timedOut == 1)
  }

  @Test func `remembers how long those waited whom it refuses`() {
    var state = LimiterState<Int>(limit: 1)
    _ = state.arrive(.init(waiter: 0))
    _ = state.arrive(.init(waiter: 1, arrived: .seconds(1)))
    _ = state.close(at: .seconds(5))
    #expect(state.longestWait(at: .seconds(6)) == .seconds(4))
  }
}

@Suite(.watched) struct `The permits' word` {
  @Test func `takes and gives back what is there, and nothing while it is locked`() {
    for limit in [1, 2, 3, PermitWord.mostPermits] {
      var word = PermitWord(free: limit, holders: 0)
      #expect(word.taking(limit + 1) == nil)
      for taken in 1...min(limit, 3) {
        guard let next = word.taking(1) else {
          Issue.record("\(limit - taken + 1) permits were free")
          return
        }
        word = next
        #expect(word.free == limit - taken)
        #expect(word.holders == taken)
        #expect(word.admissions == taken)
      }
      #expect(word.givingBack(1)?.holders == min(limit, 3) - 1)
      #expect(word.givingBack(1)?.free == limit - min(limit, 3) + 1)
    }
    #expect(PermitWord.locked.taking(1) == nil)
    #expect(PermitWord.locked.givingBack(1) == nil)
  }

  @Test func `asks the lock before the admissions overflow`() throws {
    var word = PermitWord(free: 1, holders: 0)
    for count in 1...255 {
      word = try #require(word.taking(1)?.givingBack(1))
      #expect(word.admissions == count)
    }
    #expect(word.taking(1) == nil)
    var state = LimiterState<Int>(limit: 1)
    state.absorb(word)
    #expect(state.admitted == 255)
    #expect(state.offer()?.admissions == 0)
  }

  @Test func `leaves it to the lock to count more holders than it has room for`() {
    let most = PermitWord.mostHolders
    let word = PermitWord(free: PermitWord.mostPermits - most, holders: most)
    #expect(word.taking(1) == nil)
    #expect(word.givingBack(1)?.taking(1)?.holders == most)
    var state = LimiterState<Int>(limit: PermitWord.mostPermits)
    state.absorb(word)
    #expect(state.holders == most)
    let isAdmitted = state.admitAtOnce()
    #expect(isAdmitted)
    #expect(state.offer() == nil, "the word has no room for the holders")
    _ = state.depart()
    #expect(state.offer() == word)
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
      var tickets: [ConditionState<Int>.Ticket] = []
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
          let (first, others) = state.settle(settled)
          try #require([first].compactMap(\.self) + (others ?? []) == parked)
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

extension LimiterState.Turns {
  var all: [Waiter] { [first].compactMap(\.self) + (others ?? []) }
}
