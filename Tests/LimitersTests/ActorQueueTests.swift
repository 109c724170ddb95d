import Basics
import Synchronization
import TestSupport
import Testing

@testable import Limiters

private actor Ledger {
  nonisolated let queue: ActorQueue<Ledger>
  private(set) var entries: [Int] = []

  init(priority: TaskPriority? = nil, executor: (any TaskExecutor)? = nil) {
    queue = ActorQueue(priority: priority, executor: executor)
    queue.adoptExecutionContext(of: self)
  }

  func append(_ entry: Int) { entries.append(entry) }
}

/// Runs the jobs of an actor when a test says so, in the order that it chooses.
private final class HandDrivenSerialExecutor: SerialExecutor {
  private let jobs = Mutex<[UnownedJob]>([])

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
  }

  /// Runs the newest job: the worst an executor may do to the order.
  func runNewest() -> Bool { run(jobs.withLock { $0.popLast() }) }

  func runOldest() -> Bool { run(jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }) }

  private func run(_ job: UnownedJob?) -> Bool {
    job?.runSynchronously(on: asUnownedSerialExecutor())
    return job != nil
  }
}

private actor Contrary {
  private let executor: HandDrivenSerialExecutor
  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

  init(_ executor: HandDrivenSerialExecutor) { self.executor = executor }
}

