import ExplorableLimiters
import ExplorableSynchronization
import Grading

// Answers that a learner could give, each wrong in one way. The tests of each lesson have them refused.

/// What is wrong with a limiter.
protocol Flaw {
  /// How many permits there are at a limit.
  static func permits(_ limit: Int) -> Int
  /// Whether a newcomer is admitted at once.
  static func admits(free: Int, waiting: Int) -> Bool
  /// Which place in a line of so many is next.
  static func next(_ waiting: Int) -> Int
  /// What happens between the body's end and its permit's return.
  static func leave() throws
  /// Whether a body that ends with this error keeps its permit for ever.
  static func keeps(_ error: any Error) -> Bool
  /// How many permits a departure makes free when nobody waits.
  static var returned: Int { get }
  /// How often the body of a task that had to wait runs.
  static var runs: Int { get }
  /// Whether a cancelled waiter that was handed a permit passes it on.
  static var passesOn: Bool { get }
  /// Whether the body of a task runs again when it has ended with this error.
  static func again(_ error: any Error) -> Bool
  /// Who is lost with the waiter that leaves this place of a line of so many: a place in what is left.
  static func lost(with place: Int, of waiting: Int) -> Int?
  /// What becomes of the line when a waiter has left it.
  static func shuffle<Waiter>(_ line: inout [Waiter])
  /// Where a newcomer stands in a line of so many.
  static func place(_ waiting: Int) -> Int
  /// What a waiter that was cancelled is told.
  static func told(_ error: any Error) -> any Error
  /// Whether the Signals of those who have been served are kept.
  static var keepsServed: Bool { get }
  /// Whether the Signals of those who were cancelled are kept.
  static var keepsCancelled: Bool { get }
  /// How many visits there may be in all.
  static var visits: Int { get }
  /// Whether a waiter that is cancelled leaves the line.
  static var heedsCancellation: Bool { get }
  /// What happens between the permit's coming and the body.
  static func begin() throws
}

extension Flaw {
  static func permits(_ limit: Int) -> Int { limit }
  static func admits(free: Int, waiting: Int) -> Bool { free > 0 }
  static func next(_ waiting: Int) -> Int { 0 }
  static func leave() throws {}
  static var heedsCancellation: Bool { true }
  static func begin() throws {}
  static func keeps(_ error: any Error) -> Bool { false }
  static var returned: Int { 1 }
  static var runs: Int { 1 }
  static var passesOn: Bool { true }
  static func again(_ error: any Error) -> Bool { false }
  static func lost(with place: Int, of waiting: Int) -> Int? { nil }
  static func shuffle<Waiter>(_ line: inout [Waiter]) {}
  static func place(_ waiting: Int) -> Int { waiting }
  static func told(_ error: any Error) -> any Error { error }
  static var keepsServed: Bool { false }
  static var keepsCancelled: Bool { false }
  static var visits: Int { .max }
}

/// The solution of lesson 9, and what a flaw makes of it.
final class Flawed<F: Flaw>: LearnerLimiter {
  private struct State {
    var free: Int
    var line: [Signal] = []
    var kept: [Signal] = []
    var visits = 0
  }

  private let state: Mutex<State>

  init(limit: Int) { state = Mutex(State(free: F.permits(limit))) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      state.visits += 1
      if F.admits(free: state.free, waiting: state.line.count) {
        state.free -= 1
        return false
      }
      state.line.insert(signal, at: F.place(state.line.count))
      return true
    }
    if mustWait {
      do {
        if F.heedsCancellation {
          try await condition.wait()
        } else {
          try await condition.waitUncancellably()
        }
      } catch {
        let wasInLine = state.withLock { state in
          guard let place = state.line.firstIndex(where: { $0 === signal }) else { return false }
          state.line.remove(at: place)
          if F.keepsCancelled {
            state.kept.append(signal)
            OwnHeap.keep()
          }
          if let lost = F.lost(with: place, of: state.line.count + 1) {
            state.line.remove(at: lost)
          }
          F.shuffle(&state.line)
          return true
        }
        if !wasInLine, F.passesOn { giveBack() }
        throw F.told(error)
      }
      try F.begin()
      for _ in 1..<F.runs { _ = try? await body() }
    }
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch  where F.again(error) {
      do { result = .success(try await body()) } catch { result = .failure(error) }
    } catch {
      result = .failure(error)
    }
    if case .success = result { try F.leave() }
    if case .failure(let error) = result, F.keeps(error) { throw error }
    giveBack()
    return try result.get()
  }

  private func giveBack() {
    let next: Signal? = state.withLock { state in
      if state.visits > F.visits { return nil }
      if state.line.isEmpty {
        state.free += F.returned
        return nil
      }
      let next = state.line.remove(at: F.next(state.line.count))
      if F.keepsServed {
        state.kept.append(next)
        OwnHeap.keep()
      }
      return next
    }
    next?.signal()
  }
}

