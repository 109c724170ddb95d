import TestSupport
import Testing

@testable import Limiters

// The atomic word and the value under the lock, together, in every interleaving of small cases. Each step
// below is one atomic operation of the limiter's code. A world is a value, so every step out of every world
// can be tried; worlds met before are not tried again.

private struct World {
  enum Phase: Hashable {
    case arriving
    /// Has read the word, and will try to swap it.
    case taking(Int64)
    case locking
    case arrivingUnderLock
    case waiting
    case running
    case returning(Int64)
    case lockingToReturn
    case returningUnderLock
    case denied
    case gone
  }

  /// Everything that can make a difference later.
  struct Key: Hashable {
    var word: Int64
    var owner: Int?
    var limit: Int
    var free: Int
    var holders: Int
    var phases: [Phase]
    var line: [Int]
    var cancelled: Set<Int>
    var resizes: [Int]
  }

  let weights: [Int]
  var word: Int64
  var state: LimiterState<Int>
  /// Who holds the lock: a task, or -1 for who resizes.
  var owner: Int?
  var phases: [Phase]
  var tickets: [Int: LimiterState<Int>.Ticket] = [:]
  var line: [Int] = []
  var cancelled: Set<Int> = []
  var resizes: [Int]

  init(limit: Int, weights: [Int], resizes: [Int]) {
    self.weights = weights
    self.resizes = resizes
    word = PermitWord(free: limit, holders: 0).bits
    state = LimiterState(limit: limit)
    phases = weights.map { _ in .arriving }
  }

  var key: Key {
    // The admissions that are counted in the word make no difference.
    let bits = word < 0 ? word : word & (1 << 55 - 1)
    return Key(
      word: bits,
      owner: owner,
      limit: state.limit,
      free: word < 0 ? state.free : 0,
      holders: word < 0 ? state.holders : 0,
      phases: phases.map { phase in
        switch phase {
        case .taking(let seen): .taking(seen & (1 << 55 - 1))
        case .returning(let seen): .returning(seen & (1 << 55 - 1))
        default: phase
        }
      },
      line: line,
      cancelled: cancelled,
      resizes: resizes
    )
  }

  var running: [Int] {
    phases.indices.filter {
      switch phases[$0] {
      case .running, .returning, .lockingToReturn: true
      case .returningUnderLock: true
      default: false
      }
    }
  }

  /// The worlds after each step that is possible now.
  func successors() throws -> [World] {
    var worlds: [World] = []
    for task in phases.indices {
      if let next = try step(task) { worlds.append(next) }
      if phases[task] == .waiting, owner == nil, !cancelled.contains(task) {
        worlds.append(try cancel(task))
      }
    }
    if owner == nil, !resizes.isEmpty {
      var next = self
      next.lock(as: -1)
      worlds.append(next)
    }
    if owner == -1 {
      var next = self
      let turns = next.state.setLimit(next.resizes.removeFirst())
      try next.unlock(turns.all)
      worlds.append(next)
    }
    return worlds
  }

  /// Takes the lock, and the counts out of the word.
  private mutating func lock(as owner: Int) {
    self.owner = owner
    if word >= 0 {
      state.absorb(PermitWord(bits: word))
      word = PermitWord.locked.bits
    }
  }

  private mutating func unlock(_ admitted: [Int]) throws {
    for task in admitted {
      try #require(phases[task] == .waiting, "only who waits is woken")
      try #require(line.first == task, "in order of arrival")
      line.removeFirst()
      phases[task] = .running
    }
    owner = nil
    if let offer = state.offer() { word = offer.bits }
  }

  private func cancel(_ task: Int) throws -> World {
    var next = self
    next.cancelled.insert(task)
    next.lock(as: task)
    guard let ticket = tickets[task], let (leaver, turns) = next.state.leave(ticket) else {
      Issue.record("a waiter was not in line")
      return next
    }
    try #require(leaver == task)
    next.phases[task] = .denied
    next.line.removeAll { $0 == task }
    try next.unlock(turns.all)
    return next
  }

