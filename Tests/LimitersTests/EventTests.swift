import Synchronization
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `An event for one waiter` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  @discardableResult
  private func wait(for condition: Condition) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      journal.note("\(await condition.outcome()), cancelled: \(Task.isCancelled)")
    }
  }

  static let outcomes: [Condition.Outcome] = [.signalled, .cancelled, .dropped, .timedOut, .closed]

  @Test(arguments: outcomes) func `tells a waiter that came first how it ended`(
    _ outcome: Condition.Outcome
  ) {
    let (condition, signal) = Condition.makeForOneWaiter()
    wait(for: condition)
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.settle(outcome)
    executor.runAll()
    #expect(journal.entries == ["\(outcome), cancelled: false"])
  }

  @Test(arguments: outcomes) func `tells a waiter that comes later how it ended`(
    _ outcome: Condition.Outcome
  ) {
    let (condition, signal) = Condition.makeForOneWaiter()
    signal.settle(outcome)
    wait(for: condition)
    executor.runAll()
    #expect(journal.entries == ["\(outcome), cancelled: false"])
  }

  @Test func `has two faces of one reference each`() {
    #expect(MemoryLayout<Condition>.size == MemoryLayout<Event>.size)
    #expect(MemoryLayout<Signal?>.size == MemoryLayout<Event>.size)
  }

  @Test func `does not look at its task when nobody asked it to`() {
    let (condition, signal) = Condition.makeForOneWaiter()
    let task = wait(for: condition)
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled, cancelled: true"])
  }

  @Test(arguments: [true, false])
  func `lets a cancelled task leave a caller's line, also before it has suspended`(
    hasSuspended: Bool
  ) {
    let (condition, signal) = Condition.makeForOneWaiter()
    let line = Mutex(WaiterQueue<Signal>())
    let ticket = line.withLock { $0.append(signal) }
    let task = Task(executorPreference: executor) { [journal] in
      let outcome = await condition.wait(leavingWith: { line.withLock { $0.remove(ticket) } })
      journal.note("\(outcome)")
    }
    if hasSuspended { executor.runAll() }
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["cancelled"])
    #expect(line.withLock { $0.count } == 0)
  }

  @Test func `is ended by who took it out of the line, though its task is cancelled`() {
    let (condition, signal) = Condition.makeForOneWaiter()
    let task = Task(executorPreference: executor) { [journal] in
      journal.note("\(await condition.wait(leavingWith: { nil }))")
    }
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled"])
  }

  @Test func `stops the program that settles it twice`() async {
    await #expect(processExitsWith: .failure) {
      let (_, signal) = Condition.makeForOneWaiter()
      signal.settle(.timedOut)
      signal.settle(.signalled)
    }
  }

  @Test func `happens for whoever has its faces as for a line`() async throws {
    let (condition, signal) = Condition.makeForOneWaiter()
    Task(executorPreference: executor) { [journal] in
      do {
        try await condition.wait()
        journal.note("signalled")
      } catch { journal.note("\(error)") }
    }
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled"])
    try await condition.waitUncancellably()
  }

  @Test func `stops the program that waits for it on two tasks`() async {
    await #expect(processExitsWith: .failure) {
      let (condition, signal) = Condition.makeForOneWaiter()
      let executor = HandDrivenExecutor()
      for _ in 1...2 { Task(executorPreference: executor) { await condition.outcome() } }
      executor.runAll()
      signal.signal()
    }
  }

  @Test func `tells each outcome from each other, from a waiter and from nothing`() async {
    let words = Self.outcomes.map { EventWord($0) }
    #expect(words.map(\.outcome) == Self.outcomes)
    #expect(words.allSatisfy { $0.continuation == nil })
    #expect(EventWord.empty.outcome == nil && EventWord.empty.continuation == nil)
    let outcome = await withUnsafeContinuation { (continuation: EventWord.Continuation) in
      let word = EventWord(continuation)
      #expect(word.outcome == nil && word != .empty)
      // Resumed once: here.
      word.continuation?.resume(returning: .timedOut)
    }
    #expect(outcome == .timedOut)
  }

  @Test(arguments: [true, false])
  func `carries the value of a hand-off to its waiter, whoever comes first`(isHandedFirst: Bool) {
    let handOff = HandOff<String>()
    if isHandedFirst { handOff.hand("value") }
    Task(executorPreference: executor) { [journal] in
      let outcome = await handOff.condition.outcome()
      journal.note("\(outcome) \(handOff.take() ?? "nothing")")
    }
    executor.runAll()
    if !isHandedFirst {
      #expect(journal.entries.isEmpty)
      handOff.hand("value")
      executor.runAll()
    }
    #expect(journal.entries == ["signalled value"])
  }

  @Test func `has no value for the waiter of a hand-off that ended otherwise`() async {
    let handOff = HandOff<String>()
    handOff.signal.settle(.closed)
    #expect(await handOff.condition.outcome() == .closed)
    #expect(handOff.take() == nil)
  }
}