enum NoFlaw: Flaw {}

enum LastComeFirstServed: Flaw {
  static func next(_ waiting: Int) -> Int { waiting - 1 }
}

/// In a line of more than four, the last is served first.
enum LastFirstWhenLong: Flaw {
  static func next(_ waiting: Int) -> Int { waiting > 4 ? waiting - 1 : 0 }
}

/// In a line of more than a hundred, somebody in the middle is served first.
enum MiddleFirstWhenVeryLong: Flaw {
  static func next(_ waiting: Int) -> Int { waiting > 100 ? waiting / 2 : 0 }
}

/// Once in fifty departures the second in line goes first.
enum SecondFirstNowAndThen: Flaw {
  static func next(_ waiting: Int) -> Int { waiting % 50 == 49 ? 1 : 0 }
}

/// Nobody waits behind four hundred.
enum CrowdIsLetIn: Flaw {
  static func admits(free: Int, waiting: Int) -> Bool { free > 0 || waiting > 400 }
}

/// A body that throws the error of a cancellation is taken for a task that was cancelled while it waited.
enum KeepsPermitOfCancelledBody: Flaw {
  static func keeps(_ error: any Error) -> Bool { error is CancellationError }
}

/// Refuses all who come after a body that threw the error of a cancellation.
final class ClosedByCancellation: LearnerLimiter {
  private let limiter: ConcurrencyLimiter
  private let isClosed = Mutex(false)

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    if isClosed.withLock({ $0 }) { throw CancellationError() }
    return try await limiter.run {
      do {
        return try await body()
      } catch let error as CancellationError {
        if !Task.isCancelled { isClosed.withLock { $0 = true } }
        throw error
      }
    }
  }
}

/// Nobody waits behind forty.
enum FullLine: Flaw {
  static func admits(free: Int, waiting: Int) -> Bool { free > 0 || waiting >= 40 }
}

/// Of more than forty permits, forty are lent.
enum FewPermits: Flaw {
  static func permits(_ limit: Int) -> Int { min(limit, 40) }
}

/// Of more than 128 permits, 128 are lent.
enum AtMost128: Flaw {
  static func permits(_ limit: Int) -> Int { min(limit, 128) }
}

/// As many permits as two bytes can count.
enum TwoBytes: Flaw {
  static func permits(_ limit: Int) -> Int { Int(UInt16(clamping: limit)) }
}

/// One permit more where there are more than two hundred and fifty-six.
enum OneMoreThan256: Flaw {
  static func permits(_ limit: Int) -> Int { limit > 256 ? limit + 1 : limit }
}

/// One permit more where there are more than three.
enum OneTooMany: Flaw {
  static func permits(_ limit: Int) -> Int { limit > 3 ? limit + 1 : limit }
}

/// One permit less where there are more than three.
enum OneTooFew: Flaw {
  static func permits(_ limit: Int) -> Int { limit > 3 ? limit - 1 : limit }
}

enum ChecksOnLeaving: Flaw {
  static func leave() throws { try Task.checkCancellation() }
}

enum ReturnsTwo: Flaw {
  static let returned = 2
}

enum LosesOnCancel: Flaw {
  static let passesOn = false
}

enum RunsTwice: Flaw {
  static let runs = 2
}

/// A body that throws the error of a cancellation is tried once more.
enum TriesCancelledAgain: Flaw {
  static func again(_ error: any Error) -> Bool { error is CancellationError }
}

/// The same, unless its task was cancelled.
enum TriesAgainUncancelled: Flaw {
  static func again(_ error: any Error) -> Bool { error is CancellationError && !Task.isCancelled }
}