  private func step(_ task: Int) throws -> World? {
    var next = self
    switch phases[task] {
    case .arriving:
      next.phases[task] = .taking(word)
    case .taking(let seen):
      guard let taken = PermitWord(bits: seen).taking(weights[task]) else {
        next.phases[task] = .locking
        return next
      }
      if word == seen {
        try #require(line.isEmpty, "a newcomer overtook")
        next.word = taken.bits
        next.phases[task] = .running
      } else {
        next.phases[task] = .taking(word)
      }
    case .locking:
      guard owner == nil else { return nil }
      next.lock(as: task)
      next.phases[task] = .arrivingUnderLock
    case .arrivingUnderLock:
      var admitted: [Int] = []
      switch next.state.arrive(.init(waiter: task, weight: weights[task])) {
      case .admitted:
        try #require(line.isEmpty, "a newcomer overtook")
        next.phases[task] = .running
      case .wait(let ticket, let turns):
        next.tickets[task] = ticket
        admitted = turns.all
        next.phases[task] = .waiting
        next.line.append(task)
      case .refused:
        Issue.record("refused by an open limiter")
      }
      try next.unlock(admitted)
    case .running:
      next.phases[task] = .returning(word)
    case .returning(let seen):
      guard let givenBack = PermitWord(bits: seen).givingBack(weights[task]) else {
        next.phases[task] = .lockingToReturn
        return next
      }
      if word == seen {
        next.word = givenBack.bits
        next.phases[task] = .gone
      } else {
        next.phases[task] = .returning(word)
      }
    case .lockingToReturn:
      guard owner == nil else { return nil }
      next.lock(as: task)
      next.phases[task] = .returningUnderLock
    case .returningUnderLock:
      next.phases[task] = .gone
      try next.unlock(next.state.depart(weights[task]).all)
    case .waiting, .denied, .gone:
      return nil
    }
    return next
  }

  /// What must be true at any time.
  func check(largestLimit: Int) throws {
    let weight = running.map { weights[$0] }.reduce(0, +)
    try #require(running.count <= 1 || weight <= largestLimit, "over-admission")
    if owner == nil {
      try #require(line.isEmpty || word < 0, "somebody waits, and the word is not locked")
    }
  }

  /// What must be true when nobody can go on.
  func checkEnd() throws {
    for task in phases.indices {
      try #require(phases[task] == .gone || (phases[task] == .denied && cancelled.contains(task)))
    }
    try #require(PermitWord(bits: word).free == state.limit, "a permit was lost or made")
    try #require(PermitWord(bits: word).holders == 0)
  }
}

@Suite(.watched) struct `The word and the lock of a limiter` {
  struct Case: Sendable {
    var limit: Int
    var weights: [Int]
    var resizes: [Int] = []
  }

  @Test(arguments: [
    Case(limit: 1, weights: [1, 1, 1]),
    Case(limit: 2, weights: [1, 1, 1]),
    Case(limit: 1, weights: [1, 1, 1], resizes: [2]),
    Case(limit: 2, weights: [1, 1, 1], resizes: [1]),
    Case(limit: 1, weights: [1, 1], resizes: [2, 1]),
    Case(limit: 2, weights: [1, 2, 1]),
    Case(limit: 2, weights: [2, 1, 3], resizes: [1]),
    Case(limit: 1, weights: [1, 1, 1, 1]),
  ])
  func `lose no permit, make none and let nobody overtake, in every interleaving`(
    of small: Case
  ) throws {
    let first = World(limit: small.limit, weights: small.weights, resizes: small.resizes)
    let largestLimit = ([small.limit] + small.resizes).max() ?? 0
    var met: Set<World.Key> = [first.key]
    var open = [first]
    var ends = 0
    while let world = open.popLast() {
      try world.check(largestLimit: largestLimit)
      let successors = try world.successors()
      if successors.isEmpty {
        try world.checkEnd()
        ends += 1
      }
      for next in successors where met.insert(next.key).inserted { open.append(next) }
    }
    #expect(ends > 0)
    #expect(met.count > 100, "too few to be every interleaving")
  }
}
