import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `Work on a sequence with a limit` {
  private let peak = PeakCount()

  /// Suspends more often the smaller the number: later elements are ready first.
  private func square(_ number: Int) async -> Int {
    peak.enter()
    defer { peak.leave() }
    for _ in number..<20 { await Task.yield() }
    return number * number
  }

  private func stream(_ numbers: ClosedRange<Int>) -> AsyncStream<Int> {
    AsyncStream { continuation in
      for number in numbers { continuation.yield(number) }
      continuation.finish()
    }
  }

  @Test(arguments: [1, 3, 50]) func `returns results in order and keeps to the limit`(
    limit: Int
  ) async throws {
    let squares = (0..<20).map { $0 * $0 }
    let results = await (0..<20).concurrentMap(limit: limit) { await square($0) }
    #expect(results == squares)
    let streamed = await stream(0...19).concurrentMap(limit: limit) { await square($0) }
    #expect(streamed == squares)
    #expect(peak.highest <= limit)
    #expect(peak.entries == 40)
  }

  @Test func `returns results as they are ready, if that is asked for`() async throws {
    let (gate, signal) = Condition.makeCondition()
    let results = try await [1, 2].concurrentMap(limit: 2, ordered: false) { number in
      if number == 1 { try await gate.wait() }
      if number == 2 { signal.signal() }
      return number
    }
    #expect(results.sorted() == [1, 2])
    #expect(await [1, 2].concurrentMap(limit: 1, ordered: false) { $0 } == [1, 2])
  }

  @Test func `returns the result first that is ready first, of any sequence`() {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    for isAsync in [false, true] {
      Task(executorPreference: executor) {
        let (gate, signal) = Condition.makeCondition()
        let waitOrSignal: @Sendable (Int) async throws -> Int = { number in
          if number == 1 { try await gate.wait() } else { signal.signal() }
          return number
        }
        let results =
          if isAsync {
            try await stream(1...2).concurrentMap(limit: 2, ordered: false, waitOrSignal)
          } else {
            try await (1...2).concurrentMap(limit: 2, ordered: false, waitOrSignal)
          }
        journal.note("\(results)")
      }
      executor.runAll()
    }
    #expect(journal.entries == ["[2, 1]", "[2, 1]"])
  }

  @Test func `calls the body for as many elements at once as the limit allows`() {
    let executor = HandDrivenExecutor()
    for isAsync in [false, true] {
      let (gate, signal) = Condition.makeCondition()
      let visit: @Sendable (Int) async throws -> Void = { [peak] _ in
        peak.enter()
        try await gate.wait()
        peak.leave()
      }
      Task(executorPreference: executor) {
        if isAsync {
          try await stream(1...5).concurrentForEach(limit: 3, visit)
        } else {
          try await (1...5).concurrentForEach(limit: 3, visit)
        }
      }
      executor.runAll()
      #expect(peak.inside == 3)
      signal.signal()
      executor.runAll()
      #expect(peak.inside == 0)
    }
    #expect(peak.entries == 10)
  }

  @Test func `starts another child as soon as one has ended, while the others run`() {
    let executor = HandDrivenExecutor()
    let (gate, signal) = Condition.makeCondition()
    Task(executorPreference: executor) { [peak] in
      try await (1...3).concurrentForEach(limit: 2) { number in
        peak.enter()
        defer { peak.leave() }
        if number > 1 { try await gate.wait() }
      }
    }
    executor.runAll()
    #expect(peak.inside == 2, "the second and the third")
    signal.signal()
    executor.runAll()
    #expect(peak.inside == 0 && peak.entries == 3)
  }

  @Test func `runs a child of a group at the priority that it was given`() {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    // Nobody awaits this task, which would raise it.
    Task(executorPreference: executor, priority: .low) {
      try await withLimitedTaskGroup(of: Void.self, limit: 1) { group in
        for priority in [nil, TaskPriority.high] {
          group.addTask(priority: priority) { journal.note("\(Task.basePriority == .high)") }
          try await group.next()
        }
      }
    }
    executor.runAll()
    #expect(journal.entries == ["false", "true"])
  }

  @Test func `keeps optional results that are nil`() async throws {
    let results: [Int?] = await [1, 2, 3].concurrentMap(limit: 2) { $0 == 2 ? nil : $0 }
    #expect(results == [1, nil, 3])
  }

  @Test func `calls the body with each element`() async throws {
    await (1...10).concurrentForEach(limit: 4) { _ = await square($0) }
    await stream(1...10).concurrentForEach(limit: 4) { _ = await square($0) }
    #expect(peak.entries == 20)
    #expect(peak.highest <= 4)
  }

  @Test func `asks for no element while as many children run as the limit allows`() {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let (gate, signal) = Condition.makeCondition()
    Task(executorPreference: executor) {
      try await stream(1...3)
        .map { number in
          journal.note("\(number) asked for")
          return number
        }
        .concurrentForEach(limit: 2) { _ in try await gate.wait() }
      journal.note("done")
    }
    executor.runAll()
    #expect(journal.entries == ["1 asked for", "2 asked for"])
    signal.signal()
    executor.runAll()
    #expect(journal.entries.suffix(2) == ["3 asked for", "done"])
  }

  @Test func `throws the first error, and cancels and waits for the other children`() async throws {
    let (never, signal) = Condition.makeCondition()
    await #expect(throws: Failure()) {
      try await (1...100).concurrentForEach(limit: 2) { number in
        peak.enter()
        defer { peak.leave() }
        if number == 1 { try await never.wait() }
        throw Failure()
      }
    }
    #expect(peak.inside == 0)
    #expect(peak.entries <= 3)
    withExtendedLifetime(signal) {}
  }

  @Test func `cancels and waits for the children when the sequence throws`() {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let numbers = AsyncThrowingStream<Int, any Error> { continuation in
      continuation.yield(1)
      continuation.finish(throwing: Failure())
    }
    let (never, signal) = Condition.makeCondition()
    Task(executorPreference: executor) {
      do {
        try await numbers.concurrentForEach(limit: 2) { _ in
          defer { journal.note("child ends") }
          try await never.wait()
        }
      } catch { journal.note("\(error)") }
    }
    executor.runAll()
    #expect(journal.entries == ["child ends", "Failure()"])
    signal.signal()
    executor.runAll()
  }

  @Test func `throws errors of the type that the body throws`() async {
    let work: @Sendable (Int) async throws(Failure) -> Int = { _ throws(Failure) in
      throw Failure()
    }
    // Each would not compile if the call threw errors of any type.
    do throws(Failure) { _ = try await [1].concurrentMap(limit: 1, work) } catch {
      #expect(error == Failure())
    }
    do throws(Failure) { _ = try await stream(1...1).concurrentMap(limit: 1, work) } catch {
      #expect(error == Failure())
    }
    do throws(Failure) {
      for try await _ in [1].concurrentResults(limit: 1, work) {}
    } catch { #expect(error == Failure()) }
  }

  @Test(arguments: [false, true])
  func `shares the permits of a limiter with others, and asks for no more elements than it has`(
    isAsync: Bool
  ) {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let limiter = ConcurrencyLimiter(concurrency: 3)
    let (gate, signal) = Condition.makeCondition()
    let visit: @Sendable (Int) async throws -> Int = { [peak] number in
      peak.enter()
      defer { peak.leave() }
      try await gate.wait()
      return number
    }
    let one = stream(1...4).map { number in
      journal.note("asked for")
      return number
    }
    Task(executorPreference: executor) {
      let results =
        if isAsync {
          try await one.concurrentMap(limiter: limiter, visit)
        } else {
          try await (1...4).concurrentMap(limiter: limiter, visit)
        }
      journal.note("\(results)")
    }
    Task(executorPreference: executor) {
      if isAsync {
        try await stream(1...4).concurrentForEach(limiter: limiter) { _ = try await visit($0) }
      } else {
        try await (1...4).concurrentForEach(limiter: limiter) { _ = try await visit($0) }
      }
      journal.note("done")
    }
    executor.runAll()
    #expect(peak.inside == 3)
    #expect(limiter.waiting == 3)
    #expect(journal.entries.count == (isAsync ? 3 : 0))
    limiter.setConcurrency(1)
    signal.signal()
    executor.runAll()
    #expect(journal.entries.suffix(2).sorted() == ["[1, 2, 3, 4]", "done"])
    #expect(peak.entries == 8 && limiter.running == 0)
  }

  @Test(arguments: 0...3)
  func `asks for no more elements than the limiter has permits, though that was lowered`(work: Int)
  {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let gates = (1...4).map { _ in Condition.makeCondition() }
    let visit: @Sendable (Int) async throws -> Void = { try await gates[$0].condition.wait() }
    let ask: @Sendable (Int) -> Int = { number in
      journal.note("\(number) asked for")
      return number
    }
    Task(executorPreference: executor) {
      let (numbers, streamed) = ((0...3).lazy.map(ask), stream(0...3).map { ask($0) })
      switch work {
      case 0: _ = try await numbers.concurrentMap(limiter: limiter, visit)
      case 1: try await numbers.concurrentForEach(limiter: limiter, visit)
      case 2: _ = try await streamed.concurrentMap(limiter: limiter, visit)
      default: try await streamed.concurrentForEach(limiter: limiter, visit)
      }
      journal.note("done")
    }
    executor.runAll()
    limiter.setConcurrency(1)
    gates[0].signal.signal()
    executor.runAll()
    #expect(journal.entries == ["0 asked for", "1 asked for"], "one runs, and no more may")
    for gate in gates { gate.signal.signal() }
    executor.runAll()
    #expect(journal.entries.suffix(3) == ["2 asked for", "3 asked for", "done"])
  }

  @Test(arguments: [true, false])
  func `gives results as they are ready with a limiter, if that is asked for`(ordered: Bool) {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let limiter = ConcurrencyLimiter(concurrency: 2)
    for isAsync in [false, true] {
      let (gate, signal) = Condition.makeCondition()
      let waitOrSignal: @Sendable (Int) async throws -> Int = { number in
        if number == 1 { try await gate.wait() } else { signal.signal() }
        return number
      }
      Task(executorPreference: executor) {
        let results =
          if isAsync {
            try await stream(1...2).concurrentMap(limiter: limiter, ordered: ordered, waitOrSignal)
          } else {
            try await (1...2).concurrentMap(limiter: limiter, ordered: ordered, waitOrSignal)
          }
        journal.note("\(results)")
      }
      executor.runAll()
    }
    let expected = ordered ? "[1, 2]" : "[2, 1]"
    #expect(journal.entries == [expected, expected])
  }

  @Test func `gives up its wait for a limiter when it is cancelled, or the limiter closed`() {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    for end in ["cancel", "close"] {
      let limiter = ConcurrencyLimiter(concurrency: 1)
      let token = limiter.tryAcquire()?.detach()
      let task = Task(executorPreference: executor) {
        do { try await [1, 2].concurrentForEach(limiter: limiter) { _ in } } catch {
          journal.note("\(type(of: error))")
        }
      }
      executor.runAll()
      if end == "cancel" { task.cancel() } else { limiter.close() }
      executor.runAll()
      token?.release()
    }
    #expect(journal.entries == ["CancellationError", "LimiterClosed"])
  }

  @Test func `runs no more children of a group than its limit`() async throws {
    let sum = try await withLimitedTaskGroup(of: Int.self, limit: 3) { group in
      for number in 1...10 { group.addTask { await square(number) } }
      var sum = 0
      while let next = try await group.next() { sum += next }
      #expect(group.isEmpty)
      return sum
    }
    #expect(sum == 385)
    #expect(peak.highest <= 3)
    #expect(peak.entries == 10)
  }

  @Test func `cancels the children of a group that have not started`() async throws {
    let (gate, signal) = Condition.makeCondition()
    await #expect(throws: CancellationError.self) {
      try await withLimitedTaskGroup(of: Void.self, limit: 1) { group in
        for _ in 1...3 {
          group.addTask {
            peak.enter()
            defer { peak.leave() }
            try await gate.wait()
          }
        }
        group.cancelAll()
        #expect(group.isCancelled)
        try await group.waitForAll()
      }
    }
    #expect(peak.entries <= 1)
    signal.signal()
  }

  /// What ends a group.
  enum End: CaseIterable {
    case cancelAll
    case cancellation
    case error
  }

  /// Two of three children run; when the first is cancelled, the second ends, before the third is cancelled.
  @Test(arguments: End.allCases)
  func `begins no child of a group that is cancelled, though one ends that ran`(end: End) {
    let (executor, journal) = (HandDrivenExecutor(), Journal())
    let (first, second) = (Condition.makeCondition(), Condition.makeCondition())
    let body = Condition.makeCondition()
    let task = Task(executorPreference: executor) {
      do {
        try await withLimitedTaskGroup(of: Void.self, limit: 2) { group in
          group.addTask {
            try await withTaskCancellationHandler {
              try await first.condition.waitUncancellably()
            } onCancel: {
              second.signal.signal()
              executor.runAll()
              first.signal.signal()
            }
          }
          group.addTask {
            try await second.condition.waitUncancellably()
            journal.note("second ends")
          }
          group.addTask { journal.note("third begins") }
          try await body.condition.waitUncancellably()
          if end == .error { throw Failure() }
          if end == .cancelAll { group.cancelAll() }
          try await group.waitForAll()
        }
      } catch { journal.note("\(error)") }
    }
    executor.runAll()
    body.signal.signal()
    executor.runAll()
    if end == .cancellation { task.cancel() }
    executor.runAll()
    let error = end == .error ? "Failure()" : "CancellationError()"
    #expect(journal.entries == ["second ends", error])
  }

  @Test func `begins no child that is added to a cancelled group, though a permit is free`()
    async throws
  {
    await #expect(throws: CancellationError.self) {
      try await withLimitedTaskGroup(of: Void.self, limit: 1) { group in
        group.cancelAll()
        #expect(group.isCancelled)
        group.addTask { peak.enter() }
        try await group.waitForAll()
      }
    }
    #expect(peak.entries == 0)
  }

  @Test func `passes on what a child of a group throws, also that another limiter was closed`()
    async throws
  {
    let closed = ConcurrencyLimiter(concurrency: 1)
    closed.close()
    await #expect(throws: LimiterClosed.self) {
      try await withLimitedTaskGroup(of: Void.self, limit: 1) { group in
        group.addTask { try await closed.run {} }
        try await group.waitForAll()
      }
    }
  }

  @Test(arguments: 0...6)
  func `stops when the limit is below 1, whatever is worked on, naming the caller`(
    work: Int
  ) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [work] in
      let numbers = AsyncStream<Int> { $0.finish() }
      let failing = AsyncThrowingStream<Int, any Error> { $0.finish() }
      switch work {
      case 0: _ = await [1].concurrentMap(limit: 0) { $0 }
      case 1: await [1].concurrentForEach(limit: 0) { _ in }
      case 2: _ = await numbers.concurrentMap(limit: 0) { $0 }
      case 3: await numbers.concurrentForEach(limit: 0) { _ in }
      case 4: _ = try await failing.concurrentMap(limit: 0) { $0 }
      case 5: try await failing.concurrentForEach(limit: 0) { _ in }
      default: try await withLimitedTaskGroup(of: Void.self, limit: 0) { _ in }
      }
    }
    #expect(message(of: result).contains("limit is 0, but must be at least 1"))
    #expect(message(of: result).contains("ConcurrentMapTests.swift"))
  }
}
