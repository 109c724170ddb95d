import Basics
import Synchronization
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `A concurrency limiter` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  /// Starts a task whose body notes its admission, waits for `gate`, and notes its departure.
  @discardableResult
  private func start(
    _ name: String,
    on limiter: ConcurrencyLimiter,
    until gate: Condition
  ) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await limiter.run {
          journal.note("\(name) in")
          try await gate.waitUncancellably()
          journal.note(Task.isCancelled ? "\(name) out, cancelled" : "\(name) out")
        }
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  private func expectIdle(
    _ limiter: ConcurrencyLimiter,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(limiter.running == 0, sourceLocation: sourceLocation)
    #expect(limiter.waiting == 0, sourceLocation: sourceLocation)
  }

  @Test(arguments: 1...4) func `runs as many at once as it has permits, and no more`(limit: Int) {
    let limiter = ConcurrencyLimiter(concurrency: limit)
    let peak = PeakCount()
    for _ in 1...10 {
      Task(executorPreference: executor) {
        try await limiter.run {
          peak.enter()
          await Task.yield()
          await Task.yield()
          peak.leave()
        }
      }
    }
    executor.runAll()
    #expect(peak.entries == 10)
    #expect(peak.highest == limit)
    expectIdle(limiter)
  }

  @Test func `admits in order of arrival`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    signal.signal()
    for number in 1...5 { start("t\(number)", on: limiter, until: gate) }
    executor.runAll()
    #expect(journal.entries == (1...5).flatMap { ["t\($0) in", "t\($0) out"] })
  }

  @Test func `hands a departing task's permit to the first waiter, past any newcomer`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    start("t2", on: limiter, until: gate)
    executor.runAll()
    signal.signal()
    executor.runOne()
    #expect(journal.entries == ["t1 in", "t1 out"])
    #expect(limiter.running == 1, "the permit is t2's, though t2 has not woken yet")
    start("t3", on: limiter, until: gate)
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t1 out", "t2 in", "t2 out", "t3 in", "t3 out"])
    expectIdle(limiter)
  }

  @Test func `gives the permit back when the body throws`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    await #expect(throws: Failure()) { try await limiter.run { throw Failure() } }
    // If not, the next would wait for ever.
    try #require(limiter.running == 0)
    await #expect(throws: Failure()) { try await limiter.runUncancellably { throw Failure() } }
    expectIdle(limiter)
    #expect(await limiter.runIfFree { 1 } == 1)
  }

  @Test func `denies a task cancelled while it waits, and admits the one behind it`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    let second = start("t2", on: limiter, until: gate)
    start("t3", on: limiter, until: gate)
    executor.runAll()
    #expect(limiter.waiting == 2)
    second.cancel()
    #expect(limiter.waiting == 1, "it leaves the line at once, before it has even woken")
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t2 CancellationError"])
    signal.signal()
    executor.runAll()
    #expect(journal.entries.dropFirst(2) == ["t1 out", "t3 in", "t3 out"])
    expectIdle(limiter)
  }

  @Test func `runs the body of a task that was handed its permit and then cancelled`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    let second = start("t2", on: limiter, until: gate)
    executor.runAll()
    signal.signal()
    executor.runOne()
    #expect(journal.entries == ["t1 in", "t1 out"])
    second.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t1 out", "t2 in", "t2 out, cancelled"])
    expectIdle(limiter)
  }

  @Test func `passes the permit over a task cancelled just before the hand-off`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    let second = start("t2", on: limiter, until: gate)
    start("t3", on: limiter, until: gate)
    executor.runAll()
    second.cancel()
    signal.signal()
    executor.runAll()
    #expect(journal.entries.contains("t2 CancellationError"))
    #expect(!journal.entries.contains("t2 in"))
    #expect(journal.entries.contains("t3 out"))
    expectIdle(limiter)
  }

  @Test func `denies a task cancelled before it arrives, with or without a free permit`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate).cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    start("t2", on: limiter, until: gate)
    executor.runAll()
    start("t3", on: limiter, until: gate).cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError", "t2 in", "t3 CancellationError"])
    signal.signal()
    executor.runAll()
    expectIdle(limiter)
  }

  @Test func `waits uncancellably where that was asked for`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    let second = Task(executorPreference: executor) { [journal] in
      await limiter.runUncancellably { journal.note("t2, cancelled: \(Task.isCancelled)") }
    }
    executor.runAll()
    second.cancel()
    executor.runAll()
    #expect(limiter.waiting == 1)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t1 out", "t2, cancelled: true"])
    expectIdle(limiter)
  }

  @Test func `admits waiters in order when the limit is raised`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    for number in 1...4 { start("t\(number)", on: limiter, until: gate) }
    executor.runAll()
    limiter.setConcurrency(3)
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t2 in", "t3 in"])
    #expect(limiter.concurrency == 3)
    signal.signal()
    executor.runAll()
    expectIdle(limiter)
  }

  @Test func `lets running bodies finish when the limit is lowered, and then keeps to it`() {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let (first, firstSignal) = Condition.makeCondition()
    let (second, secondSignal) = Condition.makeCondition()
    start("t1", on: limiter, until: first)
    start("t2", on: limiter, until: second)
    start("t3", on: limiter, until: second)
    executor.runAll()
    limiter.setConcurrency(1)
    #expect(limiter.running == 2)
    firstSignal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 in", "t2 in", "t1 out"], "t1's permit is retired")
    secondSignal.signal()
    executor.runAll()
    #expect(journal.entries.suffix(3) == ["t2 out", "t3 in", "t3 out"])
    expectIdle(limiter)
  }

  @Test func `counts a limit that is larger than it can count as the largest that it can`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: .max)
    #expect(limiter.concurrency == Int(Int32.max))
    #expect(try await limiter.run { limiter.running } == 1)
    limiter.setConcurrency(1)
    limiter.setConcurrency(.max)
    #expect(try await limiter.run(weight: 7) { limiter.running } == 7)
    #expect(limiter.concurrency == Int(Int32.max))
    expectIdle(limiter)
  }

  @Test func `runs the body on the calling task, in the caller's isolation`() async throws {
    // Compiles only if neither the body nor its value has to be Sendable.
    final class Draft {
      var text = ""
    }
    actor Author {
      private let draft = Draft()
      func write(with limiter: ConcurrencyLimiter) async throws -> Bool {
        let same = try await limiter.run {
          draft.text = "page"
          return draft
        }
        return same === draft
      }
    }
    enum Local { @TaskLocal static var name = "none" }
    let limiter = ConcurrencyLimiter(concurrency: 1)
    #expect(try await Author().write(with: limiter))
    let name = try await Local.$name.withValue("caller") {
      try await limiter.run { Local.name }
    }
    #expect(name == "caller")
  }

  @Test func `holds nothing of its waiters once they have left`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let census = Tracked.Census()
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    executor.runAll()
    var tasks: [Task<Void, any Error>] = []
    for _ in 1...1_000 {
      let tracked = Tracked(in: census)
      tasks.append(
        Task(executorPreference: executor) {
          try await limiter.run { withExtendedLifetime(tracked) {} }
        }
      )
    }
    executor.runAll()
    #expect(limiter.waiting == 1_000)
    #expect(census.living == 1_000)
    for task in tasks { task.cancel() }
    executor.runAll()
    #expect(census.living == 0)
    signal.signal()
    executor.runAll()
    expectIdle(limiter)
  }

  @Test(.search) func `lets a hundred thousand waiters leave in random order`() {
    // Quadratic cancellation would take five thousand million steps here, and never end.
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: limiter, until: gate)
    executor.runAll()
    var tasks = (0..<100_000).map { _ in
      Task(executorPreference: executor) { try await limiter.run {} }
    }
    executor.runAll()
    #expect(limiter.waiting == 100_000)
    var generator = SplitMix64(seed: 7)
    tasks.shuffle(using: &generator)
    for task in tasks { task.cancel() }
    #expect(limiter.waiting == 0)
    signal.signal()
    executor.runAll()
    expectIdle(limiter)
  }

  @Test func `stops when made with a limit below 1, saying which`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      _ = ConcurrencyLimiter(concurrency: 0)
    }
    #expect(message(of: result).contains("concurrency is 0, but must be at least 1"))
  }

  @Test func `stops when its limit is set below 1, saying which`() async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) {
      ConcurrencyLimiter(concurrency: 1).setConcurrency(-2)
    }
    #expect(message(of: result).contains("concurrency is -2, but must be at least 1"))
  }
}