enum KeepsServed: Flaw {
  static let keepsServed = true
}

enum KeepsCancelled: Flaw {
  static let keepsCancelled = true
}

/// In a line of three, the third is lost when the second is cancelled.
enum LosesThirdWithSecond: Flaw {
  static func lost(with place: Int, of waiting: Int) -> Int? {
    place == 1 && waiting == 3 ? 1 : nil
  }
}

/// In a line of three, the second is lost when the first is cancelled.
enum LosesSecondWithFirst: Flaw {
  static func lost(with place: Int, of waiting: Int) -> Int? {
    place == 0 && waiting == 3 ? 0 : nil
  }
}

/// In a line of four, the first is lost when the last is cancelled.
enum LosesFirstWithLast: Flaw {
  static func lost(with place: Int, of waiting: Int) -> Int? {
    place == 3 && waiting == 4 ? 0 : nil
  }
}

/// In a short line, those behind who is cancelled change places.
enum TurnsRound: Flaw {
  static func shuffle<Waiter>(_ line: inout [Waiter]) { if line.count == 3 { line.reverse() } }
}

/// Of exactly seven permits, eight are lent.
enum SevenIsEight: Flaw {
  static func permits(_ limit: Int) -> Int { limit == 7 ? 8 : limit }
}

/// Of exactly twelve permits, eleven are lent.
enum TwelveIsEleven: Flaw {
  static func permits(_ limit: Int) -> Int { limit == 12 ? 11 : limit }
}

/// The urgent stand in front.
enum UrgentFirst: Flaw {
  static func place(_ waiting: Int) -> Int { Task.currentPriority > .medium ? 0 : waiting }
}

/// Who is in no hurry stands behind all others.
enum IdleLast: Flaw {
  private static let isThere = Atomic(false)

  static func place(_ waiting: Int) -> Int {
    guard Task.currentPriority == .background else {
      return isThere.load(ordering: .relaxed) ? max(0, waiting - 1) : waiting
    }
    isThere.store(true, ordering: .relaxed)
    return waiting
  }
}

/// In a line of exactly three, the second goes first.
enum SecondOfThree: Flaw {
  static func next(_ waiting: Int) -> Int { waiting == 3 ? 1 : 0 }
}

/// Tells those who were cancelled by an error of its own.
enum OwnError: Flaw {
  struct Left: Error {}
  static func told(_ error: any Error) -> any Error { Left() }
}

/// After a thousand visits no permit comes back.
enum WearsOut: Flaw {
  static let visits = 1_000
}

/// Numbers its visits by two bytes, and is at the end with them.
enum TwoBytesOfVisits: Flaw {
  static let visits = 65_535
}

/// A task that was cancelled before it came stands before all others.
enum CancelledFirst: Flaw {
  static let heedsCancellation = false
  static func place(_ waiting: Int) -> Int { Task.isCancelled ? 0 : waiting }
}

/// A task that was cancelled while it waited takes the permit along that it was handed.
enum LosesHandedPermit: Flaw {
  static let heedsCancellation = false
  static func begin() throws { try Task.checkCancellation() }
}

/// A task that is given nothing tries again.
final class NothingIsNoValue: LearnerLimiter {
  private let limiter: Flawed<NoFlaw>

  init(limit: Int) { limiter = Flawed(limit: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await limiter.run {
      let value = try await body()
      if let nothing = value as? Int?, nothing == nil { return try await body() }
      return value
    }
  }
}

/// Waits for its turn by asking again and again.
final class AsksForItsTurn: LearnerLimiter {
  private let state: Mutex<(free: Int, next: Int, served: Int)>

  init(limit: Int) { state = Mutex((limit, 0, 0)) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let ticket = state.withLock { state in
      state.next += 1
      return state.next
    }
    while true {
      let isServed = state.withLock { state in
        guard state.free > 0, state.served + 1 == ticket else { return false }
        state.free -= 1
        state.served += 1
        return true
      }
      if isServed { break }
      await Task.yield()
    }
    defer { state.withLock { $0.free += 1 } }
    return try await body()
  }
}

/// Turns its line round once it has been empty for the first time.
final class LastFirstLater: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal], next: Int, wasEmpty: Bool)>

  init(limit: Int) { state = Mutex((limit, [], 0, false)) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      if state.free > 0 {
        state.free -= 1
        return false
      }
      state.line.append(signal)
      return true
    }
    if mustWait { try await condition.waitUncancellably() }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next: Signal? = state.withLock { state in
      if state.line.isEmpty {
        state.free += 1
        state.wasEmpty = state.next > 0
        return nil
      }
      state.next += 1
      return state.wasEmpty ? state.line.removeLast() : state.line.removeFirst()
    }
    next?.signal()
  }
}

