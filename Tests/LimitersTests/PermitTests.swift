import Synchronization
import TestSupport
import Testing

@testable import Limiters

/// A clock whose sleep returns when it is cancelled, as if its time were over.
private struct ReturningClock: Clock {
  private let clock: HandClock

  init(_ clock: HandClock) { self.clock = clock }

  var now: HandClock.Instant { clock.now }
  var minimumResolution: Duration { .zero }

  func sleep(until deadline: HandClock.Instant, tolerance: Duration?) async {
    try? await clock.sleep(until: deadline, tolerance: tolerance)
  }
}

/// Keeps a permit where several tasks reach it.
private final class Keeper: Sendable {
  let permit: Permit
  init(_ permit: consuming Permit) { self.permit = permit }
}

/// Everything of a limiter but `run` and its cancellation, which `ConcurrencyLimiterTests` has.
@Suite(.watched) struct `A limiter's permits` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()
  private let clock = HandClock()

  @discardableResult
  private func start(
    _ name: String,
    at priority: TaskPriority? = nil,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    Task(executorPreference: executor, priority: priority) { [journal] in
      do {
        try await body()
        journal.note("\(name) done")
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  @Test func `are free again when they are released, and when they go out of scope`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    #expect(limiter.running == 1)
    permit.release()
    #expect(limiter.running == 0)
    do {
      guard let permit = limiter.tryAcquire() else {
        Issue.record("a permit was free")
        return
      }
      #expect(limiter.running == permit.weight)
    }
    #expect(limiter.running == 0)
  }

  @Test func `come back at the end of the scope that releases them, however it ends`() async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 3)
    func work(_ end: () throws -> Void) async throws {
      let permit = try await limiter.acquire(weight: 2)
      defer { permit.release() }
      #expect(limiter.running == 2)
      try end()
    }
    try await work {}
    #expect(limiter.running == 0)
    await #expect(throws: Failure()) { try await work { throw Failure() } }
    #expect(limiter.running == 0)
    #expect(limiter.statistics.borrowers == 0)
  }

  @Test func `come back once, however often and by whom they are released`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    do {
      let permit = try await limiter.acquire()
      defer { permit.release() }
      permit.release()
      permit.release()
      #expect(limiter.running == 0 && limiter.statistics.borrowers == 0)
    }
    #expect(limiter.running == 0 && limiter.statistics.borrowers == 0)
    var keeper: Keeper? = Keeper(try await limiter.acquire())
    for _ in 1...2 { await Task { [keeper] in keeper?.permit.release() }.value }
    #expect(limiter.running == 0)
    // Another's: not given back by the one who has released already.
    let permit = try await limiter.acquire()
    keeper = nil
    #expect(limiter.running == 1)
    permit.release()
    #expect(limiter.running == 0 && limiter.statistics.borrowers == 0)
  }

  @Test func `come back at once if nothing names them`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    _ = try await limiter.acquire()
    #expect(limiter.running == 0)
  }

  @Test func `stop the program if they are exchanged for a token after they came back`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let permit = try await ConcurrencyLimiter(concurrency: 1).acquire()
      permit.release()
      _ = permit.detach()
    }
    #expect(message(of: result).contains("detach was called after release"))
    #expect(message(of: result).contains("PermitTests.swift"))
  }

  @Test func `are given at once or not at all, if that is asked for`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    if limiter.tryAcquire() != nil { Issue.record("two permits were given out of one") }
    #expect(await limiter.runIfFree { 1 } == nil)
    permit.release()
    #expect(await limiter.runIfFree { 1 } == 1)
    await #expect(throws: Failure()) { try await limiter.runIfFree { throw Failure() } }
    #expect(limiter.running == 0)
  }

  @Test func `are not given at once while somebody waits for more`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let permit = try await limiter.acquire()
    start("heavy") { try await limiter.run(weight: 2) {} }
    executor.runAll()
    #expect(limiter.waiting == 1)
    if limiter.tryAcquire() != nil { Issue.record("the permit rests for the heavy waiter") }
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["heavy done"])
  }

  @Test func `are acquired in line, and not by a task that is cancelled there`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    let first = start("t1") { try await limiter.acquire().release() }
    start("t2") { try await limiter.acquire().release() }
    executor.runAll()
    #expect(limiter.waiting == 2)
    first.cancel()
    #expect(limiter.waiting == 1)
    permit.release()
    executor.runAll()
    #expect(journal.entries.sorted() == ["t1 CancellationError", "t2 done"])
    #expect(limiter.running == 0)
  }

  @Test func `may be acquired by a cancelled task that need not wait`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let task = start("t1") { try await limiter.acquire().release() }
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 done"])
  }

  @Test func `can be detached, and released by another task exactly once`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let token = try await limiter.acquire().detach()
    #expect(limiter.running == 1)
    await Task { token.release() }.value
    #expect(limiter.running == 0)
  }

  @Test func `are given back with the last reference to a token`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    do { _ = try await limiter.acquire().detach() }
    #expect(limiter.running == 0)
  }

  @Test func `stop the program when a token is released twice, naming the caller`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let token = try await ConcurrencyLimiter(concurrency: 1).acquire().detach()
      token.release()
      token.release()
    }
    #expect(message(of: result).contains("release was called a second time"))
    #expect(message(of: result).contains("PermitTests.swift"))
  }

  @Test(arguments: 0...8)
  func `stop the program when none is asked for, in whichever way, naming the caller`(
    way: Int
  ) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      [way] in
      let limiter = ConcurrencyLimiter(concurrency: 1)
      switch way {
      case 0: try await limiter.run(weight: 0) {}
      case 1: try await limiter.run(weight: 0, waitingAtMost: .seconds(1)) {}
      case 2: try await limiter.run(weight: 0, waitingUntil: .now) {}
      case 3: await limiter.runUncancellably(weight: 0) {}
      case 4: await limiter.runIfFree(weight: 0) {}
      case 5: try await limiter.acquire(weight: 0).release()
      case 6: try await limiter.acquire(weight: 0, waitingAtMost: .seconds(1)).release()
      case 7: try await limiter.acquire(weight: 0, waitingUntil: .now).release()
      default: limiter.tryAcquire(weight: 0)?.release()
      }
    }
    #expect(message(of: result).contains("weight is 0, but must be at least 1"))
    #expect(message(of: result).contains("PermitTests.swift"))
  }

  @Test func `go to a heavy waiter before the light ones behind it`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 3)
    let (gate, signal) = Condition.makeCondition()
    start("light 1") { try await limiter.run { try await gate.wait() } }
    start("heavy") { [journal] in
      try await limiter.run(weight: 3) { journal.note("\(limiter.statistics.borrowers) holds") }
    }
    start("light 2") { try await limiter.run {} }
    executor.runAll()
    #expect(limiter.waiting == 2, "two permits rest for the heavy one")
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["light 1 done", "1 holds", "heavy done", "light 2 done"])
  }

  @Test func `go to who stands behind a heavy waiter that is cancelled`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let permit = try await limiter.acquire()
    let heavy = start("heavy") { try await limiter.run(weight: 2) {} }
    start("light") { try await limiter.run {} }
    executor.runAll()
    #expect(limiter.waiting == 2)
    heavy.cancel()
    executor.runAll()
    #expect(journal.entries.sorted() == ["heavy CancellationError", "light done"])
    permit.release()
  }

  @Test func `let a body run alone that needs more than there are`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let (gate, signal) = Condition.makeCondition()
    start("huge") { try await limiter.run(weight: 5) { try await gate.wait() } }
    start("other") { try await limiter.run {} }
    executor.runAll()
    #expect(limiter.running == 5)
    #expect(limiter.waiting == 1)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["huge done", "other done"])
    #expect(await limiter.runIfFree(weight: 2) { true } == true)
  }

  @Test func `are given at once to a body that needs more than there are, if nobody holds any`()
    async
  {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    #expect(await limiter.runIfFree(weight: 5) { limiter.running } == 5)
    guard let permit = limiter.tryAcquire(weight: 3) else {
      Issue.record("nobody held a permit")
      return
    }
    #expect(limiter.running == 3)
    if limiter.tryAcquire() != nil { Issue.record("one that needs more than there are runs alone") }
    permit.release()
    #expect(limiter.running == 0)
  }

  @Test func `are as many as were asked for, taken in any way, at once or after a wait`()
    async throws
  {
    let (clock, journal) = (clock, journal)
    let limiter = ConcurrencyLimiter(concurrency: 3, clock: clock)
    let note: @Sendable () -> Void = {
      let statistics = limiter.statistics
      journal.note("\(statistics.borrowers) has \(statistics.running)")
    }
    let ways: [@Sendable () async throws -> Void] = [
      { try await limiter.run(weight: 2) { note() } },
      { try await limiter.run(weight: 2, waitingAtMost: .seconds(1), clock: clock) { note() } },
      { await limiter.runUncancellably(weight: 2) { note() } },
      {
        let permit = try await limiter.acquire(weight: 2)
        note()
        permit.release()
      },
      {
        let permit = try await limiter.acquire(weight: 2, waitingAtMost: .seconds(1), clock: clock)
        note()
        permit.release()
      },
      {
        let token = try await limiter.acquire(weight: 2).detach()
        note()
        token.release()
      },
      {
        let token = try await limiter.acquire(weight: 2).detach()
        note()
        withExtendedLifetime(token) {}
      },
    ]
    for way in ways {
      for waits in [false, true] {
        let token = waits ? try await limiter.acquire(weight: 2).detach() : nil
        start("all") { try await way() }
        executor.runAll()
        #expect(limiter.waiting == (waits ? 1 : 0))
        token?.release()
        executor.runAll()
        #expect(limiter.running == 0)
      }
    }
    // Often enough that the lock must admit some, too.
    for _ in 1...300 {
      await limiter.runIfFree(weight: 2) { note() }
      guard let permit = limiter.tryAcquire(weight: 2) else {
        Issue.record("all permits were free")
        return
      }
      note()
      permit.release()
    }
    #expect(limiter.running == 0)
    #expect(Set(journal.entries) == ["1 has 2", "all done"])
  }

  @Test func `reach a waiter that became too heavy when the limit was lowered`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 3)
    let permit = try await limiter.acquire()
    start("heavy") { try await limiter.run(weight: 3) {} }
    executor.runAll()
    limiter.setConcurrency(1)
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["heavy done"])
    #expect(limiter.running == 0)
  }

  @Test func `are waited for only so long, on the clock that is given`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1, clock: clock)
    let permit = try await limiter.acquire()
    start("t1") { [clock] in
      try await limiter.run(waitingAtMost: .seconds(2), clock: clock) {}
    }
    start("t2") { [clock] in
      try await limiter.acquire(waitingAtMost: .seconds(3), clock: clock).release()
    }
    executor.runAll()
    clock.advance(by: .seconds(1))
    executor.runAll()
    #expect(limiter.waiting == 2)
    clock.advance(by: .seconds(1))
    executor.runAll()
    #expect(journal.entries == ["t1 WaitTimedOut"])
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["t1 WaitTimedOut", "t2 done"])
    #expect(clock.sleeping == 0, "no timer outlives its wait")
    #expect(limiter.statistics.timedOut == 1)
    #expect(limiter.statistics.longestWait == .seconds(2))
    #expect(limiter.running == 0)
  }

  @Test func `are waited for until an instant of the clock that is given`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 3, clock: clock)
    clock.advance(by: .seconds(5))
    let permit = try await limiter.acquire(weight: 2, waitingUntil: .now)
    let deadline = clock.now.advanced(by: .seconds(2))
    for name in ["t1", "t2"] {
      start(name) { [clock] in
        try await limiter.run(weight: 2, waitingUntil: deadline, clock: clock) {}
      }
      start(name + " permit") { [clock] in
        let permit = try await limiter.acquire(weight: 2, waitingUntil: deadline, clock: clock)
        defer { permit.release() }
        #expect(limiter.running == 2)
      }
      executor.runAll()
      clock.advance(by: .seconds(1))
      executor.runAll()
      #expect(limiter.waiting == (name == "t1" ? 2 : 0))
    }
    #expect(
      journal.entries.sorted() == [
        "t1 WaitTimedOut", "t1 permit WaitTimedOut", "t2 WaitTimedOut", "t2 permit WaitTimedOut",
      ]
    )
    #expect(clock.sleeping == 0, "no timer outlives its wait")
    start("t3") { [clock] in
      try await limiter.run(
        weight: 2,
        waitingUntil: clock.now.advanced(by: .seconds(1)),
        clock: clock
      ) {
        #expect(limiter.running == 2)
      }
    }
    executor.runAll()
    permit.release()
    executor.runAll()
    #expect(journal.entries.last == "t3 done")
    #expect(limiter.running == 0 && limiter.statistics.timedOut == 4)
  }

  @Test func `are looked for until an instant by a task that was cancelled before, as without one`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    // The instant is over; the permit is free.
    start("run") { try await limiter.run(waitingUntil: .now) {} }.cancel()
    start("acquire") { try await limiter.acquire(waitingUntil: .now).release() }.cancel()
    start("late") { try await limiter.run(waitingUntil: .now) {} }
    executor.runAll()
    #expect(journal.entries == ["run CancellationError", "acquire done", "late done"])
  }

  @Test func `are looked for by a task that was cancelled before, as without a deadline`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    start("run") { try await limiter.run(waitingAtMost: .seconds(1)) {} }.cancel()
    start("acquire") { try await limiter.acquire(waitingAtMost: .seconds(1)).release() }.cancel()
    executor.runAll()
    #expect(journal.entries == ["run CancellationError", "acquire done"])
  }

  @Test func `are used or passed on when they come together with the deadline`() async throws {
    for permitComesFirst in [true, false] {
      let limiter = ConcurrencyLimiter(concurrency: 1)
      let permit = try await limiter.acquire()
      start("t1") { [clock] in
        try await limiter.run(waitingAtMost: .seconds(1), clock: clock) {}
      }
      executor.runAll()
      if permitComesFirst {
        permit.release()
        clock.advance(by: .seconds(1))
      } else {
        clock.advance(by: .seconds(1))
        executor.runAll()
        permit.release()
      }
      executor.runAll()
      #expect(limiter.running == 0 && limiter.waiting == 0)
    }
    #expect(journal.entries == ["t1 done", "t1 WaitTimedOut"])
  }

  @Test func `are denied to a task that is cancelled before its deadline`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    let task = start("t1") { [clock] in
      try await limiter.run(waitingAtMost: .seconds(1), clock: clock) {}
    }
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    #expect(limiter.statistics.cancelled == 1 && limiter.statistics.timedOut == 0)
    #expect(clock.sleeping == 0)
    permit.release()
    #expect(limiter.running == 0)
  }

  @Test func `are denied as cancelled also by a clock whose sleep returns when it is cancelled`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    start("t1") { [clock] in
      withUnsafeCurrentTask { $0?.cancel() }
      // So the timer comes to its end before the wait begins.
      try await withTaskExecutorPreference(AtOnceExecutor()) {
        try await limiter.acquire(waitingAtMost: .seconds(1), clock: ReturningClock(clock))
          .release()
      }
    }
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    #expect(limiter.statistics.cancelled == 1 && limiter.statistics.timedOut == 0)
    permit.release()
    #expect(limiter.running == 0)
  }

  @Test func `are refused by a closed limiter, to those who wait and to those who come later`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    start("t1") { try await limiter.run {} }
    start("t2") { await limiter.runUncancellably {} }
    executor.runAll()
    limiter.close()
    start("t3") { try await limiter.acquire().release() }
    start("closed") { await limiter.closed() }
    executor.runAll()
    #expect(journal.entries == ["t1 LimiterClosed", "t3 LimiterClosed"])
    if limiter.tryAcquire() != nil { Issue.record("a closed limiter gave a permit") }
    #expect(await limiter.runIfFree {} == nil)
    permit.release()
    executor.runAll()
    #expect(Set(journal.entries.dropFirst(2)) == ["t2 done", "closed done"])
    start("closed again") { await limiter.closed() }
    executor.runAll()
    #expect(journal.entries.last == "closed again done")
    #expect(limiter.running == 0)
    if limiter.tryAcquire() != nil { Issue.record("a permit is free, but the limiter is closed") }
  }

  @Test func `reach those whom closing does not refuse, past a heavy waiter that it does`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 2)
    let permit = try await limiter.acquire()
    start("heavy") { try await limiter.run(weight: 2) {} }
    start("light") { await limiter.runUncancellably {} }
    executor.runAll()
    limiter.close()
    executor.runAll()
    #expect(Set(journal.entries) == ["heavy LimiterClosed", "light done"])
    permit.release()
  }

  @Test func `are waited for by all who asked for the end of the limiter, however early`() {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    start("first") { await limiter.closed() }
    start("second") { await limiter.closed() }
    executor.runAll()
    #expect(journal.entries.isEmpty)
    limiter.close()
    executor.runAll()
    #expect(journal.entries.sorted() == ["first done", "second done"])
  }

  @Test func `are all back before a cancelled task is told of the end of the limiter`() async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    limiter.close()
    let tasks = ["early", "late"].map { name in start(name) { await limiter.closed() } }
    tasks[0].cancel()
    executor.runAll()
    tasks[1].cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty, "a body runs")
    permit.release()
    executor.runAll()
    #expect(journal.entries.sorted() == ["early done", "late done"])
  }

  @Test func `are taken uncancellably after the end of the limiter, of which nobody is told twice`()
    async
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    start("closed") { await limiter.closed() }
    executor.runAll()
    limiter.close()
    executor.runAll()
    for admitted in 1...2 {
      await limiter.runUncancellably {}
      #expect(limiter.statistics.admitted == admitted)
    }
    #expect(journal.entries == ["closed done"])
    await limiter.closed()
  }

  @Test func `can be taken at once as often as they come back`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    for _ in 1...600 {
      guard let permit = limiter.tryAcquire() else {
        Issue.record("a permit was free")
        return
      }
      permit.release()
    }
    for _ in 1...600 { #expect(await limiter.runIfFree { true } == true) }
    #expect(limiter.statistics.admitted == 1_200)
  }

  @Test func `may outlive their limiter, and what they need goes with the last of them`()
    async throws
  {
    var limiter: ConcurrencyLimiter? = ConcurrencyLimiter(concurrency: 3)
    weak let core = limiter?.core
    guard let first = limiter?.tryAcquire(weight: 2), let second = limiter?.tryAcquire() else {
      Issue.record("three permits were free")
      return
    }
    var token: PermitToken? = second.detach()
    limiter = nil
    #expect(core?.statistics.borrowers == 2)
    first.release()
    #expect(core?.statistics.borrowers == 1)
    token?.release()
    token = nil
    #expect(core?.statistics == nil)
  }

  @Test func `that go out of scope behind their limiter leave nothing of it`() async throws {
    weak let core: LimiterCore?
    do {
      let permit: Permit
      do {
        let limiter = ConcurrencyLimiter(concurrency: 1)
        core = limiter.core
        permit = try await limiter.acquire()
      }
      #expect(core?.statistics.borrowers == 1)
      _ = consume permit
    }
    #expect(core?.statistics == nil)
  }

  @Test func `leave nothing of a limiter that goes behind them, closed or not`() async throws {
    for closes in [false, true] {
      weak let core: LimiterCore?
      do {
        let limiter = ConcurrencyLimiter(concurrency: 1)
        core = limiter.core
        try await limiter.acquire().release()
        if closes { limiter.close() }
      }
      #expect(core?.statistics == nil)
    }
  }

  @Test func `cost no lock any more once nobody waits`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    start("t1") { try await limiter.run {} }
    executor.runAll()
    #expect(PermitWord(bits: limiter.core.word.load(ordering: .relaxed)).isLocked)
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["t1 done"])
    #expect(!PermitWord(bits: limiter.core.word.load(ordering: .relaxed)).isLocked)
  }

  @Test func `go first to the task of the highest priority, if that is asked for`() async throws {
    let limiter = ConcurrencyLimiter(
      concurrency: 1,
      order: .priority(agingAfter: .seconds(60)),
      clock: clock
    )
    let permit = try await limiter.acquire()
    for (name, priority) in [("low 1", TaskPriority.low), ("high", .high), ("low 2", .low)] {
      Task(executorPreference: executor, priority: priority) { [journal] in
        try await limiter.run { journal.note(name) }
      }
    }
    executor.runAll()
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["high", "low 1", "low 2"])
  }

  @Test func `go by the priority that a task has when it arrives, not when it begins`()
    async throws
  {
    let limiter = ConcurrencyLimiter(
      concurrency: 1,
      order: .priority(agingAfter: .seconds(60)),
      clock: clock
    )
    let permit = try await limiter.acquire()
    start("medium", at: .medium) { try await limiter.run {} }
    executor.runAll()
    let raised = start("raised", at: .background) {
      await Task.yield()
      try await limiter.run {}
    }
    // Waits for the other while that yields, so that it arrives with this one's priority.
    Task(executorPreference: executor, priority: .high) { await raised.value }
    executor.runAll()
    #expect(limiter.waiting == 2)
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["raised done", "medium done"])
  }

  @Test(arguments: [false, true])
  func `go to a newcomer of higher priority that fits, past a heavy task that does not`(
    uncancellably: Bool
  ) async throws {
    let limiter = ConcurrencyLimiter(
      concurrency: 3,
      order: .priority(agingAfter: .seconds(60)),
      clock: clock
    )
    let permit = try await limiter.acquire(weight: 2)
    let (gate, signal) = Condition.makeCondition()
    start("heavy", at: .low) { try await limiter.run(weight: 2) {} }
    start("light", at: .high) {
      if uncancellably {
        try await limiter.runUncancellably { try await gate.waitUncancellably() }
      } else {
        try await limiter.run { try await gate.waitUncancellably() }
      }
    }
    executor.runAll()
    #expect(limiter.running == 3, "no permit rests while who comes first fits")
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["light done"])
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["light done", "heavy done"])
  }

  @Test func `go to a task that has come first by waiting when the next one arrives`() async throws
  {
    let limiter = ConcurrencyLimiter(
      concurrency: 3,
      order: .priority(agingAfter: .seconds(60)),
      clock: clock
    )
    let heavy = try await limiter.acquire(weight: 2)
    let light = try await limiter.acquire()
    start("low", at: .low) { try await limiter.run {} }
    executor.runAll()
    clock.advance(by: .seconds(1))
    start("high", at: .high) { try await limiter.run(weight: 2) {} }
    executor.runAll()
    light.release()
    clock.advance(by: .seconds(59))
    executor.runAll()
    #expect(journal.entries.isEmpty, "the limiter has no timer")
    start("next", at: .low) { try await limiter.run(weight: 2) {} }
    executor.runAll()
    #expect(journal.entries == ["low done"])
    heavy.release()
    executor.runAll()
    #expect(journal.entries == ["low done", "high done", "next done"])
  }

  @Test func `are counted`() async throws {
    let limiter = ConcurrencyLimiter(concurrency: 3, clock: clock)
    for _ in 1...1_000 { try await limiter.run {} }
    let permit = try await limiter.acquire(weight: 2)
    #expect(
      limiter.statistics
        == .init(
          running: 2,
          borrowers: 1,
          waiting: 0,
          admitted: 1_001,
          cancelled: 0,
          timedOut: 0,
          longestWait: .zero
        )
    )
    let cancelled = start("t1") { try await limiter.run(weight: 2) {} }
    executor.runAll()
    #expect(limiter.statistics.waiting == 1)
    clock.advance(by: .seconds(5))
    cancelled.cancel()
    executor.runAll()
    #expect(limiter.statistics.cancelled == 1)
    #expect(limiter.statistics.longestWait == .seconds(5))
    start("t2") { try await limiter.run(weight: 2) {} }
    executor.runAll()
    clock.advance(by: .seconds(7))
    permit.release()
    executor.runAll()
    #expect(limiter.statistics.longestWait == .seconds(7), "those who were admitted count too")
    try await limiter.acquire(weight: 2).release()
    #expect(limiter.running == 0)
  }

  @Test func `are not counted as given up by a cancelled task where closing refuses them`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1)
    let permit = try await limiter.acquire()
    let cancelled = start("t1") { try await limiter.run {} }
    for name in ["t2", "t3"] { start(name) { try await limiter.run {} } }
    executor.runAll()
    cancelled.cancel()
    limiter.close()
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError", "t2 LimiterClosed", "t3 LimiterClosed"])
    #expect(limiter.statistics.cancelled == 1)
  }

  @Test func `are waited for as long as the clock says, whatever ends the wait`() async throws {
    let events: [(name: String, end: @Sendable (ConcurrencyLimiter, Task<Void, Never>) -> Void)] = [
      ("nothing yet", { _, _ in }),
      ("a cancellation", { $1.cancel() }),
      ("the end of its time", { [executor] _, _ in executor.runAll() }),
      ("a higher limit", { limiter, _ in limiter.setConcurrency(2) }),
      ("closing", { limiter, _ in limiter.close() }),
    ]
    for (name, end) in events {
      let limiter = ConcurrencyLimiter(concurrency: 1, clock: clock)
      let permit = try await limiter.acquire()
      clock.advance(by: .seconds(1))
      let task = start("t1") { [clock] in
        try await limiter.run(waitingAtMost: .seconds(3), clock: clock) {}
      }
      executor.runAll()
      clock.advance(by: .seconds(3))
      end(limiter, task)
      #expect(limiter.statistics.longestWait == .seconds(3), "\(name)")
      permit.release()
      executor.runAll()
    }
  }

  @Test func `are waited for without a look at a clock, unless somebody asked for times`()
    async throws
  {
    let limiters = [
      ("untimed", ConcurrencyLimiter(concurrency: 1)),
      ("timed", ConcurrencyLimiter(concurrency: 1, clock: .continuous)),
      ("aging", ConcurrencyLimiter(concurrency: 1, order: .priority(agingAfter: .seconds(60)))),
    ]
    for (name, limiter) in limiters {
      let permit = try await limiter.acquire()
      start("t1") { try await limiter.run {} }
      executor.runAll()
      #expect(limiter.waiting == 1)
      permit.release()
      executor.runAll()
      // A clock that is looked at shows that some time has passed.
      #expect((limiter.statistics.longestWait > .zero) == (name != "untimed"), "\(name)")
      #expect(limiter.statistics.admitted == 2)
    }
  }

  @Test func `are not waited for inside of a body that holds one, if nesting is detected`()
    async throws
  {
    let limiter = ConcurrencyLimiter(concurrency: 1, detectsNesting: true)
    let other = ConcurrencyLimiter(concurrency: 1, detectsNesting: true)
    let timed = ConcurrencyLimiter(concurrency: 1, detectsNesting: true, clock: clock)
    start("timed") { try await timed.run { try await timed.run {} } }
    start("itself") { try await limiter.run { try await limiter.run {} } }
    start("child") {
      try await limiter.run {
        async let child: Void = limiter.run {}
        try await child
      }
    }
    start("inside") { try await limiter.run { try await other.run { try await limiter.run {} } } }
    executor.runAll()
    #expect(
      journal.entries == [
        "timed NestedRun", "itself NestedRun", "child NestedRun", "inside NestedRun",
      ]
    )
    #expect(limiter.running == 0)
    let two = ConcurrencyLimiter(concurrency: 2, detectsNesting: true)
    // Often enough that the lock must admit some, too.
    for _ in 1...300 { #expect(try await two.run { try await two.run { 1 } } == 1) }
    let three = ConcurrencyLimiter(concurrency: 3, detectsNesting: true)
    for _ in 1...300 { #expect(try await three.run { try await three.run(weight: 2) { 1 } } == 1) }
    #expect(three.running == 0)
  }

  @Test func `are refused by a closed limiter inside of a body that holds one, as anywhere`() async
  {
    let limiter = ConcurrencyLimiter(concurrency: 2, detectsNesting: true)
    await #expect(throws: LimiterClosed()) {
      try await limiter.run {
        limiter.close()
        try await limiter.run {}
      }
    }
  }

  @Test func `may be waited for inside of a body that holds another limiter's`() async throws {
    let (limiter, other) = (
      ConcurrencyLimiter(concurrency: 1, detectsNesting: true),
      ConcurrencyLimiter(concurrency: 1, detectsNesting: true)
    )
    let permit = try await limiter.acquire()
    start("t1") { try await other.run { try await limiter.run {} } }
    executor.runAll()
    #expect(limiter.waiting == 1)
    permit.release()
    executor.runAll()
    #expect(journal.entries == ["t1 done"])
  }

  @Test(arguments: [false, true])
  func `may be waited for by a task that was started in a body that has ended`(
    bodyThrows: Bool
  ) async throws {
    let limiter = ConcurrencyLimiter(concurrency: 1, detectsNesting: true)
    let (gate, signal) = Condition.makeCondition()
    try? await limiter.run {
      _ =
        Task(executorPreference: executor) {
          try await gate.wait()
          try await limiter.run {}
        }
      if bodyThrows { throw Failure() }
    }
    executor.runAll()
    let permit = try await limiter.acquire()
    signal.signal()
    executor.runAll()
    #expect(limiter.waiting == 1)
    permit.release()
    executor.runAll()
    #expect(limiter.statistics.admitted == 3, "the body that has ended is no holder")
  }

  @Test func `keep no marks of bodies that have ended, though each has started the next`() {
    let limiter = ConcurrencyLimiter(concurrency: 3, detectsNesting: true)
    let (executor, journal) = (executor, journal)
    @Sendable func startOne(of bodies: Int) {
      guard bodies > 0 else { return }
      Task(executorPreference: executor) {
        try await limiter.run {
          startOne(of: bodies - 1)
          // The next begins before this one ends: the marks are never all old.
          await Task.yield()
          journal.note("\(RunMark.current.count)")
        }
      }
    }
    startOne(of: 50)
    executor.runAll()
    #expect(journal.entries.count == 50)
    #expect(Set(journal.entries) == ["1", "2", "3"])
  }

  @Test func `say in their errors what to do`() {
    #expect("\(WaitTimedOut())".contains("waitingAtMost"))
    #expect("\(LimiterClosed())".contains("closed"))
    #expect("\(NestedRun())".contains("take one permit at a time"))
  }
}
