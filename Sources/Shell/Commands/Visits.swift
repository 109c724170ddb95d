internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

extension Keys {
  static let visitsExecutor = Key(
    "executor",
    form: ListText.all(VisitCost.Executor.allCases.map(\.rawValue), "or") + ", or several",
    help: "what runs the tasks: Swift's pool, the work-stealing executor, or one that is unfair",
    candidates: VisitCost.Executor.allCases.map(\.rawValue)
      + [VisitCost.Executor.allCases.map(\.rawValue).joined(separator: ",")]
  )
  static let visitsTasks = Key(
    "tasks",
    form: "a whole number from 1 to 1000",
    help: "how many tasks visit the limiter; 64 unless told"
  )
  static let visitsLimit = Key(
    "limit",
    form: "a whole number from 1 to 1000",
    help: "how many permits the limiter has; 4 unless told"
  )

  static let visitsDeparture = Key(
    "permits",
    form: ListText.all(VisitCost.Departure.allCases.map(\.rawValue), "or") + ", or several",
    help: "what becomes of a permit while tasks wait: handed to the first of them, or free for all",
    candidates: VisitCost.Departure.allCases.map(\.rawValue)
      + [VisitCost.Departure.allCases.map(\.rawValue).joined(separator: ",")]
  )
  static let visitsBody = Key(
    "body",
    form: ListText.all(VisitCost.Body.allCases.map(\.rawValue), "or"),
    help: "what a task does with its permit; it yields unless told",
    candidates: VisitCost.Body.allCases.map(\.rawValue)
  )

  /// A choice of words between commas.
  static func several<Word: RawRepresentable<String>>(_ text: String) -> [Word]? {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
    let words = names.compactMap { Word(rawValue: String($0)) }
    return words.count == names.count ? words : nil
  }
}

extension Command {
  static let visits = Command(
    "visits",
    keys: [
      Keys.visitsExecutor, Keys.visitsTasks, Keys.visitsLimit, Keys.visitsDeparture,
      Keys.visitsBody,
    ],
    summary: "what a visit to the limiter costs, by what runs the tasks, on the wall clock",
    details: """
      Each task visits the limiter 500 times and yields while it has the permit. With more tasks than \
      permits, each visit waits for another task's permit. How long a visit takes is worth nothing \
      without the share of visits that waited: on an executor that is unfair, nobody does. Fair, all \
      tasks are nearly done when the first is.
      With body=empty there are some 160,000 visits, at least 500 by each task. On a busy machine a \
      task may be done with them before another has a thread: the share that waited says so. \
      permits=barging is the specimen that hands no permit over.
      """,
    examples: [
      "visits", "visits executor=lanes", "visits executor=global,lanes,unfair",
      "visits tasks=2 limit=1", "visits tasks=8 limit=1 body=empty permits=handoff,barging",
    ]
  ) { session, arguments in
    var cost = VisitCost()
    if let tasks = try arguments.value(Keys.visitsTasks, { ValueSyntax.count($0, in: 1...1000) }) {
      cost.tasks = tasks
    }
    if let limit = try arguments.value(Keys.visitsLimit, { ValueSyntax.count($0, in: 1...1000) }) {
      cost.limit = limit
    }
    var outcomes: [VisitCost.Outcome] = []
    if let body = try arguments.value(Keys.visitsBody, { VisitCost.Body(rawValue: $0) }) {
      cost.body = body
    }
    let departures: [VisitCost.Departure]? =
      try arguments.value(Keys.visitsDeparture, { Keys.several($0) })
    let executors: [VisitCost.Executor]? =
      try arguments.value(Keys.visitsExecutor, { Keys.several($0) })
    for executor in executors ?? [.global] {
      for departure in departures ?? [.handoff] {
        if session.interruption.hasCome { break }
        cost.executor = executor
        cost.departure = departure
        outcomes.append(await cost.run())
        session.note(VisitMetrics(outcomes))
      }
    }
    return session.answer(
      json: outcomes.map(VisitText.json).joined(),
      VisitText.text(outcomes, cost, session.output.format)
    )
  }
}

