import TestSupport
import Testing

@testable import Limiters

private final class Element: Sendable {
  let boxed: PoolElement

  init() {
    final class Box: Sendable {}
    let box = Box()
    boxed = PoolElement(box: box, identity: ObjectIdentifier(box))
  }
}

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
    /// All idle elements have lain there too long.
    case expire
    case shutDown
  }

  /// What a loan is of, by name.
  private typealias Named = (loan: PoolLoan, identity: ObjectIdentifier?)

  @Test func `conserves places and serves in order, in every short history`() throws {
    let operations: [Operation] = [
      .arrive, .built, .buildFailed, .giveBack, .discard, .leave(1), .expire, .shutDown,
    ]
    try forEverySequence(of: operations, length: 5) { sequence in
      var state = PoolState<Int>(maxElements: 1, idleTimeout: .zero)
      var building: [PoolLoan] = []
      var lent: [Named] = []
      var idle: [ObjectIdentifier?] = []
      var line: [Int] = []
      var tickets: [Int: PoolState<Int>.Ticket] = [:]
      var arrivals = 0
      var isShutDown = false
      func take(_ grant: PoolGrant) {
        switch grant {
        case .element(let element, let loan): lent.append((loan, element.identity))
        case .place(let loan): building.append(loan)
        }
      }
      for operation in sequence {
        switch operation {
        case .arrive:
          switch state.arrive(arrivals) {
          case .granted(let grant):
            try #require(!isShutDown && lent.count + building.count < 1)
            if case .element(let element, _) = grant {
              let expected = idle.popLast()
              try #require(element.identity == expected)
            } else {
              try #require(idle.isEmpty)
            }
            take(grant)
          case .wait(let ticket):
            try #require(!isShutDown && idle.isEmpty && lent.count + building.count == 1)
            line.append(arrivals)
            tickets[arrivals] = ticket
          case .refused:
            try #require(isShutDown)
          }
          arrivals += 1
        case .built:
          guard !building.isEmpty else { continue }
          let element = Element().boxed
          let loan = building.removeFirst()
          let isNew = state.built(element, for: loan)
          try #require(isNew)
          lent.append((loan, element.identity))
        case .buildFailed, .discard, .giveBack:
          let isBuilding = if case .buildFailed = operation { true } else { false }
          let isReturned = if case .giveBack = operation { true } else { false }
          guard let loan = isBuilding ? building.first : lent.first?.loan else { continue }
          let identity = isBuilding ? nil : lent.removeFirst().identity
          if isBuilding { building.removeFirst() }
          switch isReturned ? state.giveBack(loan) : state.giveUp(loan) {
          case .hand(let grant, let waiter):
            try #require(line.first == waiter)
            line.removeFirst()
            take(grant)
            try #require(isReturned ? lent.last?.identity == identity : !building.isEmpty)
          case .keep:
            try #require(isReturned && line.isEmpty && !isShutDown)
            idle.append(identity)
          case .vacate(let element, _):
            try #require(line.isEmpty && (!isReturned || isShutDown))
            try #require(element?.identity == identity)
          case .over:
            Issue.record("a loan was not recognised")
          }
          let again = state.giveBack(loan)
          guard case .over = again else {
            Issue.record("a loan ended twice")
            return
          }
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let expected = line.firstIndex(of: arrival).map { line.remove(at: $0) }
          try #require(state.leave(ticket) == expected)
        case .expire:
          let expired = state.expire(at: .seconds(1)).expired
          try #require(expired.map(\.identity) == idle)
          idle = []
        case .shutDown:
          let (refused, elements) = state.shutDown()
          try #require(refused == line)
          try #require(elements.map(\.identity) == idle)
          (line, idle, isShutDown) = ([], [], true)
        }
        try #require(state.size == lent.count + idle.count + building.count)
        try #require(state.idle == idle.count)
        try #require(state.waiting == line.count)
        try #require(line.isEmpty || lent.count + building.count == 1)
      }
    }
  }

  /// What can happen to a pool whose limit changes.
  private enum Change {
    case arrive
    case built
    case giveBack
    case discard
    case leave(Int)
    case resize(Int)
  }

  @Test
  func
    `lends no more than the limit of the moment, and lets nobody wait below it, in every short history`()
    throws
  {
    let changes: [Change] = [
      .arrive, .built, .giveBack, .discard, .leave(1), .resize(1), .resize(2),
    ]
    try forEverySequence(of: changes, length: searchesRun ? 6 : 5) { sequence in
      var state = PoolState<Int>(maxElements: 2)
      var limit = 2
      var building: [PoolLoan] = []
      var lent: [PoolLoan] = []
      var line: [Int] = []
      var tickets: [Int: PoolState<Int>.Ticket] = [:]
      var arrivals = 0
      func take(_ grant: PoolGrant) throws {
        switch grant {
        case .element(_, let loan): lent.append(loan)
        case .place(let loan): building.append(loan)
        }
        try #require(lent.count + building.count <= limit)
      }
      for change in sequence {
        switch change {
        case .arrive:
          switch state.arrive(arrivals) {
          case .granted(let grant): try take(grant)
          case .wait(let ticket):
            line.append(arrivals)
            tickets[arrivals] = ticket
          case .refused: Issue.record("nobody shut it down")
          }
          arrivals += 1
        case .built:
          guard !building.isEmpty else { continue }
          let loan = building.removeFirst()
          let isNew = state.built(Element().boxed, for: loan)
          try #require(isNew)
          lent.append(loan)
        case .giveBack, .discard:
          guard !lent.isEmpty else { continue }
          let loan = lent.removeFirst()
          let isReturned = if case .giveBack = change { true } else { false }
          switch isReturned ? state.giveBack(loan) : state.giveUp(loan) {
          case .hand(let grant, let waiter):
            try #require(line.removeFirst() == waiter)
            try take(grant)
          case .keep: try #require(isReturned && line.isEmpty)
          case .vacate(let element, _): try #require(element != nil)
          case .over: Issue.record("a loan was not recognised")
          }
        case .leave(let arrival):
          guard let ticket = tickets[arrival] else { continue }
          let expected = line.firstIndex(of: arrival).map { line.remove(at: $0) }
          try #require(state.leave(ticket) == expected)
        case .resize(let count):
          limit = count
          let idle = state.idle
          let (places, gone) = state.resize(to: count)
          for (loan, waiter) in places {
            try #require(line.removeFirst() == waiter)
            try take(.place(loan))
          }
          try #require(state.idle == idle - gone.count)
        }
        try #require(state.size == lent.count + building.count + state.idle)
        try #require(state.size <= limit || state.idle == 0)
        try #require(state.waiting == line.count)
        try #require(line.isEmpty || lent.count + building.count >= limit)
      }
    }
  }

  @Test func `recognises the return of a loan that is over, also when the element is lent again`() {
    var state = PoolState<Int>(maxElements: 1)
    guard let first = state.reserve(upTo: 1), state.built(Element().boxed, for: first) else {
      Issue.record("a place was free")
      return
    }
    guard case .keep = state.giveBack(first), let (_, second) = state.takeIdle() else {
      Issue.record("the element was there")
      return
    }
    guard case .over = state.giveBack(first), case .over = state.giveUp(first) else {
      Issue.record("A returned what B has")
      return
    }
    guard case .keep = state.giveBack(second) else {
      Issue.record("B's loan was not over")
      return
    }
  }

  @Test func `recognises by its identity what is lent, what is idle and what is not its own`()
    throws
  {
    var state = PoolState<Int>(maxElements: 2)
    let element = Element().boxed
    let identity = try #require(element.identity)
    guard let loan = state.reserve(upTo: 2) else { return }
    #expect(state.loan(of: identity) == nil)
    let isNew = state.built(element, for: loan)
    #expect(isNew)
    #expect(state.loan(of: identity) == loan)
    guard let other = state.reserve(upTo: 2) else { return }
    let isNewAgain = state.built(element, for: other)
    #expect(!isNewAgain, "the same object, built twice")
    _ = state.giveBack(loan)
    #expect(state.loan(of: identity) == loan, "which is over")
    guard let (_, again) = state.takeIdle() else { return }
    _ = state.remove(again)
    #expect(state.loan(of: identity) == nil, "it was no good any more")
    let isNewOnceMore = state.built(element, for: again)
    #expect(isNewOnceMore)
    _ = state.giveBack(again)
    _ = state.shutDown()
    #expect(state.loan(of: identity) == nil)
  }

  @Test func `ends when the last of its elements has come back, and not before`() {
    var state = PoolState<Int>(maxElements: 2)
    let loans = (0..<2).compactMap { _ in state.reserve(upTo: 2) }
    for loan in loans {
      let isNew = state.built(Element().boxed, for: loan)
      #expect(isNew)
    }
    _ = state.shutDown()
    let mustWait = state.awaitEnd(7)
    #expect(mustWait)
    let told = loans.map { loan in
      guard case .vacate(_, let ended) = state.giveBack(loan) else { return [-1] }
      return ended
    }
    #expect(told == [[], [7]])
    let mustWaitAgain = state.awaitEnd(8)
    #expect(!mustWaitAgain)
  }

  @Test func `lends the element used last first, while it is warm`() {
    var state = PoolState<Int>(maxElements: 3)
    let elements = (0..<3).map { _ in Element().boxed }
    let loans = elements.compactMap { _ in state.reserve(upTo: 3) }
    for (element, loan) in zip(elements, loans) { _ = state.built(element, for: loan) }
    for loan in loans { _ = state.giveBack(loan) }
    let warmest = state.takeIdle()
    #expect(warmest?.0.identity == elements[2].identity)
  }

  @Test func `lets go of what has lain idle longest when there may be fewer`() {
    var state = PoolState<Int>(maxElements: 3)
    let elements = (0..<3).map { _ in Element().boxed }
    let loans = elements.compactMap { _ in state.reserve(upTo: 3) }
    for (element, loan) in zip(elements, loans) { _ = state.built(element, for: loan) }
    for loan in loans { _ = state.giveBack(loan) }
    let (places, gone) = state.resize(to: 1)
    #expect(places.isEmpty)
    #expect(gone.map(\.identity) == elements[..<2].map(\.identity))
  }

  @Test func `counts how long an element has lain idle from its last return on`() {
    var state = PoolState<Int>(maxElements: 1, idleTimeout: .seconds(10))
    guard let first = state.reserve(upTo: 1), state.built(Element().boxed, for: first) else {
      Issue.record("a place was free")
      return
    }
    _ = state.giveBack(first, at: .seconds(5))
    guard let (_, second) = state.takeIdle() else { return }
    _ = state.giveBack(second, at: .seconds(12))
    let (expired, next) = state.expire(at: .seconds(15))
    #expect(expired.isEmpty && next == .seconds(22))
  }

  @Test func `gives up what has lain idle too long, the oldest first, and keeps the smallest size`()
  {
    var state = PoolState<Int>(maxElements: 3, minElements: 1, idleTimeout: .seconds(10))
    let elements = (0..<3).map { _ in Element().boxed }
    let loans = elements.compactMap { _ in state.reserve(upTo: 3) }
    for (element, loan) in zip(elements, loans) { _ = state.built(element, for: loan) }
    for (second, loan) in loans.enumerated() {
      guard case .keep(let startsTimer) = state.giveBack(loan, at: .seconds(second)) else {
        Issue.record("nobody waited")
        return
      }
      #expect(startsTimer == (second == 0), "one timer for all")
    }
    var (expired, next) = state.expire(at: .seconds(10))
    #expect(expired.map(\.identity) == [elements[0].identity])
    #expect(next == .seconds(11))
    (expired, next) = state.expire(at: .seconds(30))
    #expect(expired.map(\.identity) == [elements[1].identity])
    #expect(next == nil)
    #expect(state.idle == 1)
  }

  @Test func `gives up what has lain idle too long also while others are lent`() {
    var state = PoolState<Int>(maxElements: 2, minElements: 1, idleTimeout: .seconds(10))
    let elements = (0..<2).map { _ in Element().boxed }
    let loans = elements.compactMap { _ in state.reserve(upTo: 2) }
    for (element, loan) in zip(elements, loans) { _ = state.built(element, for: loan) }
    guard case .keep(startsTimer: true) = state.giveBack(loans[0]) else {
      Issue.record("nobody looks after the idle element, though another is left without it")
      return
    }
    let (expired, next) = state.expire(at: .seconds(10))
    #expect(expired.map(\.identity) == [elements[0].identity] && next == nil)
    #expect(state.size == 1 && state.idle == 0)
  }
}
