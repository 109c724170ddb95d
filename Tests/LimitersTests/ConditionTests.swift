import Synchronization
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `A condition` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  /// Starts a task that waits and notes how the wait ended.
  @discardableResult
  private func wait(for condition: Condition, as name: String) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      do {
        try await condition.wait()
        journal.note("\(name) signalled")
      } catch {
        journal.note("\(name) \(type(of: error))")
      }
    }
  }

  @Test func `wakes a waiter when signalled`() {
    let (condition, signal) = Condition.makeCondition()
    wait(for: condition, as: "t1")
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 signalled"])
  }

  @Test func `remembers a signal that came before the wait`() {
    let (condition, signal) = Condition.makeCondition()
    signal.signal()
    wait(for: condition, as: "t1")
    executor.runAll()
    #expect(journal.entries == ["t1 signalled"])
  }

  @Test func `takes a second signal for the first`() {
    let (condition, signal) = Condition.makeCondition()
    wait(for: condition, as: "t1")
    executor.runAll()
    signal.signal()
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 signalled"])
  }

  @Test func `is equal to its copies, as its signal is, and to nothing else`() {
    let ((condition, signal), other) = (Condition.makeCondition(), Condition.makeCondition())
    let line = [other.signal, signal]
    #expect(line.firstIndex(of: signal) == 1 && line.firstIndex { $0 === signal } == 1)
    #expect(condition == condition && condition != other.condition)
    #expect(condition === condition && condition !== other.condition)
    let kept: Signal? = signal
    #expect(kept === signal && signal === kept && kept !== nil)
    let none: Condition? = nil
    #expect(kept !== other.signal && none !== condition && none === nil)
    #expect(Set([condition, condition, other.condition]).count == 2)
    #expect(Set(line + [signal]).count == 2)
    let (alone, itsSignal) = Condition.makeForOneWaiter()
    #expect(alone == alone && itsSignal == itsSignal)
    #expect(alone != condition && itsSignal != signal)
  }

  @Test func `lets a second wait return at once`() async throws {
    let (condition, signal) = Condition.makeCondition()
    signal.signal()
    try await condition.wait()
    try await condition.wait()
    try await condition.waitUncancellably()
  }

  @Test func `wakes every waiter, in order of arrival`() {
    let (condition, signal) = Condition.makeCondition()
    for name in ["t1", "t2", "t3"] { wait(for: condition, as: name) }
    executor.runAll()
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 signalled", "t2 signalled", "t3 signalled"])
  }

  @Test func `wakes its waiters with an error when the signal is dropped`() {
    let (condition, firstSignal) = Condition.makeCondition()
    var signal: Signal? = consume firstSignal
    wait(for: condition, as: "t1")
    executor.runAll()
    #expect(journal.entries.isEmpty)
    withExtendedLifetime(signal) {}
    signal = nil
    wait(for: condition, as: "t2")
    executor.runAll()
    #expect(journal.entries == ["t1 SignalDropped", "t2 SignalDropped"])
  }

  @Test
  func `wakes who waits uncancellably with an error too, before and after the signal is dropped`()
    async
  {
    let (condition, firstSignal) = Condition.makeCondition()
    var signal: Signal? = consume firstSignal
    Task(executorPreference: executor) { [journal] in
      await #expect(throws: SignalDropped()) { try await condition.waitUncancellably() }
      journal.note("woken")
    }
    executor.runAll()
    #expect(journal.entries.isEmpty)
    withExtendedLifetime(signal) {}
    signal = nil
    executor.runAll()
    #expect(journal.entries == ["woken"])
    await #expect(throws: SignalDropped()) { try await condition.waitUncancellably() }
  }

  @Test func `lets a cancelled task pass that comes when the event has happened`() {
    let (condition, signal) = Condition.makeCondition()
    signal.signal()
    wait(for: condition, as: "t1").cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 signalled"])
  }

  @Test func `says what a dropped signal means and what to do`() {
    #expect("\(SignalDropped())".contains("Signal was dropped without being signalled"))
    #expect("\(SignalDropped())".contains("keep the Signal until you call signal()"))
  }

  @Test func `stays signalled when its signal goes away afterwards`() async throws {
    let condition = {
      let (condition, signal) = Condition.makeCondition()
      signal.signal()
      return condition
    }()
    try await condition.wait()
  }

  @Test func `throws when the waiting task is cancelled, and wakes the others all the same`() {
    let (condition, signal) = Condition.makeCondition()
    let first = wait(for: condition, as: "t1")
    wait(for: condition, as: "t2")
    executor.runAll()
    first.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError", "t2 signalled"])
  }

  @Test func `throws when the task was cancelled before it came to wait`() {
    let (condition, signal) = Condition.makeCondition()
    let task = wait(for: condition, as: "t1")
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
  }

  @Test func `resumes once when a signal is followed by a cancellation`() {
    let (condition, signal) = Condition.makeCondition()
    let task = wait(for: condition, as: "t1")
    executor.runAll()
    signal.signal()
    task.cancel()
    executor.runAll()
    #expect(journal.entries == ["t1 signalled"])
  }

  @Test func `resumes once when a cancellation is followed by a signal`() {
    let (condition, signal) = Condition.makeCondition()
    let task = wait(for: condition, as: "t1")
    executor.runAll()
    task.cancel()
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["t1 CancellationError"])
  }

  @Test func `has an uncancellable wait outlast a cancellation`() {
    let (condition, signal) = Condition.makeCondition()
    let task = Task(executorPreference: executor) { [journal] in
      try await condition.waitUncancellably()
      journal.note("signalled, cancelled: \(Task.isCancelled)")
    }
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    signal.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled, cancelled: true"])
  }
}
