import Mechanisms
import TestSupport
import Testing

@Suite(.watched)
struct WhyTests {
  static let facts = RunFacts(tasks: 9, limit: 2, promisesOrder: true, serviceHoldsWorker: false)
  static let millisecond: Int64 = 1_000_000

  static func why(_ task: Int, _ lines: [(Int64, Int, TraceEvent.Kind, Int?)]) -> Why? {
    let events = lines.map {
      TraceEvent(
        time: $0.0 * millisecond,
        task: TaskID($0.1),
        kind: $0.2,
        cause: $0.3.map { TaskID($0) }
      )
    }
    return Why(TaskID(task), events: events, facts: facts)
  }

  @Test
  func `the wait, the tasks ahead and the departure that ended it`() {
    let why = Self.why(
      7,
      [
        (100, 3, .arrived, nil), (100, 3, .admitted, nil), (150, 5, .arrived, nil),
        (150, 5, .admitted, nil), (200, 7, .arrived, nil), (320, 3, .finished, nil),
        (320, 7, .admitted, 3), (400, 7, .finished, nil),
      ]
    )
    #expect(
      why?.text == "t07 waited 120 ms behind t03 and t05 in service; "
        + "t03's departure admitted it at 320 ms; "
        + "it was in service for 80 ms and finished at 400 ms"
    )
  }

  @Test
  func `without a cause the departure before the admission is named as no more than that`() {
    let why = Self.why(
      2,
      [
        (0, 1, .arrived, nil), (0, 1, .admitted, nil), (5, 2, .arrived, nil),
        (9, 1, .failed, nil), (9, 2, .admitted, nil), (12, 2, .cancelled(.running), nil),
      ]
    )
    #expect(why?.causeIsKnown == false)
    #expect(
      why?.text == "t02 waited 4 ms behind t01 in service; "
        + "it was admitted at 9 ms, just after t01 departed; "
        + "it was in service for 3 ms and was cancelled at 12 ms"
    )
  }

  @Test
  func `who is admitted a moment after it arrived, with permits free, waited behind nobody`() {
    let lines: [(Int64, Int, TraceEvent.Kind, Int?)] = [
      (0, 1, .arrived, nil), (0, 1, .admitted, nil), (5, 2, .arrived, nil),
      (9, 2, .admitted, nil), (12, 2, .finished, nil),
    ]
    #expect(
      Self.why(2, lines)?.text
        == "t02 was admitted at 9 ms, 4 ms after it arrived: 1 of 2 permits were free; "
        + "it was in service for 3 ms and finished at 12 ms"
    )
    // A lower limit leaves none free.
    let lower = [lines[0], lines[1], (1, 0, .limit(1), nil)] + lines[2...]
    #expect(Self.why(2, lower)?.text.hasPrefix("t02 waited 4 ms behind t01 in service") == true)
  }

  @Test
  func `without a limit nobody waits behind anybody`() {
    let lines: [(Int64, TraceEvent.Kind, Int)] = [
      (0, .arrived, 1), (0, .admitted, 1), (5, .arrived, 2), (9, .admitted, 2), (12, .finished, 2),
    ]
    let events = lines.map {
      TraceEvent(time: $0.0 * Self.millisecond, task: TaskID($0.2), kind: $0.1)
    }
    let facts = RunFacts(tasks: 2, limit: nil, promisesOrder: false, serviceHoldsWorker: false)
    #expect(
      Why(TaskID(2), events: events, facts: facts)?.text
        == "t02 began 4 ms after it arrived: no limit held it up; "
        + "it was in service for 3 ms and finished at 12 ms"
    )
  }

  @Test
  func `who needs no permit overtakes nobody and is waited behind by nobody`() {
    let lines: [(Int64, TraceEvent.Kind, Int)] = [
      (0, .arrived, 1), (0, .admitted, 1), (1, .arrived, 4), (1, .admitted, 4), (5, .arrived, 3),
      (6, .arrived, 2), (6, .admitted, 2), (7, .finished, 2), (9, .finished, 1), (9, .admitted, 3),
      (12, .finished, 3),
    ]
    let events = lines.map {
      TraceEvent(time: $0.0 * Self.millisecond, task: TaskID($0.2), kind: $0.1)
    }
    let facts = RunFacts(
      tasks: 4,
      limit: nil,
      promisesOrder: false,
      serviceHoldsWorker: false,
      withoutPermit: [TaskID(2), TaskID(4)]
    )
    #expect(
      Why(TaskID(3), events: events, facts: facts)?.text
        == "t03 waited 4 ms behind t01 in service; it was admitted at 9 ms, just after t01 departed; "
        + "t02 went before it without a permit; it was in service for 3 ms and finished at 12 ms"
    )
    #expect(RunSummary(events: events, facts: facts).fifoInversions == 0)
  }

  @Test
  func `a cause that is still in service is not called a departure`() {
    let why = Self.why(
      2,
      [
        (0, 1, .arrived, nil), (0, 1, .admitted, nil), (5, 2, .arrived, nil),
        (9, 2, .admitted, 1), (12, 2, .finished, nil), (20, 1, .finished, nil),
      ]
    )
    #expect(why?.text.contains("; a step of t01 admitted it at 9 ms; ") == true)
  }

  @Test
  func `a task that did not wait, one that gave up, one that is left, one that never came`() {
    let lines: [(Int64, Int, TraceEvent.Kind, Int?)] = [
      (0, 1, .arrived, nil), (0, 1, .admitted, nil), (1, 2, .arrived, nil),
      (2, 3, .arrived, nil), (4, 2, .cancelled(.waiting), nil), (5, 4, .arrived, nil),
      (5, 4, .rejected, nil),
    ]
    #expect(
      Self.why(1, lines)?.text
        == "t01 arrived at 0 s and was admitted at once; it is still in service"
    )
    #expect(
      Self.why(2, lines)?.text == "t02 waited 3 ms behind t01 in service; "
        + "it was cancelled while waiting, at 4 ms, and never ran"
    )
    #expect(
      Self.why(3, lines)?.text == "t03 has waited since 2 ms behind t01 in service "
        + "and t02 ahead in the queue, and has not been admitted"
    )
    #expect(Self.why(4, lines)?.text == "t04 was rejected at 5 ms")
    #expect(Self.why(9, lines)?.text == "t09 never arrived")
    #expect(Self.why(10, lines) == nil)
  }

  @Test
  func `a long queue is named by its first and counted, and overtakers are named`() {
    var lines: [(Int64, Int, TraceEvent.Kind, Int?)] = [
      (0, 1, .arrived, nil), (0, 1, .admitted, nil),
    ]
    for task in 2...8 { lines.append((1, task, .arrived, nil)) }
    lines += [(2, 9, .arrived, nil), (3, 1, .finished, nil), (3, 9, .admitted, 1)]
    #expect(
      Self.why(8, lines)?.text == "t08 has waited since 1 ms behind t01 in service and "
        + "t02, t03, t04 and 3 more ahead in the queue, and has not been admitted; "
        + "t09 arrived later and went before it"
    )
  }
}
