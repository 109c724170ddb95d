import Synchronization
import TestSupport
import Testing

@testable import Limiters

/// An element with a number: 1 for the first that its builder made.
private final class Element: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

/// Builds elements, waiting for a gate each time, and fails the first `failures` times.
private final class Workshop: Sendable {
  private let built = Mutex((attempts: 0, failuresLeft: 0))
  private let gate: Condition?

  init(failures: Int = 0, gate: Condition? = nil) {
    built.withLock { $0.failuresLeft = failures }
    self.gate = gate
  }

  var attempts: Int { built.withLock { $0.attempts } }

  func build() async throws -> Element {
    let (number, fails) = built.withLock { built in
      built.attempts += 1
      let fails = built.failuresLeft > 0
      if fails { built.failuresLeft -= 1 }
      return (built.attempts, fails)
    }
    try await gate?.waitUncancellably()
    if fails { throw Failure() }
    return Element(number)
  }
}

/// A clock that does not let anybody sleep.
private final class ThrowingClock: Clock {
  private let count = Mutex(0)

  var sleeps: Int { count.withLock { $0 } }
  var now: HandClock.Instant { HandClock.Instant(time: .zero) }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: HandClock.Instant, tolerance: Duration?) async throws {
    count.withLock { $0 += 1 }
    throw Failure()
  }
}

