internal import Basics
internal import Experiments
internal import LessonBook
internal import Rendering
internal import Tracing

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

  static func parseExecutors(_ text: String) -> [VisitCost.Executor]? {
    let names = text.split(separator: ",", omittingEmptySubsequences: false)
    let executors = names.compactMap { VisitCost.Executor(rawValue: String($0)) }
    return executors.count == names.count ? executors : nil
  }
}

extension Command {
  static let visits = Command(
    "visits",
    keys: [Keys.visitsExecutor, Keys.visitsTasks, Keys.visitsLimit],
    summary: "what a visit to the limiter costs, by what runs the tasks, on the wall clock",
    details: """
      Each task visits the limiter 500 times and yields while it has the permit. With more tasks than \
      permits, each visit waits for another task's permit. How long a visit takes is worth nothing \
      without the share of visits that waited: on an executor that is unfair, nobody does. Fair, all \
      tasks are nearly done when the first is.
      """,
    examples: [
      "visits", "visits executor=lanes", "visits executor=global,lanes,unfair",
      "visits tasks=2 limit=1",
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
    for executor in try arguments.value(Keys.visitsExecutor, Keys.parseExecutors) ?? [.global] {
      if session.interruption.hasCome { break }
      cost.executor = executor
      let outcome = await cost.run()
      session.note(VisitMetrics(outcome: outcome))
      outcomes.append(outcome)
    }
    return session.answer(
      json: outcomes.map(VisitText.json).joined(),
      VisitText.text(outcomes, cost, session.output.format)
    )
  }
}

/// The figures of one executor's visits, as checks name them.
struct VisitMetrics: MetricSource {
  let outcome: VisitCost.Outcome

  private var values: [(name: String, value: MetricValue)] {
    [
      ("executor", .word(outcome.executor.rawValue)), ("tasks", .count(outcome.tasks)),
      ("limit", .count(outcome.limit)), ("visits", .count(outcome.visits)),
      ("visit", .duration(outcome.nanosecondsPerVisit)), ("waited", .percent(outcome.waited)),
      ("first_done", .percent(outcome.firstDone)),
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
      "\(NumberText.count(cost.visitsEach, "visit")) each, across a yield", "wall clock",
    ]
    let lines = Columns.flow(title, separator: format.glyphs.separator, width: format.width)
    return lines.map { $0 + "\n" }.joined() + "\n" + outcomes.map(row).joined()
  }

  private static func row(_ outcome: VisitCost.Outcome) -> String {
    """
    \(outcome.executor.rawValue): a visit takes \(DurationText.text(outcome.nanosecondsPerVisit))
      \(NumberText.percent(outcome.waited / 100)) of the visits waited
      \(NumberText.percent(outcome.firstDone / 100)) of all visits had begun when the first task was done

    """
  }

  static func json(_ outcome: VisitCost.Outcome) -> String {
    JSONObject.line([
      ("schema", "lab-visits/1"), ("executor", .string(outcome.executor.rawValue)),
      ("tasks", .number(outcome.tasks)), ("limit", .number(outcome.limit)),
      ("visits", .number(outcome.visits)), ("visit_ns", .number(Int(outcome.nanosecondsPerVisit))),
      ("waited_percent", .number(Int(outcome.waited.rounded()))),
      ("first_done_percent", .number(Int(outcome.firstDone.rounded()))),
    ])
  }
}