@Suite(.watched) struct `An actor queue` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  private func makeLedger() -> Ledger { Ledger(executor: executor) }

  @discardableResult
  private func enqueueAndWait(
    _ name: String,
    on ledger: Ledger
  ) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await ledger.queue.enqueueAndWait { _ in journal.note(name) }
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  @Test func `keeps the order up to the first suspension, and lets bodies overlap from there`() {
    let ledger = makeLedger()
    for number in 1...3 {
      ledger.queue.enqueue { [journal] _ in
        journal.note("t\(number) starts")
        await Task.yield()
        await Task.yield()
        journal.note("t\(number) ends")
      }
    }
    executor.runAll()
    let starts = journal.entries.filter { $0.hasSuffix("starts") }
    #expect(starts == ["t1 starts", "t2 starts", "t3 starts"])
    #expect(journal.entries.firstIndex(of: "t2 starts") ?? 9 < 4)
    #expect(journal.entries.count == 6)
  }

  @Test func `starts bodies in the order in which they were enqueued`() async throws {
    let ledger = Ledger()
    for number in 1...1_000 {
      ledger.queue.enqueue { ledger in ledger.append(number) }
    }
    let entries = try await ledger.queue.enqueueAndWait { ledger in ledger.entries }
    #expect(entries == Array(1...1_000))
  }

  @Test func `lets no body on its way to the actor before the one ahead has started`() async {
    let serial = HandDrivenSerialExecutor()
    let actor = Contrary(serial)
    let queue = ActorQueue<Contrary>()
    queue.adoptExecutionContext(of: actor)
    for number in 1...5 { queue.enqueue { [journal] _ in journal.note("\(number)") } }
    while journal.entries.count < 5 {
      // Every task that may go to the actor goes, before the actor runs one.
      for _ in 1...200 { await Task.yield() }
      _ = serial.runNewest()
    }
    #expect(journal.entries == (1...5).map(String.init))
    withExtendedLifetime(actor) {}
  }

  @Test func `lets no waiting task go to the actor before the one ahead has started`() {
    let ledger = makeLedger()
    // An actor prefers the higher priority among those who have come to it.
    for (number, priority) in [TaskPriority.low, .medium, .high].enumerated() {
      Task(executorPreference: executor, priority: priority) { [journal] in
        try await ledger.queue.enqueueAndWait { _ in journal.note("\(number)") }
      }
    }
    executor.runAll()
    #expect(journal.entries == ["0", "1", "2"])
  }

  @Test(arguments: [false, true])
  func `keeps the order of tasks that prefer an executor as far as the actor's own executor does`(
    newestFirst: Bool
  ) {
    let serial = HandDrivenSerialExecutor()
    let actor = Contrary(serial)
    let queue = ActorQueue<Contrary>(executor: executor)
    queue.adoptExecutionContext(of: actor)
    for number in 1...3 {
      Task(executorPreference: executor) { [journal] in
        try await queue.enqueueAndWait { _ in journal.note("\(number)") }
      }
    }
    executor.runAll()
    for number in 4...5 { queue.enqueue { [journal] _ in journal.note("\(number)") } }
    // Such a task comes to the actor's executor twice, the second time when the queue has let the next go.
    repeat {
      executor.runAll()
    } while newestFirst ? serial.runNewest() : serial.runOldest()
    let inOrder = (1...5).map(String.init)
    #expect(journal.entries == (newestFirst ? inOrder.reversed() : inOrder))
    withExtendedLifetime(actor) {}
  }

  @Test func `starts the next body though the one before never ends`() {
    let ledger = makeLedger()
    let (never, signal) = Condition.makeCondition()
    ledger.queue.enqueue { _ in try? await never.waitUncancellably() }
    enqueueAndWait("t2", on: ledger)
    executor.runAll()
    #expect(journal.entries == ["t2"])
    signal.signal()
    executor.runAll()
  }

  @Test func `keeps one order of enqueued bodies and waiting tasks`() {
    // Enqueued bodies start on an executor that stands still until all nine are in line.
    let starting = HandDrivenExecutor()
    let ledger = Ledger(executor: starting)
    for number in 1...9 {
      if number % 3 == 0 {
        enqueueAndWait("\(number)", on: ledger)
        executor.runAll()
      } else {
        ledger.queue.enqueue { [journal] _ in journal.note("\(number)") }
      }
    }
    #expect(ledger.queue.waiting == 8)
    while starting.runAll() + executor.runAll() > 0 {}
    #expect(journal.entries == (1...9).map(String.init))
    #expect(ledger.queue.waiting == 0)
    #expect(!ledger.queue.isStarting)
  }

  @Test func `may wait for itself from inside`() async throws {
    let ledger = Ledger()
    let queue = ledger.queue
    let value = try await queue.enqueueAndWait { ledger in
      ledger.append(1)
      return try await queue.enqueueAndWait { ledger in
        ledger.append(2)
        return ledger.entries
      }
    }
    #expect(value == [1, 2])
  }

  @Test func `keeps the actor alive until what was enqueued has run`() {
    var ledger: Ledger? = makeLedger()
    weak let watched = ledger
    ledger?.queue.enqueue { [journal] ledger in
      ledger.append(1)
      journal.note("ran")
    }
    ledger = nil
    #expect(watched != nil)
    executor.runAll()
    #expect(journal.entries == ["ran"])
    #expect(watched == nil)
  }

  @Test func `runs what was enqueued though nobody refers to it any more`() {
    let ledger = Ledger()
    do {
      let queue = ActorQueue<Ledger>(executor: executor)
      queue.adoptExecutionContext(of: ledger)
      for number in 1...3 { queue.enqueue { [journal] _ in journal.note("\(number)") } }
    }
    executor.runAll()
    #expect(journal.entries == ["1", "2", "3"])
  }

  @Test func `does not keep an idle actor alive`() {
    var ledger: Ledger? = makeLedger()
    weak let watched = ledger
    let queue = ledger?.queue
    ledger = nil
    #expect(watched == nil)
    withExtendedLifetime(queue) {}
  }

  @Test func `adopts another actor once the first is gone`() async throws {
    let queue = ActorQueue<Ledger>()
    do {
      let first = Ledger()
      queue.adoptExecutionContext(of: first)
      queue.adoptExecutionContext(of: first)
    }
    let second = Ledger()
    queue.adoptExecutionContext(of: second)
    try await queue.enqueueAndWait { ledger in ledger.append(1) }
    #expect(await second.entries == [1])
  }

  @Test func `gives what an enqueued body throws to the closure that was named for it`() {
    let ledger = makeLedger()
    ledger.queue.enqueue { _ in
      throw Failure()
    } onError: { [journal] error in
      journal.note("caught \(error)")
    }
    executor.runAll()
    #expect(journal.entries == ["caught Failure()"])
  }

  @Test func `gives errors to the closure on the actor, wherever they come from`() async throws {
    let ledger = Ledger()
    ledger.queue.enqueue { _ in
      try await Task { @concurrent in throw Failure() }.value
    } onError: { [journal] _ in
      journal.note("\(ledger.assumeIsolated { _ in "on the actor" })")
    }
    while journal.entries.isEmpty { await Moment.pass() }
    #expect(journal.entries == ["on the actor"])
  }

  @Test func `runs an enqueued body at its own priority, or that of who enqueued it`() async throws
  {
    let own = Ledger(priority: .high)
    let plain = Ledger()
    await Task(priority: .low) { [journal] in
      own.queue.enqueue { _ in journal.note("own \(Task.currentPriority == .high)") }
    }.value
    try await own.queue.enqueueAndWait { _ in }
    try await Task(priority: .high) { [journal] in
      plain.queue.enqueue { _ in journal.note("plain \(Task.currentPriority == .high)") }
      try await plain.queue.enqueueAndWait { _ in }
    }.value
    #expect(journal.entries == ["own true", "plain true"])
  }

  @Test func `starts a body with no task-local values of who passes the permit on`() async throws {
    enum Local { @TaskLocal static var name = "none" }
    let starting = HandDrivenExecutor()
    let ledger = Ledger(executor: starting)
    ledger.queue.enqueue { _ in }
    let waiter = Task(executorPreference: executor) {
      try await Local.$name.withValue("waiter") { try await ledger.queue.enqueueAndWait { _ in } }
    }
    executor.runAll()
    ledger.queue.enqueue { [journal] _ in journal.note(Local.name) }
    while starting.runAll() + executor.runAll() > 0 {}
    try await waiter.value
    #expect(journal.entries == ["none"])
  }

  @Test func `returns what a body returns and throws what it throws`() async throws {
    let ledger = Ledger()
    #expect(try await ledger.queue.enqueueAndWait { _ in 1 } == 1)
    #expect(await ledger.queue.enqueueAndWaitUncancellably { _ in 2 } == 2)
    await #expect(throws: Failure()) {
      try await ledger.queue.enqueueAndWait { _ in throw Failure() }
    }
    #expect(!ledger.queue.isStarting)
  }

  @Test func `denies a task cancelled while it waits, and goes on with the next`() {
    let starting = HandDrivenExecutor()
    let ledger = Ledger(executor: starting)
    ledger.queue.enqueue { [journal] _ in journal.note("t1") }
    let second = enqueueAndWait("t2", on: ledger)
    enqueueAndWait("t3", on: ledger)
    executor.runAll()
    #expect(ledger.queue.waiting == 2)
    second.cancel()
    #expect(ledger.queue.waiting == 1, "it leaves the queue at once")
    executor.runAll()
    while starting.runAll() + executor.runAll() > 0 {}
    #expect(journal.entries == ["t2 CancellationError", "t1", "t3"])
    #expect(!ledger.queue.isStarting)
  }

  @Test func `runs the body of a task that was passed the permit and then cancelled`() {
    let starting = HandDrivenExecutor()
    let ledger = Ledger(executor: starting)
    ledger.queue.enqueue { [journal] _ in journal.note("t1") }
    let second = enqueueAndWait("t2", on: ledger)
    executor.runAll()
    starting.runAll()
    #expect(journal.entries == ["t1"])
    #expect(ledger.queue.isStarting, "t2 has the permit, though it has not woken yet")
    second.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1", "t2"])
    #expect(!ledger.queue.isStarting)
  }

  @Test func `waits uncancellably where that was asked for`() {
    let starting = HandDrivenExecutor()
    let ledger = Ledger(executor: starting)
    ledger.queue.enqueue { [journal] _ in journal.note("t1") }
    let second = Task(executorPreference: executor) { [journal] in
      await ledger.queue.enqueueAndWaitUncancellably { _ in journal.note("t2") }
    }
    executor.runAll()
    second.cancel()
    executor.runAll()
    #expect(ledger.queue.waiting == 1)
    while starting.runAll() + executor.runAll() > 0 {}
    #expect(journal.entries == ["t1", "t2"])
  }

  @Test func `stops when no actor was adopted`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      ActorQueue<Ledger>().enqueue { _ in }
    }
    #expect(message(of: result).contains("no actor was adopted"))
    #expect(message(of: result).contains("ActorQueueTests.swift"))
  }

  @Test func `stops when the adopted actor is gone`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let queue = Ledger().queue
      try await queue.enqueueAndWait { _ in }
    }
    #expect(message(of: result).contains("the adopted actor no longer exists"))
    #expect(message(of: result).contains("ActorQueueTests.swift"))
  }

  @Test func `stops when a second actor is adopted while the first exists`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let (first, second) = (Ledger(), Ledger())
      first.queue.adoptExecutionContext(of: second)
      withExtendedLifetime(first) {}
    }
    #expect(message(of: result).contains("adopted a second actor while the first still exists"))
    #expect(message(of: result).contains("ActorQueueTests.swift"))
  }
}

