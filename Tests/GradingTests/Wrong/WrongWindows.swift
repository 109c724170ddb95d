import ExplorableLimiters
import ExplorableSynchronization
import Grading

// Answers that one pre-emption opens with two permits or three tasks, that keep something of one kind of visit only,
// or that are right for the first ten thousand. Each was taken for right once.

/// Wakes who waits only if exactly one permit is free, and looks at that under a lock of its own.
final class WakesForOnePermit: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      if state.free > 0, state.line.isEmpty {
        state.free -= 1
        return false
      }
      state.line.append(signal)
      return true
    }
    if mustWait {
      do {
        try await condition.wait()
      } catch {
        let wasInLine = state.withLock { state in
          guard let place = state.line.firstIndex(of: signal) else { return false }
          state.line.remove(at: place)
          return true
        }
        if !wasInLine { giveBack() }
        throw error
      }
    }
    defer { giveBack() }
    return try await body()
  }

  private func giveBack() {
    state.withLock { $0.free += 1 }
    let next: Signal? = state.withLock { state in
      guard state.free == 1, !state.line.isEmpty else { return nil }
      state.free -= 1
      return state.line.removeFirst()
    }
    next?.signal()
  }
}

/// Looks who is first, and takes him out of the line under a second lock.
final class LooksThenTakesOut: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

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
      if state.line.isEmpty { state.free += 1 }
      return state.line.first
    }
    guard let next else { return }
    state.withLock { $0.line.removeAll { $0 == next } }
    next.signal()
  }
}

/// Takes as many in line as before for the same ones.
final class ComparesByCount: LearnerPool {
  private let state: Mutex<(free: [Int], line: [Waiting.Waiter])>
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    state = Mutex((Array(1...size), []))
    self.waiting = waiting
  }

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
    while true {
      let (first, count) = state.withLock { ($0.line.first, $0.line.count) }
      let isDone = state.withLock { state in
        guard state.line.count == count else { return false }
        if count == 0 { state.free.append(element) } else { state.line.removeFirst() }
        return true
      }
      guard isDone else { continue }
      first?.resume(with: element)
      return
    }
  }
}

