import TestSupport
import Testing

@testable import Limiters

/// The pool's state with its word, as `PoolCore` uses the two, on one thread.
private struct Bench {
  private(set) var state: PoolState<Int>
  private var word = SpareWord.locked
  /// What a borrower that has changed the word reads beside it.
  private(set) weak var spare: AnyObject?

  init(_ state: PoolState<Int>) { self.state = state }

  mutating func decide<Decision>(_ decision: (inout PoolState<Int>) -> Decision) -> Decision {
    if state.isOffering {
      state.absorb(word)
      word = .locked
    }
    defer {
      if let (offer, element) = state.offer() {
        spare = element.box
        word = offer
      }
    }
    return decision(&state)
  }

  mutating func takeSpare() -> PoolLoan? {
    guard let lent = word.lending else { return nil }
    word = lent
    return lent.loan
  }

  /// False if the lock must decide.
  mutating func giveBackSpare(_ loan: PoolLoan) -> Bool {
    guard loan.isByWord, word == SpareWord(of: loan, isLent: true) else { return false }
    word = SpareWord(of: loan, isLent: false)
    return true
  }
}

private final class Thing: Sendable {}

@Suite(.watched) struct `The element that a pool offers` {
  private enum Operation: CaseIterable {
    case take
    /// The borrower that has been one longest, or shortest, ends its loan itself.
    case giveBackFirst, giveBackLast, discardFirst
    /// Somebody gives back, or up, what the borrower has that has been one longest, and knows the element only.
    case returnFirst, giveUpFirst
    case lower, shutDown
  }

  private struct Borrower {
    let loan: PoolLoan
    let identity: ObjectIdentifier
    /// If it was borrowed without the lock: what lay beside the word then, to be read at any later time.
    let offered: ObjectIdentifier?
  }

