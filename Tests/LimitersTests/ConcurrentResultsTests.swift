import TestSupport
import Testing

@testable import Limiters

/// Yields numbers, then waits until its task is cancelled.
private struct Pausing: AsyncSequence, Sendable {
  let numbers: ClosedRange<Int>
  let journal: Journal
  var willPause: @Sendable () -> Void = {}

  struct AsyncIterator: AsyncIteratorProtocol {
    var numbers: ClosedRange<Int>.Iterator
    let journal: Journal
    let willPause: @Sendable () -> Void
    mutating func next() async throws -> Int? {
      if let number = numbers.next() { return number }
      willPause()
      let (never, signal) = Condition.makeCondition()
      defer { withExtendedLifetime(signal) { journal.note("pause is over") } }
      try await never.wait()
      return nil
    }
  }

  func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(numbers: numbers.makeIterator(), journal: journal, willPause: willPause)
  }
}

private enum Caller {
  @TaskLocal static var name = "nobody"
}

@Suite(.watched) struct `Results that come while others are worked on` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()
  private let peak = PeakCount()

  private func stream(_ numbers: ClosedRange<Int>) -> AsyncStream<Int> {
    AsyncStream { continuation in
      for number in numbers { continuation.yield(number) }
      continuation.finish()
    }
  }

  /// Suspends more often the smaller the number: later elements are ready first.
  private func square(_ number: Int) async -> Int {
    peak.enter()
    defer { peak.leave() }
    for _ in number..<20 { await Task.yield() }
    return number * number
  }

  @Test(arguments: [1, 3, 50]) func `come in order and keep to the limit`(limit: Int) async throws {
    let squares = (0..<20).map { $0 * $0 }
    var found: [Int] = []
    for await result in (0..<20).concurrentResults(limit: limit, { await square($0) }) {
      found.append(result)
    }
    #expect(found == squares)
    found = []
    for await result in stream(0...19).concurrentResults(limit: limit, { await square($0) }) {
      found.append(result)
    }
    #expect(found == squares)
    #expect(peak.highest <= limit)
    #expect(peak.entries == 40)
  }

  @Test(arguments: [true, false]) func `come as they are ready, if no order is asked for`(
    isAsync: Bool
  ) {
    let (gate, signal) = Condition.makeCondition()
    let work: @Sendable (Int) async throws -> Int = { number in
      if number == 1 { try await gate.wait() } else { signal.signal() }
      return number
    }
    Task(executorPreference: executor) { [executor, journal] in
      let results =
        if isAsync {
          stream(1...2).concurrentResults(limit: 2, ordered: false, executor: executor, work)
        } else {
          (1...2).concurrentResults(limit: 2, ordered: false, executor: executor, work)
        }
      for try await result in results { journal.note("\(result)") }
      journal.note("end")
    }
    executor.runAll()
    #expect(journal.entries == ["2", "1", "end"])
  }

  @Test(arguments: [true, false])
  func `come although the sequence pauses, and an error ends the pause`(fails: Bool) {
    let pausing = Pausing(numbers: 1...2, journal: journal)
    let task = Task(executorPreference: executor) { [executor, journal] in
      let results = pausing.concurrentResults(limit: 3, executor: executor) { number in
        if number == 2, fails { throw Failure() }
        return number
      }
      do {
        for try await result in results { journal.note("\(result)") }
      } catch { journal.note("\(error)") }
    }
    executor.runAll()
    if fails {
      #expect(journal.entries == ["1", "pause is over", "Failure()"])
    } else {
      #expect(journal.entries == ["1", "2"], "and it goes on waiting")
      task.cancel()
      executor.runAll()
      #expect(journal.entries == ["1", "2", "pause is over", "CancellationError()"])
    }
  }

  @Test func `end with an error that comes before the start of the work has returned`() {
    let (gate, signal) = Condition.makeCondition()
    let pausing = Pausing(numbers: 1...1, journal: journal) { signal.signal() }
    Task(executorPreference: executor) { [journal] in
      // The work pauses, and its child fails, inside of the call that starts it.
      let results = pausing.concurrentResults(limit: 2, executor: AtOnceExecutor()) { _ in
        try await gate.wait()
        throw Failure()
      }
      do {
        for try await _ in results { journal.note("a result") }
      } catch { journal.note("\(error)") }
    }
    executor.runAll()
    #expect(journal.entries == ["pause is over", "Failure()"])
  }

  @Test func `hold the work up while nobody takes them`() {
    let (gate, signal) = Condition.makeCondition()
    Task(executorPreference: executor) { [executor, journal] in
      let numbers = stream(1...5).map { number in
        journal.note("\(number) asked for")
        return number
      }
      for try await result in numbers.concurrentResults(limit: 2, executor: executor, { $0 }) {
        journal.note("\(result) taken")
        try await gate.wait()
      }
    }
    executor.runAll()
    #expect(journal.entries.filter { $0.hasSuffix("taken") } == ["1 taken"])
    #expect(journal.entries.filter { $0.hasSuffix("for") }.last == "3 asked for")
    signal.signal()
    executor.runAll()
    #expect(journal.entries.last == "5 taken")
  }

  @Test func `are no more worked on when the loop ends early`() {
    let (never, signal) = Condition.makeCondition()
    Task(executorPreference: executor) { [executor, journal, peak] in
      let results = (1...100).concurrentResults(limit: 3, executor: executor) { number in
        peak.enter()
        defer { peak.leave() }
        if number > 1 { try await never.wait() }
        return number
      }
      for try await result in results {
        journal.note("\(result)")
        break
      }
      journal.note("end")
    }
    executor.runAll()
    #expect(journal.entries == ["1", "end"])
    #expect(peak.inside == 0, "what ran was cancelled")
    #expect(peak.entries <= 4, "and no more was begun")
    withExtendedLifetime(signal) {}
  }

  @Test
  func `end with the first error, after those that were ready and after the others have ended`() {
    let (gate, signal) = Condition.makeCondition()
    Task(executorPreference: executor) { [executor, journal, peak] in
      let results = (1...9).concurrentResults(limit: 4, executor: executor) { number in
        peak.enter()
        defer { peak.leave() }
        if number == 1 { return number }
        if number == 2 {
          try await gate.wait()
          throw Failure()
        }
        let (never, signal) = Condition.makeCondition()
        defer { withExtendedLifetime(signal) {} }
        try await never.wait()
        return number
      }
      var iterator = results.makeAsyncIterator()
      do {
        while let result = try await iterator.next() {
          journal.note("\(result)")
          signal.signal()
        }
      } catch { journal.note("\(error), \(peak.inside) run") }
      journal.note("then \(try await iterator.next().map { "\($0)" } ?? "nothing")")
    }
    executor.runAll()
    #expect(journal.entries == ["1", "Failure(), 0 run", "then nothing"])
  }

  @Test func `end with an error of the sequence, which cancels what runs`() {
    let numbers = AsyncThrowingStream<Int, any Error> { continuation in
      for number in 1...2 { continuation.yield(number) }
      continuation.finish(throwing: Failure())
    }
    let (never, signal) = Condition.makeCondition()
    Task(executorPreference: executor) { [executor, journal] in
      let results = numbers.concurrentResults(limit: 4, executor: executor) { number in
        defer { journal.note("\(number) ends") }
        try await never.wait()
      }
      do { for try await _ in results {} } catch { journal.note("\(error)") }
    }
    executor.runAll()
    #expect(journal.entries == ["1 ends", "2 ends", "Failure()"])
    signal.signal()
    executor.runAll()
  }

  @Test(arguments: [false, true])
  func `are worked on with the priority and the task-local values of who asks for the first`(
    onExecutor: Bool
  ) async {
    let other: (any TaskExecutor)? = onExecutor ? ThreadsExecutor.shared : nil
    let results = [1].concurrentResults(limit: 1, executor: other) { _ in
      "\(Task.basePriority == .high), asked by \(Caller.name)"
    }
    let found = Task.detached(priority: .high) {
      await Caller.$name.withValue("me") {
        var iterator = results.makeAsyncIterator()
        return await iterator.next()
      }
    }
    #expect(await found.value == "true, asked by me")
  }

  @Test func `pass the cancellation of the loop's task on to the work, and go on`() {
    let task = Task(executorPreference: executor) { [executor, journal] in
      let results = (1...3).concurrentResults(limit: 1, executor: executor) { number in
        let (never, signal) = Condition.makeCondition()
        defer { withExtendedLifetime(signal) {} }
        do { try await never.wait() } catch { return -number }
        return number
      }
      for await result in results { journal.note("\(result)") }
      journal.note("end")
    }
    executor.runAll()
    #expect(journal.entries.isEmpty)
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["-1", "-2", "-3", "end"])
  }

  @Test
  func `are worked on anew for each iteration, which begins with the first that is asked for`()
    async
  {
    let results = (1...3).concurrentResults(limit: 2) { number in
      peak.enter()
      return number
    }
    var first = results.makeAsyncIterator()
    #expect(peak.entries == 0)
    #expect(await first.next() == 1)
    var sum = 0
    for await result in results { sum += result }
    while let next = await first.next() { sum += next }
    #expect(sum == 11)
    #expect(peak.entries == 6)
  }

  @Test func `share the permits of a limiter with others`() {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let (gate, signal) = Condition.makeCondition()
    for name in ["a", "b"] {
      Task(executorPreference: executor) { [executor, journal, peak] in
        let work: @Sendable (Int) async throws -> Int = { number in
          peak.enter()
          defer { peak.leave() }
          try await gate.wait()
          return number
        }
        let results =
          if name == "a" {
            (1...3).concurrentResults(limiter: limiter, executor: executor, work)
          } else {
            stream(1...3).concurrentResults(limiter: limiter, executor: executor, work)
          }
        var found: [Int] = []
        for try await result in results {
          // The loop may use the limiter too.
          try await limiter.run { found.append(result) }
        }
        journal.note("\(name) \(found)")
      }
    }
    executor.runAll()
    #expect(peak.inside == 2)
    #expect(limiter.waiting == 2, "no more children than there are permits")
    limiter.setConcurrency(3)
    executor.runAll()
    #expect(peak.inside == 3)
    signal.signal()
    executor.runAll()
    #expect(journal.entries.sorted() == ["a [1, 2, 3]", "b [1, 2, 3]"])
    #expect(limiter.running == 0 && peak.highest == 3)
  }

  @Test func `end with LimiterClosed when the limiter is closed`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    Task(executorPreference: executor) { [executor, journal] in
      do {
        for try await result in (1...3).concurrentResults(
          limiter: limiter,
          executor: executor,
          { $0 }
        ) {
          journal.note("\(result)")
          limiter.close()
        }
      } catch { journal.note("\(type(of: error))") }
    }
    executor.runAll()
    #expect(journal.entries.first == "1")
    #expect(journal.entries.last == "LimiterClosed")
  }

  @Test func `are gone with the iterator, and so is what the work refers to`() async {
    let census = Tracked.Census()
    do {
      let tracked = Tracked(in: census)
      let results = (1...3).concurrentResults(limit: 2, executor: executor) { number in
        withExtendedLifetime(tracked) { number }
      }
      Task(executorPreference: executor) { [journal] in
        for await result in results { journal.note("\(result)") }
      }
      executor.runAll()
    }
    #expect(journal.entries == ["1", "2", "3"])
    #expect(census.living == 0)
  }

  @Test func `are gone with the iterator also while the work is held up`() {
    let census = Tracked.Census()
    let (gate, signal) = Condition.makeCondition()
    do {
      let tracked = Tracked(in: census)
      let results = (1...9).concurrentResults(limit: 1, executor: executor) { number in
        withExtendedLifetime(tracked) { number }
      }
      Task(executorPreference: executor) { [journal] in
        var iterator = results.makeAsyncIterator()
        journal.note("\(await iterator.next() ?? 0)")
        try await gate.wait()
      }
      executor.runAll()
    }
    #expect(census.living == 1)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["1"])
    #expect(census.living == 0, "nothing waits any more for a result to be taken")
  }

  @Test(arguments: 0...2)
  func `stop the program when the limit is below 1, whatever is worked on, naming the caller`(
    work: Int
  ) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [work] in
      switch work {
      case 0: _ = [1].concurrentResults(limit: 0) { $0 }
      case 1: _ = AsyncStream<Int> { $0.finish() }.concurrentResults(limit: 0) { $0 }
      default:
        _ = AsyncThrowingStream<Int, any Error> { $0.finish() }.concurrentResults(limit: 0) { $0 }
      }
    }
    #expect(message(of: result).contains("limit is 0, but must be at least 1"))
    #expect(message(of: result).contains("ConcurrentResultsTests.swift"))
  }
}