/// Who is cancelled frees a permit if the line has not become shorter without it: somebody else has come.
final class FreesWhatItHadNot: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

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
    if mustWait {
      do {
        try await condition.wait()
      } catch {
        let before = state.withLock { $0.line.count }
        let (wasInLine, left) = state.withLock { state in
          let place = state.line.firstIndex { $0 == signal }
          if let place { state.line.remove(at: place) }
          return (place != nil, state.line.count)
        }
        if !wasInLine || left > 0 && left >= before { giveBack() }
        throw error
      }
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

/// A body that throws gives its permit back under two locks.
final class TwoLocksForErrors: LearnerLimiter {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(limit: Int) { state = Mutex((limit, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let mustWait = state.withLock { state in
      if state.free == 0 { state.line.append(signal) } else { state.free -= 1 }
      return state.line.last == signal
    }
    if mustWait { try await condition.waitUncancellably() }
    let value: Value
    do {
      value = try await body()
    } catch {
      let next = takeFirst()
      if let next { next.signal() } else { state.withLock { $0.free += 1 } }
      throw error
    }
    let next: Signal? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.free += 1
      return nil
    }
    next?.signal()
    return value
  }

  private func takeFirst() -> Signal? {
    state.withLock { $0.line.isEmpty ? nil : $0.line.removeFirst() }
  }
}

/// Who was cancelled looks for a free element and joins the line under two locks.
final class TwoLocksWhenCancelled: LearnerPool {
  private let state: Mutex<(free: [Int], line: [Waiting.Waiter])>
  private let waiting: Waiting

  init(size: Int, waiting: Waiting) {
    state = Mutex((Array(1...size), []))
    self.waiting = waiting
  }

  func take() async -> Int {
    if Task.isCancelled, let element = state.withLock({ $0.free.popLast() }) { return element }
    return await waiting.suspend { waiter in
      let element: Int? = state.withLock { state in
        if !Task.isCancelled, let element = state.free.popLast() { return element }
        state.line.append(waiter)
        return nil
      }
      if let element { waiter.resume(with: element) }
    }
  }

  func giveBack(_ element: Int) {
    let waiter: Waiting.Waiter? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.free.append(element)
      return nil
    }
    waiter?.resume(with: element)
  }
}

/// A limiter in which something is wrong with the visits of one kind.
protocol OddVisits {
  /// Whether something is kept for ever of a visit that had to wait or not, that threw or not.
  static func keeps(waited: Bool, threw: Bool) -> Bool
  /// How many bodies may throw, and how many tasks may be cancelled, before no more are served.
  static var mostThrown: Int { get }
  static var mostCancelled: Int { get }
}

extension OddVisits {
  static func keeps(waited: Bool, threw: Bool) -> Bool { false }
  static var mostThrown: Int { .max }
  static var mostCancelled: Int { .max }
}

final class Odd<Visits: OddVisits>: LearnerLimiter {
  struct Exhausted: Error {}

  private let limiter: Flawed<NoFlaw>
  private let counts = Mutex((inside: 0, thrown: 0, cancelled: 0))

  init(limit: Int) { limiter = Flawed(limit: limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let waits = try counts.withLock { counts in
      if counts.thrown > Visits.mostThrown || counts.cancelled > Visits.mostCancelled {
        throw Exhausted()
      }
      counts.inside += 1
      return counts.inside > 1
    }
    defer { counts.withLock { $0.inside -= 1 } }
    do {
      let value = try await limiter.run(body)
      note(waited: waits, threw: false)
      return value
    } catch {
      note(waited: waits, threw: true)
      throw error
    }
  }

  private func note(waited: Bool, threw: Bool) {
    if Visits.keeps(waited: waited, threw: threw) { OwnHeap.keep() }
    counts.withLock { counts in
      if Task.isCancelled { counts.cancelled += 1 } else if threw { counts.thrown += 1 }
    }
  }
}

enum KeepsThrown: OddVisits {
  static func keeps(waited: Bool, threw: Bool) -> Bool { threw && !Task.isCancelled }
}

enum KeepsWhoNeedNotWait: OddVisits {
  static func keeps(waited: Bool, threw: Bool) -> Bool { !waited && !threw && !Task.isCancelled }
}

enum KeepsCancelledVisits: OddVisits {
  static func keeps(waited: Bool, threw: Bool) -> Bool { Task.isCancelled }
}

/// Ten thousand bodies may throw.
enum ThrowsTenThousand: OddVisits {
  static let mostThrown = 10_000
}

/// Ten thousand tasks may be cancelled.
enum CancelsTenThousand: OddVisits {
  static let mostCancelled = 10_000
}

enum NothingOdd: OddVisits {}

/// Keeps which elements were lent to who need not wait.
final class KeepsLent: LearnerPool {
  private let pool: SoundPool
  private let lent = Mutex(0)

  init(size: Int, waiting: Waiting) { pool = SoundPool(size: size, waiting: waiting) }

  func take() async -> Int {
    let isAlone = lent.withLock { lent in
      lent += 1
      return lent == 1
    }
    if isAlone { OwnHeap.keep() }
    return await pool.take()
  }

  func giveBack(_ element: Int) {
    lent.withLock { $0 -= 1 }
    pool.giveBack(element)
  }
}

/// Nobody waits behind sixteen thousand.
enum LongLineIsLetIn: Flaw {
  static func admits(free: Int, waiting: Int) -> Bool { free > 0 || waiting > 16_000 }
}

/// Of more than ten thousand elements, ten thousand are lent.
final class TenThousandPool: OneLockPool, LearnerPool, @unchecked Sendable {
  init(size: Int, waiting: Waiting) { super.init(Array(1...min(size, 10_000)), waiting) }
}
