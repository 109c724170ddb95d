import Exploration
import TestSupport
import Testing

/// The limiters as other packages get them, explored as other packages explore theirs.
///
/// What a body changes nothing but the limiter guards: a second body beside it would be a data race.
@Suite(.inTurn, .watched) struct `The limiters, unchanged` {
  private final class Log: @unchecked Sendable {
    // Unchecked, and a race where a limiter lets two in at once: that is what is looked for.
    var entries: [Int] = []
  }

  private actor Ledger {
    var entries: [Int] = []
    func note(_ entry: Int) { entries.append(entry) }
  }

  private func explored(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws {
    let verdict = try explore(name, schedules: 1_000_000) { try await body() }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `show each body what the one before it wrote`() throws {
    try explored("limiter-of-two") {
      let limiter = ConcurrencyLimiter(concurrency: 1)
      let log = Log()
      async let one: Void = limiter.run { log.entries.append(1) }
      async let two: Void = limiter.run { log.entries.append(2) }
      _ = try await (one, two)
      try require(log.entries.count == 2, "\(log.entries)")
    }
  }

  private final class Kept: Sendable {
    let permit: Permit
    init(_ permit: consuming Permit) { self.permit = permit }
  }

  @Test func `stay as long as a permit is out, in whatever order limiter and permits go`() throws {
    try explored("permits-that-stay") {
      weak let core: LimiterCore?
      var tasks: [Task<Void, Never>] = []
      do {
        let limiter = ConcurrencyLimiter(concurrency: 2)
        core = limiter.core
        for _ in 1...2 {
          let kept = Kept(try await limiter.acquire())
          tasks.append(Task { kept.permit.release() })
        }
      }
      for task in tasks { await task.value }
      try require(core == nil, "what the permits needed is left")
    }
  }

  @Test func `lend an element to one task at a time, by the lock of a pool and without`() throws {
    try explored("pool-of-one") {
      let pool = AsyncPool(maxElements: 1) { Log() }
      try await pool.withElement { $0.entries.append(0) }
      let other = Task { try await pool.withElement { $0.entries.append(1) } }
      try await pool.withElement { $0.entries.append(2) }
      try await other.value
      let entries = try await pool.withElement { $0.entries }
      try require(entries.count == 3, "\(entries)")
    }
  }

  @Test(.search) func `keep what a task has borrowed while others give elements up`() throws {
    struct Broken: Error {}
    try explored("pool-of-two") {
      let pool = AsyncPool(maxElements: 2, minElements: 2) { Log() }
      try await pool.prepare()
      async let visit: Void = pool.withElement { $0.entries.append(1) }
      let lossy = Task {
        try await pool.withElement(onError: .discard) { log in
          log.entries.append(2)
          throw Broken()
        }
      }
      pool.setMaxElements(1)
      try await visit
      _ = await lossy.result
      try require(pool.lent == 0, "\(pool.lent)")
    }
  }

  @Test(.search) func `let one of three tasks in at a time, in every schedule`() throws {
    try explored("limiter") {
      let limiter = ConcurrencyLimiter(concurrency: 1)
      let log = Log()
      try await withThrowingTaskGroup { group in
        for number in 1...3 {
          group.addTask { try await limiter.run { log.entries.append(number) } }
        }
        try await group.waitForAll()
      }
      try require(log.entries.count == 3, "\(log.entries)")
    }
  }

  @Test(.search) func `run what is sent to a queue one after the other, in the order sent`() throws
  {
    try explored("fifo-queue") {
      let queue = FIFOQueue()
      let log = Log()
      for number in 1...2 { queue.enqueue { log.entries.append(number) } }
      let entries = try await queue.enqueueAndWait { log.entries + [3] }
      try require(entries == [1, 2, 3], "\(entries)")
    }
  }

  @Test(.search) func `start what is sent to an actor in the order sent`() throws {
    try explored("actor-queue") {
      let queue = ActorQueue<Ledger>()
      let ledger = Ledger()
      queue.adoptExecutionContext(of: ledger)
      for number in 1...2 { queue.enqueue { $0.entries.append(number) } }
      let entries = try await queue.enqueueAndWait { $0.entries + [3] }
      try require(entries == [1, 2, 3], "\(entries)")
    }
  }

  @Test(.search) func `let three tasks wait at a queue, each for its own turn`() throws {
    try explored("fifo-queue-waiting") {
      let queue = FIFOQueue()
      let log = Log()
      try await withThrowingTaskGroup { group in
        for number in 1...3 {
          group.addTask { try await queue.enqueueAndWait { log.entries.append(number) } }
        }
        try await group.waitForAll()
      }
      try require(log.entries.count == 3, "\(log.entries)")
    }
  }

  @Test(.search) func `let three tasks wait for an actor, each for its own turn`() throws {
    // Each run to its end, they would be too many.
    let verdict = try explore("actor-queue-waiting", schedules: 1_000_000, reduction: true) {
      let queue = ActorQueue<Ledger>()
      let ledger = Ledger()
      queue.adoptExecutionContext(of: ledger)
      try await withThrowingTaskGroup { group in
        for number in 1...3 {
          group.addTask { try await queue.enqueueAndWait { $0.entries.append(number) } }
        }
        try await group.waitForAll()
      }
      let entries = await ledger.entries
      try require(entries.sorted() == [1, 2, 3], "\(entries)")
    }
    #expect(verdict.merged > 0 && verdict.estimate == nil && verdict.drawn == 0, "\(verdict)")
  }
}