extension [VisitCost.Outcome] {
  /// How many times as long a visit took handed over as it did in the last outcome, on the same executor; nil
  /// where the last is no barging, or nobody handed over before.
  fileprivate var handOffTimes: Double? {
    guard let last, last.departure == .barging,
      let other = self.last(where: { $0.departure == .handoff && $0.executor == last.executor })
    else { return nil }
    return Double(other.nanosecondsPerVisit) / Double(Swift.max(1, last.nanosecondsPerVisit))
  }
}

/// The figures of one executor's visits, as checks name them.
struct VisitMetrics: MetricSource {
  private let outcome: VisitCost.Outcome
  private let handOffTimes: Double?

  /// Those of the last of the outcomes, of which there is one at least.
  init(_ outcomes: [VisitCost.Outcome]) {
    outcome = outcomes[outcomes.count - 1]
    handOffTimes = outcomes.handOffTimes
  }

  private var values: [(name: String, value: MetricValue)] {
    let times: MetricValue =
      handOffTimes.map { .number($0) } ?? .absent(because: "no visits were handed over beside it")
    return [
      ("clock", .word("real")), ("executor", .word(outcome.executor.rawValue)),
      ("permits", .word(outcome.departure.rawValue)), ("body", .word(outcome.body.rawValue)),
      ("tasks", .count(outcome.tasks)), ("limit", .count(outcome.limit)),
      ("visits", .count(outcome.visits)),
      ("visit", .duration(outcome.nanosecondsPerVisit)), ("waited", .percent(outcome.waited)),
      ("first_done", .percent(outcome.firstDone)), ("handoff_times", times),
    ]
  }

  var metricForms: [String] { values.map(\.name) }

  func value(of metric: Metric) -> MetricValue? {
    metric.argument == nil ? values.first { $0.name == metric.name }?.value : nil
  }
}

private enum VisitText {
  static func text(
    _ outcomes: [VisitCost.Outcome],
    _ cost: VisitCost,
    _ format: TextFormat
  ) -> String {
    let title = [
      "\(NumberText.count(cost.tasks, "task")), \(NumberText.count(cost.limit, "permit"))",
      "\(NumberText.count(cost.visitsEach, "visit")) each, "
        + (cost.body == .yield ? "across a yield" : "with an empty body"), "wall clock",
    ]
    let lines = Columns.flow(title, separator: format.glyphs.separator, width: format.width)
    return lines.map { $0 + "\n" }.joined() + "\n"
      + outcomes.indices.map { row(Array(outcomes[...$0]), outcomes[$0]) }.joined()
  }

  private static func row(_ before: [VisitCost.Outcome], _ outcome: VisitCost.Outcome) -> String {
    let times = before.handOffTimes.map {
      "  handed over, a visit takes \(NumberText.rate($0)) times as long\n"
    }
    return """
      \(outcome.executor.rawValue)\(outcome.departure == .barging ? ", barging" : ""): a visit takes \(DurationText.text(outcome.nanosecondsPerVisit))
        \(NumberText.percent(outcome.waited / 100)) of the visits waited
        \(NumberText.percent(outcome.firstDone / 100)) of all visits had begun when the first task was done (first_done)

      """ + (times ?? "")
  }

  static func json(_ outcome: VisitCost.Outcome) -> String {
    JSONObject.line([
      ("schema", "lab-visits/1"), ("executor", .string(outcome.executor.rawValue)),
      ("tasks", .number(outcome.tasks)), ("limit", .number(outcome.limit)),
      ("permits", .string(outcome.departure.rawValue)), ("body", .string(outcome.body.rawValue)),
      ("visits", .number(outcome.visits)), ("visit_ns", .number(Int(outcome.nanosecondsPerVisit))),
      ("waited_percent", .number(Int(outcome.waited.rounded()))),
      ("first_done_percent", .number(Int(outcome.firstDone.rounded()))),
    ])
  }
}