@Suite(.watched) struct `An async pool` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  private func makePool(of maxElements: Int, _ workshop: Workshop) -> AsyncPool<Element> {
    AsyncPool(maxElements: maxElements) { try await workshop.build() }
  }

  /// Starts a task that notes which element it gets, waits for `gate`, and gives it back.
  @discardableResult
  private func start(
    _ name: String,
    on pool: AsyncPool<Element>,
    until gate: Condition
  ) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await pool.withElement { element in
          journal.note("\(name) has \(element.number)")
          try await gate.waitUncancellably()
        }
        journal.note("\(name) done")
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  private func expectIdle(
    _ pool: AsyncPool<Element>,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    #expect(pool.lent == 0, sourceLocation: sourceLocation)
    #expect(pool.waiting == 0, sourceLocation: sourceLocation)
  }

  @Test func `builds an element only when it is needed, and uses it again`() async throws {
    let workshop = Workshop()
    let pool = makePool(of: 2, workshop)
    #expect(workshop.attempts == 0)
    for _ in 1...3 {
      let element = try await pool.get()
      #expect(element.number == 1)
      #expect(pool.lent == 1)
      pool.return(element)
    }
    #expect(workshop.attempts == 1)
    let first = try await pool.get()
    let second = try await pool.get()
    #expect(second.number == 2)
    #expect(workshop.attempts == 2)
    pool.return(first)
    pool.return(second)
    #expect(pool.idle == 2)
    expectIdle(pool)
  }

  @Test(arguments: 1...4) func `lends as many as its maximum at once, and no more`(limit: Int) {
    let pool = makePool(of: limit, Workshop())
    let peak = PeakCount()
    for _ in 1...10 {
      Task(executorPreference: executor) {
        try await pool.withElement { _ in
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
    expectIdle(pool)
  }

  @Test func `hands an element to the first waiter, past any newcomer`() {
    let pool = makePool(of: 1, Workshop())
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: pool, until: gate)
    start("t2", on: pool, until: gate)
    executor.runAll()
    signal.signal()
    executor.runOne()
    #expect(pool.idle == 0, "the element is t2's, though t2 has not woken yet")
    start("t3", on: pool, until: gate)
    executor.runAll()
    #expect(
      journal.entries
        == ["t1 has 1", "t1 done", "t2 has 1", "t2 done", "t3 has 1", "t3 done"]
    )
    expectIdle(pool)
  }

  @Test func `lets all who wait build when there may be more, and lets go when there may be fewer`()
  {
    let workshop = Workshop()
    let pool = makePool(of: 1, workshop)
    let (gate, signal) = Condition.makeCondition()
    for name in ["t1", "t2", "t3", "t4"] { start(name, on: pool, until: gate) }
    executor.runAll()
    #expect(pool.lent == 1 && pool.waiting == 3)
    pool.setMaxElements(3)
    executor.runAll()
    #expect(journal.entries == ["t1 has 1", "t2 has 2", "t3 has 3"])
    #expect(pool.lent == 3 && pool.waiting == 1)
    pool.setMaxElements(2)
    #expect(pool.lent == 3, "nobody loses what is lent")
    signal.signal()
    executor.runAll()
    #expect(journal.entries.count == 8 && workshop.attempts == 3)
    #expect(pool.idle == 2)
    pool.setMaxElements(1)
    #expect(pool.idle == 1)
    expectIdle(pool)
  }

  @Test func `takes an element back when the body throws`() async throws {
    let pool = makePool(of: 1, Workshop())
    await #expect(throws: Failure()) { try await pool.withElement { _ in throw Failure() } }
    expectIdle(pool)
    #expect(pool.idle == 1)
  }

  @Test func `passes the place of a failed build to the first waiter, who builds in turn`() {
    let (gate, signal) = Condition.makeCondition()
    let workshop = Workshop(failures: 2, gate: gate)
    let pool = makePool(of: 1, workshop)
    for name in ["t1", "t2", "t3", "t4"] { start(name, on: pool, until: gate) }
    executor.runAll()
    #expect(workshop.attempts == 1, "one place, one build at a time")
    #expect(pool.waiting == 3)
    signal.signal()
    executor.runAll()
    #expect(
      journal.entries
        == ["t1 Failure", "t2 Failure", "t3 has 3", "t3 done", "t4 has 3", "t4 done"]
    )
    expectIdle(pool)
  }

  @Test func `keeps its capacity when a build fails and nobody waits`() async throws {
    let pool = makePool(of: 1, Workshop(failures: 3))
    for _ in 1...3 {
      await #expect(throws: Failure()) { try await pool.get() }
      expectIdle(pool)
    }
    pool.return(try await pool.get())
    expectIdle(pool)
  }

  @Test func `replaces a discarded element`() async throws {
    let workshop = Workshop()
    let pool = makePool(of: 1, workshop)
    let broken = try await pool.get()
    pool.discard(broken)
    expectIdle(pool)
    #expect(pool.idle == 0)
    let fresh = try await pool.get()
    #expect(fresh.number == 2)
    pool.return(fresh)
  }

  @Test func `gives the place of a discarded element to the first waiter`() async throws {
    let pool = makePool(of: 1, Workshop())
    let (gate, signal) = Condition.makeCondition()
    signal.signal()
    let broken = try await pool.get()
    start("t1", on: pool, until: gate)
    start("t2", on: pool, until: gate)
    executor.runAll()
    #expect(journal.entries.isEmpty)
    pool.discard(broken)
    executor.runAll()
    #expect(journal.entries == ["t1 has 2", "t1 done", "t2 has 2", "t2 done"])
    expectIdle(pool)
  }

  @Test func `lets go of a discarded element`() async throws {
    let census = Tracked.Census()
    let pool = AsyncPool(maxElements: 2) { Tracked(in: census) }
    let kept = try await pool.get()
    do {
      let broken = try await pool.get()
      #expect(census.living == 2)
      pool.discard(broken)
    }
    #expect(census.living == 1)
    pool.return(kept)
  }

  @Test func `denies a task cancelled while it waits, and serves the one behind it`() {
    let pool = makePool(of: 1, Workshop())
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: pool, until: gate)
    let second = start("t2", on: pool, until: gate)
    start("t3", on: pool, until: gate)
    executor.runAll()
    second.cancel()
    #expect(pool.waiting == 1, "it leaves the line at once, before it has even woken")
    signal.signal()
    executor.runAll()
    #expect(journal.entries.contains("t2 CancellationError"))
    #expect(!journal.entries.contains("t2 has 1"))
    #expect(journal.entries.contains("t3 done"))
    expectIdle(pool)
  }

  @Test func `serves a task that was handed its element and then cancelled`() {
    let pool = makePool(of: 1, Workshop())
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: pool, until: gate)
    let second = start("t2", on: pool, until: gate)
    executor.runAll()
    signal.signal()
    executor.runOne()
    second.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 has 1", "t1 done", "t2 has 1", "t2 done"])
    expectIdle(pool)
  }

  @Test func `serves a task that was handed a place to build in and then cancelled`() async throws {
    let pool = makePool(of: 1, Workshop())
    let (gate, signal) = Condition.makeCondition()
    signal.signal()
    let lease = try await pool.lease()
    let first = start("t1", on: pool, until: gate)
    start("t2", on: pool, until: gate)
    executor.runAll()
    lease.discard()
    first.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 has 2", "t1 done", "t2 has 2", "t2 done"])
    expectIdle(pool)
  }

  @Test func `denies a task cancelled before it arrives, with or without an idle element`() {
    let workshop = Workshop()
    let pool = makePool(of: 1, workshop)
    let (gate, signal) = Condition.makeCondition()
    start("t1", on: pool, until: gate).cancel()
    executor.runAll()
    #expect(workshop.attempts == 0)
    start("t2", on: pool, until: gate)
    executor.runAll()
    start("t3", on: pool, until: gate).cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError", "t2 has 1", "t3 CancellationError"])
    signal.signal()
    executor.runAll()
    expectIdle(pool)
  }

  @Test func `passes a cancelled builder's place on, whether or not its builder gives up`() {
    let (gate, signal) = Condition.makeCondition()
    let pool = AsyncPool(maxElements: 1) {
      try await gate.wait()
      return Element(1)
    }
    let first = start("t1", on: pool, until: gate)
    start("t2", on: pool, until: gate)
    executor.runAll()
    first.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    #expect(pool.lent == 1, "t2 builds now")
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError", "t2 has 1", "t2 done"])
    expectIdle(pool)
  }

  @Test func `shares work out among actors, isolated to one at a time`() async throws {
    actor Worker {
      var jobs = 0
    }
    let pool = AsyncPool(maxElements: 2) { Worker() }
    for _ in 1...3 {
      // No `await` inside: the body is isolated to the worker.
      let jobs = try await pool.withIsolatedElement { worker in
        worker.jobs += 1
        return worker.jobs
      }
      #expect(jobs >= 1)
    }
    let worker = try await pool.get()
    #expect(await worker.jobs == 3)
    pool.return(worker)
  }

  @Test @MainActor func `lets the main actor use its own state with an actor of the pool`()
    async throws
  {
    actor Worker {
      var jobs = 0
    }
    @MainActor final class Screen {
      var jobs = 0
      func show(_ pool: AsyncPool<Worker>) async throws {
        try await pool.withElement { worker in
          let done = await worker.jobs
          jobs += done + 1
        }
      }
    }
    let screen = Screen()
    try await screen.show(AsyncPool(maxElements: 1) { Worker() })
    #expect(screen.jobs == 1)
  }

  @Test func `gives an actor back when the isolated body throws`() async throws {
    actor Worker {}
    let pool = AsyncPool(maxElements: 1) { Worker() }
    await #expect(throws: Failure()) {
      try await pool.withIsolatedElement { _ in throw Failure() }
    }
    #expect(pool.idle == 1)
    await #expect(throws: Failure()) {
      try await pool.withIsolatedElement(onError: .discard) { _ in throw Failure() }
    }
    #expect(pool.idle == 0 && pool.lent == 0)
  }

  @Test func `lends values too`() async throws {
    struct Buffer: Sendable {
      var bytes: [UInt8]
    }
    let pool = AsyncPool(maxElements: 2) { Buffer(bytes: [1, 2, 3]) }
    #expect(try await pool.withElement { $0.bytes.count } == 3)
    let lease = try await pool.lease()
    #expect(lease.element.bytes == [1, 2, 3])
    #expect(pool.lent == 1)
    lease.return()
    #expect(pool.lent == 0 && pool.idle == 1)
  }

  @Test func `leases an element until the lease goes out of scope, is returned or discarded`()
    async throws
  {
    let workshop = Workshop()
    let pool = makePool(of: 1, workshop)
    do {
      let lease = try await pool.lease()
      #expect(lease.element.number == 1)
      #expect(pool.lent == 1)
    }
    #expect(pool.idle == 1 && pool.lent == 0)
    try await pool.lease().return()
    #expect(pool.idle == 1)
    try await pool.lease().discard()
    #expect(pool.idle == 0 && pool.lent == 0)
    #expect(try await pool.withElement { $0.number } == 2)
  }

  @Test func `gives an element up when the body throws, if that is asked for`() async throws {
    let workshop = Workshop()
    let pool = makePool(of: 1, workshop)
    await #expect(throws: Failure()) {
      try await pool.withElement(onError: .discard) { _ in throw Failure() }
    }
    expectIdle(pool)
    #expect(pool.idle == 0)
    #expect(try await pool.withElement(onError: .discard) { $0.number } == 2)
    #expect(pool.idle == 1)
  }

  @Test func `lets a body discard its element and then throw`() async throws {
    let pool = makePool(of: 1, Workshop())
    await #expect(throws: Failure()) {
      try await pool.withElement { element in
        pool.discard(element)
        throw Failure()
      }
    }
    expectIdle(pool)
    #expect(pool.idle == 0)
  }

  @Test func `asks whether a used element is good before it lends it again`() async throws {
    let workshop = Workshop()
    let asked = Journal()
    let pool = AsyncPool(
      maxElements: 1,
      validate: { element in
        asked.note("\(element.number)")
        if element.number == 2 { throw Failure() }
        return element.number != 1
      },
      elementBuilder: { try await workshop.build() }
    )
    for number in 1...3 { #expect(try await pool.withElement { $0.number } == number) }
    #expect(asked.entries == ["1", "2"], "a new element is good, and a check that throws says no")
    #expect(try await pool.withElement { $0.number } == 3)
    let lease = try await pool.lease()
    let waiter = start("t1", on: pool, until: Condition.makeCondition().condition)
    executor.runAll()
    lease.return()
    executor.runAll()
    await waiter.value
    #expect(asked.entries == ["1", "2", "3", "3", "3"], "also of an element that is handed over")
    expectIdle(pool)
  }

  @Test func `lets go of an element that is not good before it builds another`() async throws {
    let census = Tracked.Census()
    let pool = AsyncPool(
      maxElements: 1,
      validate: { _ in false },
      elementBuilder: { [journal] in
        journal.note("\(census.living) living")
        return Tracked(in: census)
      }
    )
    for _ in 1...2 { try await pool.withElement { _ in } }
    #expect(journal.entries == ["0 living", "0 living"])
  }

  @Test func `lends another element, or builds one, if the check gives its element up itself`()
    async throws
  {
    let workshop = Workshop()
    let pools = Mutex<AsyncPool<Element>?>(nil)
    let pool = AsyncPool(
      maxElements: 1,
      validate: { element in
        pools.withLock { $0 }?.discard(element)
        return false
      },
      elementBuilder: { try await workshop.build() }
    )
    pools.withLock { $0 = pool }
    try await pool.withElement { _ in }
    try await pool.withElement { element in
      #expect(element.number == 2)
      #expect(pool.lent == 1, "it is lent, not put into a place that is vacant")
    }
    #expect(pool.idle == 1)
    expectIdle(pool)
    pools.withLock { $0 = nil }
  }

  @Test func `asks anew if a second return ends the loan of an element while it is checked`()
    async throws
  {
    let workshop = Workshop()
    let pools = Mutex<AsyncPool<Element>?>(nil)
    let pool = AsyncPool(
      maxElements: 1,
      validate: { element in
        // The second return, which looks like that of the task that has the element now.
        pools.withLock { $0.take() }?.return(element)
        return element.number != 1
      },
      elementBuilder: { try await workshop.build() }
    )
    pools.withLock { $0 = pool }
    pool.return(try await pool.get())
    try await pool.withElement { element in
      #expect(element.number == 2)
      #expect(pool.lent == 1 && pool.idle == 0, "nobody else can be lent this element")
    }
    #expect(pool.idle == 1)
    expectIdle(pool)
  }

  @Test func `gives up what lies idle too long, down to its smallest size`() async throws {
    let clock = HandClock()
    let census = Tracked.Census()
    let pool = AsyncPool(
      maxElements: 3,
      minElements: 1,
      idleTimeout: .seconds(10),
      clock: clock,
      executor: executor
    ) { Tracked(in: census) }
    do {
      let first = try await pool.lease()
      let second = try await pool.lease()
      first.return()
      second.return()
    }
    executor.runAll()
    #expect(clock.sleeping == 1)
    clock.advance(by: .seconds(9))
    executor.runAll()
    #expect(pool.idle == 2 && census.living == 2)
    clock.advance(by: .seconds(1))
    executor.runAll()
    #expect(pool.idle == 1 && census.living == 1)
    #expect(clock.sleeping == 0, "nothing is left to expire")
    do {
      let first = try await pool.lease()
      let second = try await pool.lease()
      first.return()
      second.return()
    }
    executor.runAll()
    clock.advance(by: .seconds(9))
    executor.runAll()
    #expect(pool.idle == 2, "it has lain idle since second 10")
    clock.advance(by: .seconds(1))
    executor.runAll()
    #expect(pool.idle == 1)
  }

  @Test func `asks a clock that throws once for each element that comes back`() async throws {
    let clock = ThrowingClock()
    let pool = AsyncPool(
      maxElements: 1,
      idleTimeout: .seconds(1),
      clock: clock,
      executor: executor
    ) { Element(1) }
    for returns in 1...2 {
      try await pool.withElement { _ in }
      executor.runAll()
      #expect(clock.sleeps == returns)
    }
    #expect(pool.idle == 1)
  }

  @Test func `gives up one element after the other, each when its time has come`() async throws {
    let clock = HandClock()
    let pool = AsyncPool(
      maxElements: 2,
      idleTimeout: .seconds(10),
      clock: clock,
      executor: executor
    ) { 1 }
    let first = try await pool.lease()
    let second = try await pool.lease()
    first.return()
    executor.runAll()
    clock.advance(by: .seconds(5))
    second.return()
    executor.runAll()
    for (seconds, idle) in [(5, 1), (4, 1), (1, 0)] {
      clock.advance(by: .seconds(seconds))
      executor.runAll()
      #expect(pool.idle == idle && clock.sleeping == idle)
    }
  }

  @Test func `goes away with its last reference, though elements lie idle`() async throws {
    let census = Tracked.Census()
    do {
      let pool = AsyncPool(
        maxElements: 1,
        idleTimeout: .seconds(10),
        clock: HandClock(),
        executor: executor
      ) { Tracked(in: census) }
      try await pool.withElement { _ in }
      executor.runAll()
      #expect(pool.idle == 1)
    }
    #expect(census.living == 0)
  }

  @Test func `builds its smallest size when asked to`() async throws {
    let workshop = Workshop()
    let pool = AsyncPool(maxElements: 3, minElements: 2) { try await workshop.build() }
    try await pool.prepare()
    #expect(pool.idle == 2 && workshop.attempts == 2)
    try await pool.prepare()
    #expect(workshop.attempts == 2)
  }

  @Test func `builds no more in advance than there may be, though that was changed`() async throws {
    let workshop = Workshop()
    let pool = AsyncPool(maxElements: 3, minElements: 2) {
      let element = try await workshop.build()
      // Without this, a pool that builds too many goes on for ever.
      if element.number > 1 { throw Failure() }
      return element
    }
    pool.setMaxElements(1)
    try await pool.prepare()
    #expect(pool.idle == 1 && workshop.attempts == 1)
  }

  @Test func `does not build in the isolation of who asks`() async throws {
    let pool = AsyncPool(maxElements: 1) {
      #expect(#isolation == nil)
      return Element(1)
    }
    let number = try await Task { @MainActor in try await pool.withElement { $0.number } }.value
    #expect(number == 1)
  }

  @Test func `refuses all once it is shut down, and waits for what is lent`() async throws {
    let census = Tracked.Census()
    let pool = AsyncPool(maxElements: 2) { Tracked(in: census) }
    let lease = try await pool.lease()
    try await pool.withElement { _ in }
    let other = try await pool.lease()
    let waiting = Task(executorPreference: executor) { [journal] in
      do { try await pool.withElement { _ in } } catch { journal.note("\(type(of: error))") }
    }
    executor.runAll()
    #expect(pool.waiting == 1)
    other.return()
    executor.runAll()
    _ = await waiting.value
    #expect(census.living == 2)
    for _ in 1...2 {
      Task(executorPreference: executor) { [journal] in
        await pool.shutdown()
        journal.note("shut down")
      }
    }
    executor.runAll()
    #expect(census.living == 1, "the idle one went at once")
    #expect(journal.entries.isEmpty)
    await #expect(throws: PoolClosed()) { try await pool.withElement { _ in } }
    lease.return()
    executor.runAll()
    #expect(journal.entries == ["shut down", "shut down"])
    #expect(census.living == 0)
    await pool.shutdown()
  }

  @Test func `builds nothing once it is shut down`() async throws {
    let workshop = Workshop(failures: 1)
    let pool = AsyncPool(maxElements: 1, minElements: 1) { try await workshop.build() }
    await pool.shutdown()
    try await pool.prepare()
    #expect(workshop.attempts == 0)
  }

  @Test func `waits for what is lent also in a task that is cancelled`() async throws {
    let pool = makePool(of: 1, Workshop())
    let lease = try await pool.lease()
    let end = Task(executorPreference: executor) { [journal] in
      await pool.shutdown()
      journal.note("shut down")
    }
    end.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    lease.return()
    executor.runAll()
    #expect(journal.entries == ["shut down"])
  }

  @Test func `lends its element to who builds it while it is shut down`() throws {
    let (gate, signal) = Condition.makeCondition()
    let pool = makePool(of: 1, Workshop(gate: gate))
    start("t1", on: pool, until: gate)
    executor.runAll()
    Task(executorPreference: executor) { [journal] in
      await pool.shutdown()
      journal.note("shut down")
    }
    executor.runAll()
    signal.signal()
    executor.runAll()
    #expect(journal.entries.first == "t1 has 1")
    #expect(journal.entries.dropFirst().sorted() == ["shut down", "t1 done"])
    expectIdle(pool)
    #expect(pool.idle == 0)
  }

  @Test func `refuses those who wait when it is shut down`() async throws {
    let pool = makePool(of: 1, Workshop())
    let lease = try await pool.lease()
    start("t1", on: pool, until: Condition.makeCondition().condition)
    executor.runAll()
    let end = Task(executorPreference: executor) { await pool.shutdown() }
    executor.runAll()
    #expect(journal.entries == ["t1 PoolClosed"])
    lease.discard()
    executor.runAll()
    await end.value
  }

  @Test func `runs the body in the caller's isolation`() async throws {
    // Compiles only if neither the body nor its value has to be Sendable.
    final class Draft {
      var text = ""
    }
    actor Author {
      private let draft = Draft()
      func write(with pool: AsyncPool<Element>) async throws -> Bool {
        let same = try await pool.withElement { element in
          draft.text = "page \(element.number)"
          return draft
        }
        return same === draft && draft.text == "page 1"
      }
    }
    #expect(try await Author().write(with: makePool(of: 1, Workshop())))
  }

  @Test func `stops when made for fewer than one element, saying how many`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AsyncPool(maxElements: 0) { Element(1) }
    }
    #expect(message(of: result).contains("maxElements is 0, but must be at least 1"))
  }

  @Test func `stops when fewer than one element may be left, saying how many`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      AsyncPool(maxElements: 1) { Element(1) }.setMaxElements(0)
    }
    #expect(message(of: result).contains("maxElements is 0, but must be at least 1"))
    #expect(message(of: result).contains("AsyncPoolTests.swift"))
  }

  @Test func `stops when it is to keep fewer than none`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AsyncPool(maxElements: 1, minElements: -1) { Element(1) }
    }
    #expect(message(of: result).contains("minElements is -1, but must be from 0 to maxElements, 1"))
  }

  @Test func `stops when its sizes contradict each other`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = AsyncPool(maxElements: 1, minElements: 2) { Element(1) }
    }
    #expect(message(of: result).contains("minElements is 2, but must be from 0 to maxElements, 1"))
    #expect(message(of: result).contains("AsyncPoolTests.swift"))
  }

  @Test func `stops when a foreign element is returned`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      AsyncPool(maxElements: 1) { Element(1) }.return(Element(2))
    }
    #expect(
      message(of: result).contains("return was called with an element that is not this pool's")
    )
  }

  @Test func `stops when an element is returned twice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let pool = AsyncPool(maxElements: 1) { Element(1) }
      let element = try await pool.get()
      pool.return(element)
      pool.return(element)
    }
    #expect(message(of: result).contains("return was called with an element that was given back"))
  }

  @Test func `stops when an element is returned after it was discarded`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let pool = AsyncPool(maxElements: 1) { Element(1) }
      let element = try await pool.get()
      pool.discard(element)
      pool.return(element)
    }
    #expect(message(of: result).contains("or was discarded"))
  }

  @Test func `stops when an element is returned that was no good any more`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let pool = AsyncPool(
        maxElements: 1,
        validate: { $0.number != 1 },
        elementBuilder: { Element(1) }
      )
      let former = try await pool.get()
      pool.return(former)
      let present = try await pool.get()
      pool.return(former)
      withExtendedLifetime(present) {}
    }
    #expect(message(of: result).contains("or was discarded"))
  }

  @Test func `stops when an idle element is discarded`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let pool = AsyncPool(maxElements: 1) { Element(1) }
      let element = try await pool.get()
      pool.return(element)
      pool.discard(element)
    }
    #expect(message(of: result).contains("discard was called with an element that was given back"))
  }

  @Test func `stops when its builder returns the same object twice`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let only = Element(1)
      let pool = AsyncPool(maxElements: 2) { only }
      let first = try await pool.get()
      let second = try await pool.get()
      pool.return(first)
      pool.return(second)
    }
    #expect(message(of: result).contains("elementBuilder returned an object the pool already has"))
    #expect(message(of: result).contains("AsyncPoolTests.swift"))
  }
}