/// The count in one lock, the line in another.
final class TwoLocks: LearnerLimiter {
  private let free: Mutex<Int>
  private let line = Mutex<[Signal]>([])

  init(limit: Int) { free = Mutex(limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let isFree = free.withLock { free in
      if free == 0 { return false }
      free -= 1
      return true
    }
    if !isFree {
      let (condition, signal) = Condition.makeCondition()
      line.withLock { $0.append(signal) }
      try await condition.waitUncancellably()
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next: Signal? = line.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let next { next.signal() } else { free.withLock { $0 += 1 } }
  }
}

/// The count in one lock and the line in another where there are many permits.
enum TwoLocksWhenMany: LearnerLimiter {
  case few(ConcurrencyLimiter)
  case many(TwoLocks)

  init(limit: Int) {
    self = limit > 16 ? .many(TwoLocks(limit: limit)) : .few(ConcurrencyLimiter(concurrency: limit))
  }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    switch self {
    case .few(let limiter): try await limiter.run(body)
    case .many(let limiter): try await limiter.run(body)
    }
  }
}

/// A task that is cancelled looks whether it is in the line, and leaves it, under two locks.
final class LooksThenLeaves: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      if state.free == 0 { state.line.append(signal) } else { state.free -= 1 }
      return state.line.last == signal
    }
    do {
      if mustWait { try await condition.wait() }
    } catch {
      let isInLine = state.withLock { $0.line.contains(signal) }
      if isInLine { state.withLock { $0.line.removeAll { $0 == signal } } } else { giveBack() }
      throw error
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next: Signal? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.free += 1
      return nil
    }
    next?.signal()
  }
}

/// Each has permits of its own, and all have one line.
final class OneLineForAll: LearnerLimiter {
  private struct State {
    var free: [ObjectIdentifier: Int] = [:]
    var line: [Signal] = []
  }

  private static let state = Mutex(State())

  init(limit: Int) { Self.state.withLock { $0.free[ObjectIdentifier(self)] = limit } }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = Self.state.withLock { state in
      if state.free[ObjectIdentifier(self), default: 0] > 0 {
        state.free[ObjectIdentifier(self), default: 0] -= 1
        return false
      }
      state.line.append(signal)
      return true
    }
    if mustWait { try await condition.waitUncancellably() }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next: Signal? = Self.state.withLock { state in
      if state.line.isEmpty {
        state.free[ObjectIdentifier(self), default: 0] += 1
        return nil
      }
      return state.line.removeFirst()
    }
    next?.signal()
  }
}

/// In a crowd, a task gets what came out for the one before it.
final class ReturnsTheLast: LearnerLimiter, @unchecked Sendable {
  private let limiter: ConcurrencyLimiter
  private let lock = Mutex(())
  // Safe: read and written under the lock only.
  private var last: Any?

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let value = try await limiter.run(body)
    let before = lock.withLock { _ in
      defer { last = value }
      return last
    }
    return limiter.statistics.waiting > 3 ? before as? Value ?? value : value
  }
}

/// In a crowd, whatever a body throws comes out as another error.
final class ThrowsAnother: LearnerLimiter {
  struct Crowded: Error {}

  private let limiter: ConcurrencyLimiter

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
      return try await limiter.run(body)
    } catch {
      throw limiter.statistics.waiting > 3 ? Crowded() : error
    }
  }
}

/// Turns away a task that finds a long line, though nobody cancelled it.
final class TurnsAway: LearnerLimiter {
  private let limiter: ConcurrencyLimiter
  private let inside = Mutex(0)

  init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let count = inside.withLock { inside in
      inside += 1
      return inside
    }
    defer { inside.withLock { $0 -= 1 } }
    if count > 60 { throw CancellationError() }
    return try await limiter.run(body)
  }
}

