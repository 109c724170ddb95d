import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct ExpectationTests {
  private let run = MetricTable(
    [
      "makespan": .duration(400_000_000),
      "waiting(t10)": .duration(300_000_000),
      "waiting_p99": .absent(because: "nobody was admitted"),
      "peak_running": .count(3),
      "limit": .count(3),
      "threads_peak": .count(4),
      "fifo_inversions": .count(0),
      "throughput": .rate(30),
      "utilisation": .percent(83.4),
      "little_ratio": .number(1.02),
      "mechanism": .word("limiter"),
    ],
    witnesses: ["makespan": "t12 ended last, at 400 ms"]
  )

  @Test(arguments: [
    "makespan = 400ms", "makespan=400ms", "makespan == 0.4s", "makespan = 410ms ~5%",
    "makespan = 380ms..400ms", "makespan != 300ms", "makespan != 1s..2s", "makespan <= 400ms",
    "makespan < 401ms", "makespan > 399ms", "makespan >= 400ms", "makespan > 0",
    "peak_running = 3", "peak_running = limit", "peak_running <= limit", "peak_running < 3.5",
    "threads_peak <= limit + 1", "threads_peak > limit", "threads_peak = limit+1",
    "threads_peak < limit * 2", "peak_running = threads_peak - 1",
    "waiting(t10) > 250ms", "waiting(t10) < makespan", "waiting(t10) = makespan - 100ms",
    "fifo_inversions = 0", "throughput = 30/s", "throughput > 0.02/ms", "utilisation > 80%",
    "little_ratio = 1 ~5%", "mechanism = limiter", "mechanism = pool|limiter", "mechanism != pool",
  ])
  func `is met`(_ text: String) throws {
    #expect(try Expectation(text).judge(run).isMet)
  }

  @Test(arguments: [
    "makespan = 399ms", "makespan = 401ms", "makespan = 422ms ~5%", "makespan = 401ms..2s",
    "makespan != 400ms", "makespan != 380ms..400ms", "makespan < 400ms", "makespan > 400ms",
    "makespan = 0", "peak_running = 4", "peak_running > limit", "threads_peak <= limit",
    "threads_peak = limit", "threads_peak != limit + 1", "waiting(t10) > 300ms",
    "fifo_inversions > 0", "throughput != 30/s", "utilisation > 84%", "little_ratio = 1 ~1%",
    "mechanism = pool", "mechanism != limiter", "mechanism != pool|limiter",
    // Of a value that is absent nothing is true.
    "waiting_p99 = 0", "waiting_p99 != 0", "waiting_p99 < 1s", "waiting_p99 != 1ms..2ms",
    "makespan > waiting_p99",
  ])
  func `is not met`(_ text: String) throws {
    #expect(try !Expectation(text).judge(run).isMet)
  }

  @Test func `a result says what was expected, what there was, who and when`() throws {
    let missed = try Expectation("makespan = 300ms").judge(run)
    #expect(
      missed.sentence == "makespan is 400 ms, expected 300 ms: t12 ended last, at 400 ms"
    )
    let reference = try Expectation("threads_peak <= limit").judge(run)
    #expect(reference.sentence == "threads_peak is 4, expected at most 3 (limit)")
    let sum = try Expectation("threads_peak > limit + 1").judge(run)
    #expect(sum.sentence == "threads_peak is 4, expected more than 4 (limit + 1)")
    let absent = try Expectation("waiting_p99 < 1s").judge(run)
    #expect(
      absent.sentence == "waiting_p99 is nothing (nobody was admitted), expected less than 1 s"
    )
    let range = try Expectation("makespan = 100ms..200ms").judge(run)
    #expect(range.expected == "from 100 ms to 200 ms")
    let words = try Expectation("mechanism = pool|task-group").judge(run)
    #expect(words.sentence == "mechanism is limiter, expected pool or task-group")
    let slack = try Expectation("little_ratio = 1 ~1%").judge(run)
    #expect(slack.sentence == "little_ratio is 1.02, expected 1 within 1 %")
    let met = try Expectation("makespan = 400ms").judge(run)
    #expect(met.sentence == "makespan is 400 ms: t12 ended last, at 400 ms")
  }

  @Test(arguments: [
    ("makespan", "compares nothing"),
    ("", "compares nothing"),
    ("= 400ms", "is not the name of a figure"),
    ("Make Span = 400ms", "is not the name of a figure"),
    ("waiting(t10 = 4", "is not the name of a figure"),
    ("makespan =", "is not a value"),
    ("makespan = 4 parsecs", "is not a value"),
    ("makespan < limiter|pool", "is not a value"),
    ("makespan = 2s..1s", "is not a range"),
    ("makespan = 2s..3", "is not a range"),
    ("makespan < 1s..2s", "is not a range"),
    ("makespan < 1s ~5%", "after ~ comes"),
    ("makespan = 1s ~5", "after ~ comes"),
  ])
  func `what cannot be read is refused with what would be right`(_ text: String, part: String) {
    let error = #expect(throws: ExpectationError.self) { try Expectation(text) }
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    ("makspan = 400ms", "no figure 'makspan'"),
    ("waiting(t99) > 1s", "no figure 'waiting(t99)'"),
    ("makespan <= limti", "no figure 'limti'"),
    ("makespan = 400", "makespan is a duration, such as 15ms"),
    ("makespan = fast", "no figure 'fast'"),
    ("peak_running = 3ms", "peak_running is a whole number"),
    ("peak_running <= limit + 1ms", "cannot be added to it"),
    ("mechanism = 3", "mechanism is a word"),
    ("peak_running = few|many", "peak_running is a whole number"),
  ])
  func `what cannot be judged is refused with what would be right`(
    _ text: String,
    part: String
  ) throws {
    let expectation = try Expectation(text)
    let error = #expect(throws: ExpectationError.self) { try expectation.judge(run) }
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test(arguments: [
    (MetricValue.duration(0), "0 ns"), (.duration(999), "999 ns"), (.duration(1_500), "1.5 us"),
    (.duration(33_333_333), "33.333 ms"), (.duration(400_000_000), "400 ms"),
    (.duration(12_400_000_000), "12.4 s"), (.count(12), "12"), (.rate(30), "30/s"),
    (.percent(5.25), "5.25 %"), (.number(-0.5), "-0.5"), (.number(0.0001), "0"),
    (.word("limiter"), "limiter"), (.absent(because: "nobody waited"), "nothing (nobody waited)"),
  ])
  func `values are written as people read them`(_ value: MetricValue, text: String) {
    #expect(value.description == text)
  }

  @Test(arguments: [
    ("400ms", MetricValue.duration(400_000_000)), ("1.5s", .duration(1_500_000_000)),
    ("2 m", .duration(120_000_000_000)), ("250us", .duration(250_000)), ("3", .count(3)),
    ("0.5", .number(0.5)), ("5%", .percent(5)), ("5 %", .percent(5)), ("30/s", .rate(30)),
    ("2/ms", .rate(2000)),
  ])
  func `values are read with their units`(_ text: String, value: MetricValue) {
    #expect(MetricValue(text) == value)
  }

  @Test(arguments: ["", "ms", "-3", "1.2.3", "3 apples", ".5", "9999999999999m"])
  func `what is not a value is not read as one`(_ text: String) {
    #expect(MetricValue(text) == nil)
  }
}
