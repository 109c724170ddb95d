import Synchronization
import TestSupport
import Testing

@testable import Limiters

@Suite(.watched) struct `A line's condition` {
  private let executor = HandDrivenExecutor()
  private let journal = Journal()

  @discardableResult
  private func wait(for condition: LineCondition) -> Task<Void, Never> {
    Task(executorPreference: executor) { [journal] in
      journal.note("\(await condition.wait()), cancelled: \(Task.isCancelled)")
    }
  }

  static let outcomes: [Condition.Outcome] = [.signalled, .cancelled, .dropped, .timedOut, .closed]

  @Test(arguments: outcomes) func `tells a waiter that came first how it ended`(
    _ outcome: Condition.Outcome
  ) {
    let condition = LineCondition()
    wait(for: condition)
    executor.runAll()
    #expect(journal.entries.isEmpty)
    condition.settle(outcome)
    executor.runAll()
    #expect(journal.entries == ["\(outcome), cancelled: false"])
  }

  @Test(arguments: outcomes) func `tells a waiter that comes later how it ended`(
    _ outcome: Condition.Outcome
  ) {
    let condition = LineCondition()
    condition.settle(outcome)
    wait(for: condition)
    executor.runAll()
    #expect(journal.entries == ["\(outcome), cancelled: false"])
  }

  @Test func `does not look at its task when nobody asked it to`() {
    let condition = LineCondition()
    let task = wait(for: condition)
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    condition.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled, cancelled: true"])
  }

  @Test(arguments: [true, false])
  func `lets a cancelled task leave a caller's line, also before it has suspended`(
    hasSuspended: Bool
  ) {
    let condition = LineCondition()
    let line = Mutex(WaiterQueue<LineCondition>())
    let ticket = line.withLock { $0.append(condition) }
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
    let condition = LineCondition()
    let task = Task(executorPreference: executor) { [journal] in
      journal.note("\(await condition.wait(leavingWith: { nil }))")
    }
    executor.runAll()
    task.cancel()
    executor.runAll()
    #expect(journal.entries.isEmpty)
    condition.signal()
    executor.runAll()
    #expect(journal.entries == ["signalled"])
  }

  @Test func `stops the program that signals it twice`() async {
    await #expect(processExitsWith: .failure) {
      let condition = LineCondition()
      condition.signal()
      condition.settle(.cancelled)
    }
  }

  @Test func `tells each outcome from each other, from a waiter and from nothing`() async {
    let words = Self.outcomes.map { LineWord($0) }
    #expect(words.map(\.outcome) == Self.outcomes)
    #expect(words.allSatisfy { $0.continuation == nil })
    #expect(LineWord.empty.outcome == nil && LineWord.empty.continuation == nil)
    let outcome = await withUnsafeContinuation { (continuation: LineWord.Continuation) in
      let word = LineWord(continuation)
      #expect(word.outcome == nil && word != .empty)
      // Resumed once: here.
      word.continuation?.resume(returning: .timedOut)
    }
    #expect(outcome == .timedOut)
  }
}