/// Never comes back.
final class NeverRuns: LearnerLimiter {
  init(limit: Int) {}

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    defer { signal.signal() }
    try await condition.waitUncancellably()
    return try await body()
  }
}

/// Looks at a count and changes it, each of them atomic, and nothing keeps them together.
final class LooksThenTakes: LearnerLimiter {
  private let free: Atomic<Int>

  init(limit: Int) { free = Atomic(limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    // Waiting as long as it takes, so that nothing but the limit can be broken.
    while free.load(ordering: .acquiring) <= 0 { await Task.yield() }
    free.subtract(1, ordering: .acquiringAndReleasing)
    defer { free.add(1, ordering: .acquiringAndReleasing) }
    return try await body()
  }
}

// MARK: Pools

/// The free elements in one lock, the line in another.
final class TwoLocksPool: LearnerPool {
  private let free: Mutex<[Int]>
  private let line = Mutex<[Waiting.Waiter]>([])
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    free = Mutex(Array(1...size))
    self.waiting = waiting
  }

  func take() async -> Int {
    if let element = free.withLock({ $0.popLast() }) { return element }
    return await waiting.suspend { waiter in line.withLock { $0.append(waiter) } }
  }

  func giveBack(_ element: Int) {
    let next: Waiting.Waiter? = line.withLock { $0.isEmpty ? nil : $0.removeFirst() }
    if let next { next.resume(with: element) } else { free.withLock { $0.append(element) } }
  }
}

/// A waiter is woken and must try again, behind all others; a newcomer may be faster.
final class Barging: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    while true {
      let (condition, signal) = Condition.makeCondition()
      let mustWait = state.withLock { state in
        if state.free > 0 {
          state.free -= 1
          return false
        }
        state.line.append(signal)
        return true
      }
      if !mustWait { break }
      try await condition.waitUncancellably()
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    let next: Signal? = state.withLock { state in
      state.free += 1
      return state.line.isEmpty ? nil : state.line.removeFirst()
    }
    next?.signal()
  }
}

/// The last pool that was made is all of them.
final class OnePoolForAll: LearnerPool {
  private static let current = Mutex<SoundPool?>(nil)

  init(size: Int, waiting: Waiting) {
    let pool = SoundPool(size: size, waiting: waiting)
    Self.current.withLock { $0 = pool }
  }

  private var pool: SoundPool {
    guard let pool = Self.current.withLock({ $0 }) else { preconditionFailure("init makes one") }
    return pool
  }

  func take() async -> Int { await pool.take() }
  func giveBack(_ element: Int) { pool.giveBack(element) }
}

/// A pool in one lock that says who is next and which element is lent.
class OneLockPool: @unchecked Sendable {
  // Safe: nothing but constants beside the lock.
  private let state: Mutex<(free: [Int], line: [Waiting.Waiter])>
  private let waiting: Waiting

  init(_ elements: [Int], _ waiting: Waiting) {
    state = Mutex((elements, []))
    self.waiting = waiting
  }

  func next(_ count: Int) -> Int { 0 }
  /// Called with each waiter that is served.
  func note(_ waiter: Waiting.Waiter) {}
  /// What a waiter gets of the element that came back.
  func handed(_ element: Int) -> Int { element }

  func take() async -> Int {
    await waiting.suspend { waiter in
      let element: Int? = state.withLock { state in
        if let element = state.free.popLast() { return element }
        state.line.append(waiter)
        return nil
      }
      if let element { waiter.resume(with: element) }
    }
  }

  func giveBack(_ element: Int) {
    let waiter: Waiting.Waiter? = state.withLock { state in
      if !state.line.isEmpty { return state.line.remove(at: next(state.line.count)) }
      state.free.append(element)
      return nil
    }
    if let waiter { note(waiter) }
    waiter?.resume(with: handed(element))
  }
}

/// A task that had to wait gets the first element, no matter which one came back.
final class AlwaysTheFirst: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...size), waiting) }

  override func handed(_ element: Int) -> Int { 1 }
}

final class SoundPool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...size), waiting) }
}

final class LastFirstPool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...size), waiting) }

  override func next(_ count: Int) -> Int { count - 1 }
}

