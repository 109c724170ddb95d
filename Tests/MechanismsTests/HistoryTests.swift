import Mechanisms
import TestSupport
import Testing

/// The judge of the conformance suite, judged.
@Suite(.watched) struct `A history` {
  private static func faults(_ entries: [(Int, TraceEvent.Kind)], limit: Int? = 1) -> [String] {
    History(entries: entries.map { History.Entry($0.0, $0.1) }).faults(limit: limit)
  }

  @Test func `of sound lives has no faults`() {
    #expect(
      Self.faults([
        (1, .arrived), (2, .arrived), (3, .arrived), (4, .arrived), (1, .blocked), (1, .admitted),
        (1, .progress(5)), (3, .cancelled(.waiting)), (1, .finished), (2, .admitted), (2, .failed),
        (4, .rejected),
      ]) == []
    )
  }

  @Test func `with more inside than the limit is found out`() {
    let both: [(Int, TraceEvent.Kind)] = [
      (1, .arrived), (2, .arrived), (1, .admitted), (2, .admitted), (1, .finished), (2, .finished),
    ]
    #expect(Self.faults(both) == ["2 ran at once, limit 1"])
    #expect(Self.faults(both, limit: 2) == [])
    #expect(Self.faults(both, limit: nil) == [])
  }

  @Test func `without an end, or with two, is found out`() {
    #expect(Self.faults([(1, .arrived), (1, .admitted)]) == ["task 1 ended 0 times"])
    #expect(
      Self.faults([(1, .arrived), (1, .admitted), (1, .finished), (1, .failed)])
        == ["task 1 ended 2 times"]
    )
  }

  @Test func `in which a cancelled waiter ran is found out`() {
    #expect(
      Self.faults([(1, .arrived), (1, .admitted), (1, .cancelled(.waiting))])
        == ["task 1 ran although it was turned away"]
    )
    #expect(
      Self.faults([(1, .arrived), (1, .cancelled(.waiting)), (1, .admitted)])
        == ["task 1 went on after its end", "task 1 ran although it was turned away"]
    )
  }

  @Test func `in which a task ran without admission, twice or before it came is found out`() {
    #expect(
      Self.faults([(1, .arrived), (1, .finished)]) == ["task 1 ran without being admitted"]
    )
    #expect(
      Self.faults([(1, .arrived), (1, .admitted), (1, .admitted), (1, .finished)])
        == ["task 1 was admitted twice"]
    )
    #expect(
      Self.faults([(1, .admitted), (1, .arrived), (1, .finished)])
        == ["task 1 did not arrive first"]
    )
    #expect(
      Self.faults([(1, .arrived), (1, .arrived), (1, .admitted), (1, .finished)])
        == ["task 1 arrived twice"]
    )
  }
}
