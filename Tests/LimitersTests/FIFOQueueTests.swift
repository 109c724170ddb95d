import Basics
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `A FIFO queue` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  private func makeQueue() -> FIFOQueue { FIFOQueue(name: "test", executor: executor) }

  /// Enqueues a body that notes its start, suspends, and notes its end.
  private func enqueue(_ name: String, on queue: FIFOQueue) {
    queue.enqueue { [journal] in
      journal.note("\(name) starts")
      await Task.yield()
      await Task.yield()
      journal.note("\(name) ends")
    }
  }

  /// Starts a task that runs such a body in `enqueueAndWait`.
  @discardableResult
  private func enqueueAndWait(
    _ name: String,
    on queue: FIFOQueue,
    until gate: Condition? = nil
  ) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await queue.enqueueAndWait {
          journal.note("\(name) starts")
          await Task.yield()
          try await gate?.waitUncancellably()
          journal.note("\(name) ends")
        }
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  private func inOrder(_ numbers: ClosedRange<Int>) -> [String] {
    numbers.flatMap { ["t\($0) starts", "t\($0) ends"] }
  }

  @Test func `starts and ends bodies in the order in which they were enqueued`() {
    let queue = makeQueue()
    for number in 1...10 { enqueue("t\(number)", on: queue) }
    #expect(queue.isRunning)
    #expect(queue.waiting == 9)
    executor.runAll()
    #expect(journal.entries == inOrder(1...10))
    #expect(!queue.isRunning)
  }

  @Test func `keeps one order of enqueued bodies and waiting tasks`() {
    // Enqueued bodies run on an executor that stands still until all nine are in line.
    let draining = HandDrivenExecutor()
    let queue = FIFOQueue(executor: draining)
    for number in 1...9 {
      if number % 3 == 0 {
        enqueueAndWait("t\(number)", on: queue)
        executor.runAll()
      } else {
        enqueue("t\(number)", on: queue)
      }
    }
    #expect(queue.waiting == 8)
    while draining.runAll() + executor.runAll() > 0 {}
    #expect(journal.entries == inOrder(1...9))
    #expect(!queue.isRunning)
    #expect(queue.waiting == 0)
  }

  @Test func `runs everything on the executor it was given, and then holds no task`() {
    let queue = makeQueue()
    enqueue("t1", on: queue)
    #expect(executor.ready == 1)
    executor.runAll()
    #expect(executor.ready == 0)
    enqueue("t2", on: queue)
    executor.runAll()
    #expect(journal.entries == inOrder(1...2))
  }

  @Test func `runs enqueued bodies in a task of the name that it was given`() {
    makeQueue().enqueue { [journal] in journal.note(Task.name ?? "none") }
    executor.runAll()
    #expect(journal.entries == ["test"])
  }

  @Test func `runs a waiting task's body on that task, in its isolation`() async throws {
    // Compiles only if neither the body nor its value has to be Sendable.
    final class Draft {
      var text = ""
    }
    actor Author {
      private let draft = Draft()
      func write(with queue: FIFOQueue) async throws -> Bool {
        let same = try await queue.enqueueAndWait {
          draft.text = "page"
          return draft
        }
        return same === draft
      }
    }
    enum Local { @TaskLocal static var name = "none" }
    let queue = FIFOQueue()
    #expect(try await Author().write(with: queue))
    let name = try await Local.$name.withValue("caller") {
      try await queue.enqueueAndWait { Local.name }
    }
    #expect(name == "caller")
  }

  @Test func `does not carry one caller's task-local values into another's body`() async throws {
    enum Local { @TaskLocal static var name = "none" }
    let queue = FIFOQueue()
    Local.$name.withValue("first caller") {
      queue.enqueue { [journal] in journal.note(Local.name) }
    }
    try await queue.enqueueAndWait {}
    #expect(journal.entries == ["none"])
  }

  @Test func `lets go of each body when it has run, though the queue is never empty`() {
    let queue = makeQueue()
    let census = Tracked.Census()
    @Sendable func enqueueOne() {
      let tracked = Tracked(in: census)
      queue.enqueue { withExtendedLifetime(tracked) {} }
    }
    enqueueOne()
    queue.enqueue { [journal] in
      journal.note("alive: \(census.living)")
      enqueueOne()
    }
    executor.runAll()
    #expect(journal.entries == ["alive: 0"])
    #expect(census.living == 0)
  }

  @Test func `runs enqueued bodies at its own priority, with nobody's task-local values`()
    async throws
  {
    enum Local { @TaskLocal static var name = "none" }
    let queue = FIFOQueue(priority: .high)
    let (gate, signal) = Condition.makeCondition()
    // The drain that a waiting task starts must inherit nothing of it.
    let waiter = Task(priority: .low) {
      try await Local.$name.withValue("waiter") {
        try await queue.enqueueAndWait { try await gate.wait() }
      }
    }
    while !queue.isRunning { await Moment.pass() }
    queue.enqueue { [journal] in
      journal.note("\(Local.name) \(Task.currentPriority == .high)")
    }
    signal.signal()
    try await waiter.value
    try await queue.enqueueAndWait {}
    #expect(journal.entries == ["none true"])
  }

  @Test func `runs enqueued bodies at the default priority, whoever finds it idle`() {
    let queue = makeQueue()
    for priority in [TaskPriority.background, .high] {
      Task(executorPreference: executor, priority: priority) { [journal] in
        queue.enqueue { journal.note("\(Task.currentPriority)") }
      }
      executor.runAll()
    }
    #expect(journal.entries == ["\(TaskPriority.medium)", "\(TaskPriority.medium)"])
  }

  @Test func `runs a body on the actor that it is given`() async throws {
    actor Ledger {
      var entries = ["opened"]
      func note(_ entry: String) { entries.append(entry) }
    }
    let (ledger, queue) = (Ledger(), FIFOQueue())
    queue.enqueue(on: ledger) { ledger in
      await Task.yield()
      ledger.note("enqueued")
    }
    let entries = try await queue.enqueueAndWait(on: ledger) { ledger in
      ledger.note("waited")
      return ledger.entries
    }
    #expect(entries == ["opened", "enqueued", "waited"])
  }

  @Test func `waits for a body on an actor to end, also while it is suspended`() {
    actor Ledger {}
    let queue = makeQueue()
    let (gate, signal) = Condition.makeCondition()
    queue.enqueue(on: Ledger()) { [journal] _ in
      try? await gate.waitUncancellably()
      journal.note("t1 ends")
    }
    enqueue("t2", on: queue)
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 ends"] + inOrder(2...2))
  }

  @Test func `starts work behind a waiting task that did not look at its cancellation`() async {
    let queue = makeQueue()
    let (gate, signal) = Condition.makeCondition()
    let first = Task(executorPreference: executor) {
      await queue.enqueueAndWaitUncancellably { try? await gate.waitUncancellably() }
    }
    executor.runAll()
    enqueue("t2", on: queue)
    signal.signal()
    executor.runAll()
    await first.value
    #expect(journal.entries == inOrder(2...2))
    #expect(!queue.isRunning)
  }

  @Test func `gives what an enqueued body throws to the closure that was named for it`() {
    let queue = makeQueue()
    queue.enqueue {
      throw Failure()
    } onError: { [journal] error in
      journal.note("caught \(error)")
    }
    enqueue("t1", on: queue)
    executor.runAll()
    #expect(journal.entries == ["caught Failure()"] + inOrder(1...1))
  }

  @Test func `passes the permit on when a waiting task's body throws`() async {
    let queue = FIFOQueue()
    await #expect(throws: Failure()) { try await queue.enqueueAndWait { throw Failure() } }
    await #expect(throws: Failure()) {
      try await queue.enqueueAndWaitUncancellably { throw Failure() }
    }
    #expect(!queue.isRunning)
  }

  @Test func `denies a task cancelled while it waits, and goes on with the next`() {
    let queue = makeQueue()
    let (gate, signal) = Condition.makeCondition()
    enqueueAndWait("t1", on: queue, until: gate)
    let second = enqueueAndWait("t2", on: queue)
    enqueueAndWait("t3", on: queue)
    executor.runAll()
    second.cancel()
    #expect(queue.waiting == 1, "it leaves the queue at once")
    executor.runAll()
    signal.signal()
    executor.runAll()
    #expect(
      journal.entries
        == ["t1 starts", "t2 CancellationError", "t1 ends", "t3 starts", "t3 ends"]
    )
    #expect(!queue.isRunning)
  }

  @Test func `runs the body of a task that was passed the permit and then cancelled`() {
    let queue = makeQueue()
    let (gate, signal) = Condition.makeCondition()
    enqueueAndWait("t1", on: queue, until: gate)
    let second = enqueueAndWait("t2", on: queue)
    executor.runAll()
    signal.signal()
    executor.runOne()
    #expect(journal.entries == ["t1 starts", "t1 ends"])
    second.cancel()
    executor.runAll()
    #expect(journal.entries == inOrder(1...2))
    #expect(!queue.isRunning)
  }

  @Test func `denies a task cancelled before it arrives`() {
    let queue = makeQueue()
    enqueueAndWait("t1", on: queue).cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    #expect(!queue.isRunning)
  }

  @Test func `waits uncancellably where that was asked for`() {
    let queue = makeQueue()
    let (gate, signal) = Condition.makeCondition()
    enqueueAndWait("t1", on: queue, until: gate)
    let second = Task(executorPreference: executor) { [journal] in
      await queue.enqueueAndWaitUncancellably { journal.note("t2") }
    }
    executor.runAll()
    second.cancel()
    executor.runAll()
    #expect(queue.waiting == 1)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 starts", "t1 ends", "t2"])
  }
}