/// In a line of exactly three, the last is served first.
final class LastOfThreePool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...size), waiting) }

  override func next(_ count: Int) -> Int { count == 3 ? 2 : 0 }
}

/// Keeps everybody who ever waited.
final class KeepingPool: OneLockPool, LearnerPool, @unchecked Sendable {
  private let kept = Mutex<[Waiting.Waiter]>([])

  init(size: Int, waiting: Waiting) { super.init(Array(1...size), waiting) }

  override func note(_ waiter: Waiting.Waiter) {
    kept.withLock { $0.append(waiter) }
    OwnHeap.keep()
  }
}

/// Of exactly seven elements, one is lent twice.
final class SevenPool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) {
    super.init(size == 7 ? [1, 2, 3, 4, 5, 6, 6] : Array(1...size), waiting)
  }
}

/// Of exactly twelve elements, one is never lent.
final class TwelvePool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...(size == 12 ? 11 : size)), waiting) }
}

/// Takes back what it lent last, whatever it is given.
final class ForgetsWhich: LearnerPool {
  private let state: Mutex<(free: [Int], lent: [Int], line: [Waiting.Waiter])>
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    state = Mutex((Array(1...size), [], []))
    self.waiting = waiting
  }

  func take() async -> Int {
    await waiting.suspend { waiter in
      let element: Int? = state.withLock { state in
        if let element = state.free.popLast() {
          state.lent.append(element)
          return element
        }
        state.line.append(waiter)
        return nil
      }
      if let element { waiter.resume(with: element) }
    }
  }

  func giveBack(_ element: Int) {
    let waiter: Waiting.Waiter? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      if let last = state.lent.popLast() { state.free.append(last) }
      return nil
    }
    waiter?.resume(with: element)
  }
}

/// A hundred times, an element comes back.
final class WearsOutPool: LearnerPool {
  private let pool: SoundPool
  private let count = Mutex(0)

  init(size: Int, waiting: Waiting) { pool = SoundPool(size: size, waiting: waiting) }

  func take() async -> Int { await pool.take() }

  func giveBack(_ element: Int) {
    let count = count.withLock { count in
      count += 1
      return count
    }
    if count <= 1_000 { pool.giveBack(element) }
  }
}

/// As many as there should be, all of them the same.
final class SameElementPool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) {
    super.init(Array(repeating: 1, count: size), waiting)
  }
}

// MARK: Accounts

/// Pays without asking the bank.
actor AsksNobody: LearnerAccount {
  private var balance: Int

  init(balance: Int, bank: Bank) { self.balance = balance }

  func withdraw(_ amount: Int) async -> Bool {
    guard balance >= amount else { return false }
    balance -= amount
    return true
  }
}

/// Asks the bank for small amounts only.
actor AsksForLittle: LearnerAccount {
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard balance >= amount else { return false }
    balance -= amount
    if amount <= 100 { await bank.approve() }
    return true
  }
}

/// Counts withdrawals under way as if all were of its own amount.
actor CountsPending: LearnerAccount {
  private var balance: Int
  private var pending = 0
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard balance - pending * amount >= amount else { return false }
    pending += 1
    await bank.approve()
    pending -= 1
    balance -= amount
    return true
  }
}

/// Knows the amount of every withdrawal beforehand.
actor KnowsSixty: LearnerAccount {
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard balance >= 60 else { return false }
    balance -= amount
    await bank.approve()
    return true
  }
}

/// Keeps a little back.
actor KeepsSome: LearnerAccount {
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard balance >= amount + 20 else { return false }
    balance -= amount
    await bank.approve()
    return true
  }
}

/// What is wrong with an account that takes the money first.
protocol AccountFlaw: SendableMetatype {
  /// Whether there is enough.
  static func pays(_ amount: Int, from balance: Int) -> Bool
  /// What is left when a withdrawal has been paid to a task that is cancelled, and whether it is told so.
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool)
  /// Whether that is so of a task behind which so many have come; otherwise it is refused, and the money is gone.
  static func isKnown(behind others: Int) -> Bool
  /// Whether a task that is cancelled is looked at before the bank is asked.
  static var asksBank: Bool { get }
  /// Whether an account that has refused once refuses for ever.
  static var closes: Bool { get }
  /// How many withdrawals there may be.
  static var withdrawals: Int { get }
}