@Suite(.watched) struct `The main actor queue` {
  @Test func `may be one's own, with an order of its own`() async throws {
    let queue = MainActorQueue(priority: .high)
    let journal = Journal()
    queue.enqueue { journal.note("\(Task.currentPriority == .high)") }
    try await queue.enqueueAndWait { MainActor.assertIsolated() }
    #expect(journal.entries == ["true"])
  }

  @Test @MainActor
  func `says how many wait to start on the main actor, and whether one is on its way`()
    async throws
  {
    let queue = MainActorQueue()
    #expect(!queue.isStarting && queue.waiting == 0)
    // None starts before this body lets the main actor go.
    for _ in 1...3 { queue.enqueue {} }
    #expect(queue.isStarting && queue.waiting == 2)
    try await queue.enqueueAndWait {}
    #expect(!queue.isStarting && queue.waiting == 0)
  }

  @Test func `starts bodies on the main actor in the order in which they were enqueued`()
    async throws
  {
    let journal = Journal()
    for number in 1...100 {
      MainActorQueue.shared.enqueue {
        MainActor.assertIsolated()
        journal.note("\(number)")
      }
    }
    let count = try await MainActorQueue.shared.enqueueAndWait {
      MainActor.assertIsolated()
      return journal.entries.count
    }
    #expect(count == 100)
    #expect(journal.entries == (1...100).map(String.init))
  }

  @Test @MainActor
  func `keeps the order of enqueued bodies and of those waited for on the main actor`()
    async throws
  {
    let (queue, journal) = (MainActorQueue(), Journal())
    queue.enqueue { journal.note("1") }
    queue.enqueue { journal.note("2") }
    try await queue.enqueueAndWait { journal.note("3") }
    queue.enqueue { journal.note("4") }
    queue.enqueue { journal.note("5") }
    await queue.enqueueAndWaitUncancellably { journal.note("6") }
    #expect(journal.entries == (1...6).map(String.init))
  }

  @Test func `may wait for itself from inside`() async throws {
    let value = try await MainActorQueue.shared.enqueueAndWait {
      await MainActorQueue.shared.enqueueAndWaitUncancellably { 1 }
    }
    #expect(value == 1)
  }

  @Test func `gives what an enqueued body throws to the closure that was named for it`()
    async throws
  {
    let journal = Journal()
    MainActorQueue.shared.enqueue {
      throw Failure()
    } onError: { error in
      MainActor.assertIsolated()
      journal.note("caught \(error)")
    }
    try await MainActorQueue.shared.enqueueAndWait {}
    #expect(journal.entries == ["caught Failure()"])
  }
}