  @Test func `is lent as under the lock, and stays for its borrower, in every short history`()
    throws
  {
    var offers = 0
    var kept = 0
    try forEverySequence(of: Operation.allCases, length: 5) { sequence in
      var pool = Bench(PoolState(maxElements: 2))
      var limit = 2
      var isShutDown = false
      var borrowers: [Borrower] = []
      // The model: which elements lie idle, in order, and which loan of each other is the present one.
      var idle: [ObjectIdentifier] = []
      var lent: [ObjectIdentifier: PoolLoan] = [:]
      var alive: [ObjectIdentifier: () -> Bool] = [:]
      func put(_ identity: ObjectIdentifier) {
        lent[identity] = nil
        if !isShutDown, idle.count + lent.count < limit { idle.append(identity) }
      }
      for operation in sequence {
        switch operation {
        case .take:
          if let loan = pool.takeSpare() {
            offers += 1
            let warmest = idle.popLast()
            let identity = try #require(warmest)
            try #require(pool.spare.map(ObjectIdentifier.init) == identity)
            lent[identity] = loan
            borrowers.append(Borrower(loan: loan, identity: identity, offered: identity))
            break
          }
          let arrival = pool.decide { state in
            let arrival = state.arrive(0)
            if case .wait(let ticket) = arrival { _ = state.leave(ticket) }
            return arrival
          }
          switch arrival {
          case .granted(.element(let element, let loan)):
            let warmest = idle.popLast()
            let identity = try #require(warmest)
            try #require(element.identity == identity)
            lent[identity] = loan
            borrowers.append(Borrower(loan: loan, identity: identity, offered: nil))
          case .granted(.place(let loan)):
            try #require(idle.isEmpty && lent.count < limit && !isShutDown)
            let thing = Thing()
            let identity = ObjectIdentifier(thing)
            let isNew = pool.decide {
              $0.built(PoolElement(box: thing, identity: identity), for: loan)
            }
            try #require(isNew)
            alive[identity] = { [weak thing] in thing != nil }
            lent[identity] = loan
            borrowers.append(Borrower(loan: loan, identity: identity, offered: nil))
          case .wait:
            try #require(idle.isEmpty && lent.count >= limit)
          case .refused:
            try #require(isShutDown)
          }
        case .giveBackFirst, .giveBackLast, .discardFirst:
          guard !borrowers.isEmpty else { continue }
          let borrower =
            operation == .giveBackLast ? borrowers.removeLast() : borrowers.removeFirst()
          let isPresent = lent[borrower.identity] == borrower.loan
          if operation != .discardFirst, pool.giveBackSpare(borrower.loan) {
            try #require(isPresent && borrower.offered != nil && !isShutDown)
          } else {
            let (ending, _) = pool.decide { state in
              let ending =
                operation == .discardFirst
                ? state.giveUp(borrower.loan) : state.giveBack(borrower.loan)
              return (ending, state.endOffer(borrower.loan))
            }
            if case .over = ending { try #require(!isPresent) } else { try #require(isPresent) }
          }
          if isPresent {
            if operation == .discardFirst {
              lent[borrower.identity] = nil
            } else {
              put(borrower.identity)
            }
          }
        case .returnFirst, .giveUpFirst:
          guard let identity = borrowers.first?.identity else { continue }
          let found = pool.decide { $0.loan(of: identity) }
          if let present = lent[identity] {
            try #require(found?.place == present.place && found?.lending == present.lending)
          }
          guard let found else { continue }
          let ending = pool.decide {
            operation == .returnFirst ? $0.giveBack(found) : $0.giveUp(found)
          }
          if case .over = ending { try #require(lent[identity] == nil) }
          if lent[identity] != nil {
            if operation == .returnFirst { put(identity) } else { lent[identity] = nil }
          }
        case .lower:
          limit = 1
          let (_, gone) = pool.decide { $0.resize(to: 1) }
          while idle.count + lent.count > 1, !idle.isEmpty { idle.removeFirst() }
          withExtendedLifetime(gone) {}
        case .shutDown:
          isShutDown = true
          _ = pool.decide { $0.shutDown() }
          idle = []
        }
        // What a borrower may still read is there; of what the pool has let go, nothing else is.
        for (identity, isAlive) in alive {
          let isRead = borrowers.contains { $0.offered == identity }
          let isInPool = idle.contains(identity) || lent[identity] != nil
          try #require(isAlive() == (isRead || isInPool))
          if isRead, !isInPool { kept += 1 }
        }
        for borrower in borrowers where borrower.offered != nil {
          try #require(pool.spare.map(ObjectIdentifier.init) == borrower.offered)
        }
      }
    }
    #expect(offers > 0 && kept > 0)
  }

  @Test func `stays for its borrower though another was built and given up in its place`() throws {
    var pool = Bench(PoolState(maxElements: 1))
    func build(in loan: PoolLoan) -> ObjectIdentifier {
      let thing = Thing()
      let identity = ObjectIdentifier(thing)
      let isNew = pool.decide { $0.built(PoolElement(box: thing, identity: identity), for: loan) }
      #expect(isNew)
      return identity
    }
    let place = pool.decide { $0.reserve(upTo: 1) }
    let first = try #require(place)
    let identity = build(in: first)
    _ = pool.decide { $0.giveBack(first) }
    let taken = pool.takeSpare()
    let loan = try #require(taken)
    // Somebody else gives it up, and the next comes and goes, before the borrower has looked.
    _ = pool.decide { $0.giveUp(loan) }
    let placeAgain = pool.decide { $0.reserve(upTo: 1) }
    let second = try #require(placeAgain)
    _ = build(in: second)
    _ = pool.decide { $0.giveUp(second) }
    #expect(pool.spare.map(ObjectIdentifier.init) == identity)
    _ = pool.decide { ($0.giveUp(loan), $0.endOffer(loan)) }
    #expect(pool.spare == nil)
  }

  @Test func `is none whose place has no room in the word`() throws {
    let size = SpareWord.lastPlace + 2
    var pool = Bench(PoolState(maxElements: size))
    var last: PoolLoan?
    for _ in 1...size {
      let place = pool.decide { $0.reserve(upTo: size) }
      let loan = try #require(place)
      _ = pool.decide { $0.built(PoolElement(box: Thing(), identity: nil), for: loan) }
      last = loan
    }
    let loan = try #require(last)
    #expect(loan.place == SpareWord.lastPlace + 1)
    _ = pool.decide { $0.giveBack(loan) }
    #expect(pool.takeSpare() == nil)
    let again = pool.decide { $0.takeIdle()?.1.place }
    #expect(again == loan.place)
  }

  @Test(arguments: [true, false])
  func `is none where elements expire or are looked at before they are lent`(expire: Bool) {
    var pool = Bench(
      PoolState(maxElements: 1, idleTimeout: expire ? .seconds(1) : nil, validates: !expire)
    )
    guard let loan = pool.decide({ $0.reserve(upTo: 1) }) else { return }
    let thing = Thing()
    _ = pool.decide {
      $0.built(PoolElement(box: thing, identity: ObjectIdentifier(thing)), for: loan)
    }
    guard case .keep = pool.decide({ $0.giveBack(loan) }) else {
      Issue.record("it lies idle")
      return
    }
    #expect(pool.takeSpare() == nil)
  }

  @Test func `is lent by the lock where the number of the lending has no room in the word`() {
    let last = PoolLoan(
      place: SpareWord.lastPlace,
      lending: SpareWord.lendings - 1,
      isByWord: true
    )
    let word = SpareWord(of: last, isLent: false)
    #expect(word.bits >= 0)
    #expect(word.loan == last)
    #expect(word.lending == nil)
    let before = SpareWord(
      of: PoolLoan(place: last.place, lending: last.lending - 1),
      isLent: false
    )
    #expect(before.lending == SpareWord(of: last, isLent: true))
  }

  @Test func `is offered again when its borrower has ended the loan, not when somebody else has`()
    async throws
  {
    let pool = AsyncPool(maxElements: 2, minElements: 2) { Thing() }
    try await pool.prepare()
    let (box, loan) = try #require(pool.core.takeSpare())
    pool.return(pool.open(box.takeUnretainedValue()))
    #expect(pool.idle == 2)
    #expect(pool.core.takeSpare() == nil)
    let isPresent = pool.core.end(loan)
    #expect(!isPresent)
    #expect(pool.core.takeSpare() != nil)
  }

  @Test func `is not lent by the word to who gives it back by its identity`() async throws {
    let pool = AsyncPool(maxElements: 1) { Thing() }
    for _ in 1...2 {
      let thing = try await pool.get()
      #expect(pool.core.takeSpare() == nil)
      pool.return(thing)
    }
    #expect(pool.core.takeSpare() != nil)
  }

  @Test func `is the one that came back last, whichever that is`() async throws {
    let pool = AsyncPool(maxElements: 2, minElements: 2) { Thing() }
    try await pool.prepare()
    for _ in 1...3 {
      let first = try await pool.lease()
      let second = try await pool.lease()
      let last = ObjectIdentifier(first.element)
      second.return()
      first.return()
      for _ in 1...2 { #expect(try await pool.withElement { ObjectIdentifier($0) } == last) }
      // The other way round: what is lent first comes back first.
      let third = try await pool.lease()
      let fourth = try await pool.lease()
      let other = ObjectIdentifier(fourth.element)
      #expect(other != last)
      third.return()
      fourth.return()
      for _ in 1...2 { #expect(try await pool.withElement { ObjectIdentifier($0) } == other) }
    }
  }
}