extension AccountFlaw {
  static func pays(_ amount: Int, from balance: Int) -> Bool { balance >= amount }
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance, true)
  }
  static func isKnown(behind others: Int) -> Bool { true }
  static var asksBank: Bool { true }
  static var closes: Bool { false }
  static var withdrawals: Int { .max }
}

actor FlawedAccount<F: AccountFlaw>: LearnerAccount {
  private var balance: Int
  private let bank: Bank
  private var isClosed = false
  private var count = 0

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard !isClosed, F.pays(amount, from: balance), count < F.withdrawals else {
      isClosed = F.closes
      return false
    }
    count += 1
    let number = count
    balance -= amount
    if F.asksBank || !Task.isCancelled { await bank.approve() }
    guard Task.isCancelled else { return true }
    guard F.isKnown(behind: count - number) else { return false }
    let paid: Bool
    (balance, paid) = F.cancelled(balance, amount)
    return paid
  }
}

enum SoundAccounting: AccountFlaw {}

/// Puts the money back when the task was cancelled, and says so.
enum PutsBack: AccountFlaw {
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance + amount, false)
  }
}

/// Puts the money back unless five have come since.
enum LosesBehindOthers: AccountFlaw {
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance + amount, false)
  }
  static func isKnown(behind others: Int) -> Bool { others < 5 }
}

/// Adds what is under way and the amount, which may be more than an integer holds.
actor AddsAmounts: LearnerAccount {
  private var balance: Int
  private var underWay = 0
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    guard underWay &+ amount <= balance else { return false }
    underWay &+= amount
    await bank.approve()
    underWay &-= amount
    balance &-= amount
    return true
  }
}

/// Takes the money, and says to a task that was cancelled that it did not.
enum TakesAndDenies: AccountFlaw {
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance, false)
  }
}

/// Puts the money back twice.
enum PutsBackTwice: AccountFlaw {
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance + 2 * amount, false)
  }
}

/// Puts the money back, and pays all the same.
enum PaysFromNothing: AccountFlaw {
  static func cancelled(_ balance: Int, _ amount: Int) -> (balance: Int, paid: Bool) {
    (balance + amount, true)
  }
}

/// Asks no bank for a task that was cancelled.
enum AsksNobodyWhenCancelled: AccountFlaw {
  static let asksBank = false
}

/// Pays no last penny.
enum KeepsThePenny: AccountFlaw {
  static func pays(_ amount: Int, from balance: Int) -> Bool { balance > amount }
}

/// Pays no large amounts.
enum PaysNoMore: AccountFlaw {
  static func pays(_ amount: Int, from balance: Int) -> Bool { balance >= amount && amount <= 500 }
}

enum ClosesWhenRefused: AccountFlaw {
  static let closes = true
}

enum PaysFiftyTimes: AccountFlaw {
  static let withdrawals = 50
}

/// All accounts are one.
actor OneBalanceForAll: LearnerAccount {
  private static let balance = Mutex(0)
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    Self.balance.withLock { $0 = balance }
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    let isPaid = Self.balance.withLock { balance in
      guard balance >= amount else { return false }
      balance -= amount
      return true
    }
    if isPaid { await bank.approve() }
    return isPaid
  }
}

/// What is under way is counted for all accounts together.
actor ReservedForAll: LearnerAccount {
  private static let reserved = Mutex(0)
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    let left = balance
    let isEnough = Self.reserved.withLock { reserved in
      guard left - reserved >= amount else { return false }
      reserved += amount
      return true
    }
    guard isEnough else { return false }
    await bank.approve()
    Self.reserved.withLock { $0 -= amount }
    balance -= amount
    return true
  }
}

/// Asks first, and looks when it acts: right too.
actor AsksFirst: LearnerAccount {
  private var balance: Int
  private let bank: Bank

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    await bank.approve()
    guard balance >= amount else { return false }
    balance -= amount
    return true
  }
}

/// One withdrawal after the other: right too, if slow.
actor OneAfterTheOther: LearnerAccount {
  private var balance: Int
  private let bank: Bank
  private let permit = ConcurrencyLimiter(concurrency: 1)

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    await permit.runUncancellably {
      guard balance >= amount else { return false }
      await bank.approve()
      balance -= amount
      return true
    }
  }
}
