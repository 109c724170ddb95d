import TestSupport
import Testing

@testable import Mechanisms

@Suite(.watched) struct `An error of real work` {
  private func event(_ time: Int64, _ task: Int, _ kind: TraceEvent.Kind) -> TraceEvent {
    TraceEvent(time: time, task: TaskID(task), kind: kind)
  }

  private var events: [TraceEvent] {
    let full = ErrorText("the disk is full")
    return (1...3).flatMap { task in
      [
        event(0, task, .arrived), event(0, task, .admitted),
        event(5, task, .error(task == 2 ? ErrorText("no answer") : full)), event(5, task, .failed),
      ]
    } + [event(6, 4, .arrived), event(6, 4, .admitted), event(7, 4, .failed)]
  }

  @Test func `is told once for all tasks that it ended, the commonest first`() {
    let facts = RunFacts(tasks: 4, limit: nil, promisesOrder: false, serviceHoldsWorker: false)
    let summary = RunSummary(events: events, facts: facts)
    #expect(summary.errors.map(\.text) == ["the disk is full", "no answer"])
    #expect(summary.errors.map(\.tasks) == [2, 1])
    #expect(summary.errors.map(\.first) == [TaskID(1), TaskID(2)])
    // A failure that was asked for is none of them.
    #expect(summary.failed == 4)
    #expect(summary.violations.isEmpty)
  }

  @Test func `is what 'why' says of its task, and of no other`() throws {
    let facts = RunFacts(tasks: 4, limit: nil, promisesOrder: false, serviceHoldsWorker: false)
    let one = try #require(Why(TaskID(2), events: events, facts: facts))
    #expect(one.text.hasSuffix("its work went wrong: no answer"))
    let other = try #require(Why(TaskID(4), events: events, facts: facts))
    #expect(!other.text.contains("wrong"))
  }

  @Test func `keeps its number when there are too many others, which are told as one`() {
    var texts = ErrorText.Texts(most: 2)
    let known = ["a", "b"].map { texts.number(of: $0) }
    let others = ["c", "d"].map { texts.number(of: $0) }
    #expect(others[0] == others[1] && !known.contains(others[0]))
    #expect(["a", "b"].map { texts.number(of: $0) } == known)
    #expect(texts.all == ["a", "b", "another error, of too many different ones"])
  }

  @Test func `keeps its text`() {
    #expect(ErrorText("a text").text == "a text")
    #expect(ErrorText("a text") == ErrorText("a text"))
    #expect(ErrorText("a text") != ErrorText("another text"))
  }
}
