internal import Synchronization

// Limiters that end the program that runs them, or keep it for ever.
//
// They are known by their names and listed nowhere: only what explores in a program of its own may
// meet them, and they are there to see that it survives.

/// What some of them have in common: permits handed over in the order of arrival.
private struct Line<Waiter: Sendable>: Sendable {
  var free: Int
  var waiters: [Waiter] = []

  /// Takes a permit, or joins the line.
  mutating func arrive(_ waiter: Waiter) -> Bool {
    guard free > 0 else {
      waiters.append(waiter)
      return false
    }
    free -= 1
    return true
  }

  /// Hands the permit over to the first in line, or makes it free.
  mutating func depart() -> Waiter? {
    guard waiters.isEmpty else { return waiters.removeFirst() }
    free += 1
    return nil
  }
}

/// Makes the permit free that it hands over, and stops when there are more than there were.
struct TrappingLimiter: NamedLimiter {
  static let id = "specimen-trap"
  static let profile = MechanismProfile(
    ending: "a permit handed over is also made free, and the count is checked",
    Exposure(.order, tasks: 2, limit: 1, violation: "trap")
  )

  private final class State: Sendable {
    let line: Mutex<Line<CheckedContinuation<Void, Never>>>
    init(_ limit: Int) { line = Mutex(Line(free: limit)) }
  }

  private let limit: Int
  private let state: State

  init(limit: Int) {
    self.limit = limit
    state = State(limit)
  }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    await withCheckedContinuation { continuation in
      if state.line.withLock({ $0.arrive(continuation) }) { continuation.resume() }
    }
    defer {
      let next = state.line.withLock { line in
        line.free += 1
        precondition(line.free <= limit, "\(line.free) permits are free, and there are \(limit)")
        return line.waiters.isEmpty ? nil : line.waiters.removeFirst()
      }
      next?.resume()
    }
    return try await body()
  }
}

/// Resumes a checked continuation twice when a task is cancelled while it waits.
struct CheckedTwiceLimiter: NamedLimiter {
  static let id = "specimen-checked-twice"
  static let profile = MechanismProfile(
    ending: "a cancelled waiter is resumed and left in the line",
    Exposure(.cancellation, tasks: 2, limit: 1, violation: "trap")
  )

  private final class State: Sendable {
    let line: Mutex<Line<CheckedContinuation<Void, any Error>>>
    init(_ limit: Int) { line = Mutex(Line(free: limit)) }
  }

  private let state: State

  init(limit: Int) { state = State(limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    let own = Mutex<CheckedContinuation<Void, any Error>?>(nil)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        own.withLock { $0 = continuation }
        if state.line.withLock({ $0.arrive(continuation) }) { continuation.resume() }
      }
    } onCancel: {
      own.withLock { $0 }?.resume(throwing: CancellationError())
    }
    defer {
      let next = state.line.withLock { $0.depart() }
      next?.resume()
    }
    return try await body()
  }
}

/// Resumes in its `deinit` who may still wait, and has never forgotten who was resumed before.
struct ResumingDeinitLimiter: NamedLimiter {
  static let id = "specimen-resuming-deinit"
  static let profile = MechanismProfile(
    ending: "a deinit resumes every task that ever waited",
    Exposure(.order, tasks: 2, limit: 1, violation: "trap")
  )

  private final class State: Sendable {
    let line: Mutex<Line<CheckedContinuation<Void, Never>>>
    let everybody = Mutex<[CheckedContinuation<Void, Never>]>([])
    init(_ limit: Int) { line = Mutex(Line(free: limit)) }
    deinit { for waiter in everybody.withLock({ $0 }) { waiter.resume() } }
  }

  private let state: State

  init(limit: Int) { state = State(limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    await withCheckedContinuation { continuation in
      if state.line.withLock({ $0.arrive(continuation) }) { return continuation.resume() }
      state.everybody.withLock { $0.append(continuation) }
    }
    defer {
      let next = state.line.withLock { $0.depart() }
      next?.resume()
    }
    return try await body()
  }
}

/// Admits everybody, and stops when one leaves while there are too many.
struct TrappingTooLateLimiter: NamedLimiter {
  static let id = "specimen-trap-too-late"
  static let profile = MechanismProfile(
    ending: "too many are admitted, and the count is checked when the first of them leaves",
    Exposure(.order, tasks: 2, limit: 1, violation: "over-admission")
  )

  private final class State: Sendable {
    let running = Atomic(0)
  }

  private let limit: Int
  private let state = State()

  init(limit: Int) { self.limit = limit }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    state.running.add(1, ordering: .relaxed)
    defer {
      let running = state.running.subtract(1, ordering: .relaxed).oldValue
      precondition(running <= limit, "\(running) ran, and there is room for \(limit)")
    }
    return try await body()
  }
}

/// Looks at a flag again and again until another task changes it, and lets no other run meanwhile.
struct EndlessLoopLimiter: NamedLimiter {
  static let id = "specimen-endless-loop"
  static let profile = MechanismProfile(
    ending: "a task that finds no permit looks again until there is one, without suspending",
    Exposure(.order, tasks: 2, limit: 1, violation: "livelock")
  )

  private final class Flag: Sendable {
    let free: Atomic<Int>
    init(_ limit: Int) { free = Atomic(limit) }
  }

  private let flag: Flag

  init(limit: Int) { flag = Flag(limit) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    while flag.free.load(ordering: .acquiring) == 0 {}
    flag.free.subtract(1, ordering: .acquiringAndReleasing)
    defer { flag.free.add(1, ordering: .acquiringAndReleasing) }
    return try await body()
  }
}

private typealias Exposure = MechanismProfile.Exposure

extension MechanismProfile {
  fileprivate init(ending defect: String, _ exposure: Exposure) {
    self.init(
      order: .none,
      summary: "a limiter that ends the program, for tests of the explorer",
      explanation: """
        It is listed nowhere, because only an exploration may run it, in a program of its own.

        The code is Sources/Mechanisms/Specimens/ProgramEnders.swift; done right, it is \
        Sources/Limiters/LimiterState.swift.
        """,
      defect: defect,
      exposure: exposure
    )
    endsProgram = true
  }
}
