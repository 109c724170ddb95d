package import Experiments
internal import Mechanisms

/// What an exploration found, for people.
package enum ExplorationText {
  /// The verdict, and if a promise broke the smallest schedule that breaks it, step by step.
  ///
  /// `withTime` says whether how long it took is told: it differs from run to run.
  package static func text(
    _ report: ExplorationReport,
    withTime: Bool,
    _ format: TextFormat
  ) -> String {
    var text = line(pieces(of: report, withTime: withTime), format)
    guard report.schedules > 0 || report.found != nil else {
      return text + line(["no schedule was looked at to its end, so nothing is known."], format)
    }
    text += line(["not asked: " + report.notAsked.joined(separator: "; ")], format)
    guard let minimum = report.found?.minimum else {
      return text + clean(report, format)
    }
    for failure in report.failures {
      let count = report.stoppedAtFirst ? "" : " in \(NumberText.count(failure.count, "schedule"))"
      text += "\(format.glyphs.bad) \(failure.kind)\(count)\n"
    }
    // The smallest may break another promise than the schedule that the search met first.
    if let kind = minimum.violation?.kind, !report.failures.contains(where: { $0.kind == kind }) {
      text += "\(format.glyphs.bad) \(kind), in the smallest schedule that fails\n"
    }
    text += "\n" + story(minimum, format)
    text += "\n" + advice(report.scenario.mechanism, format)
    return text + "replay \(minimum.schedule)\n"
  }

  /// One schedule, step by step, and what it came to.
  package static func story(_ story: ExplorationReport.ScheduleDescription, _ format: TextFormat)
    -> String
  {
    let columns = StepColumns.text(story, format)
    var text = line([heading(story)], format) + (columns ?? steps(story, format))
    if let race = story.race {
      let second = named(race.second, story)
      text += line(
        ["what matters: step \(named(race.first, story)) comes before step \(second)"],
        format
      )
    }
    return text + CodeColumns.text(at: story, format) + "\n" + strips(story, format)
  }

  /// What the schedule came to, in a line.
  package static func outcome(_ story: ExplorationReport.ScheduleDescription, _ format: TextFormat)
    -> String
  {
    guard let violation = story.violation else {
      return "\(format.glyphs.good) every promise is kept on this schedule\n"
    }
    return line(["\(format.glyphs.bad) \(violation.kind): \(violation.message)"], format)
  }

  private static func pieces(of report: ExplorationReport, withTime: Bool) -> [String] {
    let coverage = report.isExhaustive ? "exhaustive" : "bounded"
    var figures =
      "\(coverage): \(NumberText.count(report.schedules, "schedule")), "
      + NumberText.count(report.steps, "step")
    if withTime { figures += ", " + DurationText.text(nanoseconds(report.elapsed)) }
    var pieces = [figures]
    if let between = report.schedulesBetweenJobs {
      pieces.append("inside synchronous code; between jobs all \(NumberText.grouped(between))")
      if report.isCut || report.preemptions == 1 {
        pieces.append("inside=yes looks at more")
      }
    }
    if report.endedProgram {
      pieces.append("the last of them ended the program that explores")
    } else if report.stoppedAtFirst {
      pieces.append("the last of them fails; 'all' goes on behind it")
    } else if report.failed > 0 {
      let share = NumberText.percent(Double(report.failed) / Double(max(1, report.schedules)))
      pieces.append("\(NumberText.grouped(report.failed)) fail (\(share))")
    }
    if let draws = report.draws {
      pieces.append("in order \(NumberText.grouped(draws.inOrder)) of about \(draws.about)")
      pieces.append("then \(NumberText.grouped(draws.drawn)) drawn by \(draws.way)")
    }
    if report.givenUp > 0 {
      pieces.append("\(NumberText.count(report.givenUp, "schedule")) given up as too long")
    }
    if report.wasInterrupted { pieces.append("interrupted") }
    if report.isCut, report.schedulesBetweenJobs == nil {
      pieces.append("schedules= looks at more")
    }
    if report.tasksLost > 0 {
      pieces.append("\(NumberText.count(report.tasksLost, "task")) left waiting for ever")
    }
    return pieces
  }

  /// The longest time left that is told: most explorations end long before the most schedules they may look at.
  private static let longestLeft = 60.0

  /// How far an exploration has come, and how long it can still take where that is not long.
  package static func progress(
    _ schedules: Int,
    of most: Int,
    _ draws: ExplorationReport.Draws? = nil,
    after elapsed: Duration
  ) -> String {
    if let draws, schedules >= draws.inOrder, schedules <= draws.inOrder + draws.wanted {
      let (inOrder, wanted) = (NumberText.grouped(draws.inOrder), NumberText.grouped(draws.wanted))
      return "\(inOrder) of about \(draws.about) schedules in order, then "
        + "\(NumberText.grouped(schedules - draws.inOrder)) of \(wanted) drawn by \(draws.way)"
    }
    guard schedules <= most else {
      return
        "\(NumberText.grouped(schedules)) schedules; after the first \(NumberText.grouped(most)) it "
        + "looks for the shortest failure, or inside the code"
    }
    let looked =
      "\(NumberText.count(schedules, "schedule")), of at most \(NumberText.grouped(most))"
    guard schedules > 0 else { return looked }
    let left = Double(nanoseconds(elapsed)) / 1e9 * (Double(most) / Double(schedules) - 1)
    guard left <= longestLeft else { return looked }
    return looked + ": at most \(DurationText.text(Int64(left.rounded(.up)) * 1_000_000_000)) left"
  }

  private static func clean(_ report: ExplorationReport, _ format: TextFormat) -> String {
    let scenario = report.scenario
    let what =
      "\(NumberText.count(scenario.tasks, "task")), "
      + (scenario.effectiveLimit.map { "limit \($0)" } ?? "no limit")
      + (scenario.cancels ? ", any of them cancelled at any step" : ", nobody cancelled")
      + (scenario.fails ? ", whose bodies throw" : "")
      + (scenario.visits > 1 ? ", \(scenario.visits) visits each" : "")
      + (scenario.resize.map { ", a limit that may become \($0)" } ?? "")
    let bound =
      report.preemptions.map { ", with at most \(NumberText.count($0, "pre-emption"))" } ?? ""
    let sentence =
      report.isExhaustive
      ? "no schedule of \(what)\(bound), breaks a promise."
      : "none of the schedules looked at breaks a promise, with \(what). Others may."
    return line(["\(format.glyphs.good) \(sentence)"], format)
  }

  private static func heading(_ story: ExplorationReport.ScheduleDescription) -> String {
    var extent = NumberText.count(story.length, "step")
    if story.preemptions > 0 { extent += ", " + NumberText.count(story.preemptions, "pre-emption") }
    if story.cancellations > 0 {
      extent += ", " + NumberText.count(story.cancellations, "cancellation")
    }
    return story.isMinimal ? "the smallest that fails, \(extent)" : "the schedule, \(extent)"
  }

  /// A step by its number and what it does: "6 (t02 is cancelled)".
  private static func named(_ number: Int, _ story: ExplorationReport.ScheduleDescription) -> String
  {
    let step = story.steps[number - 1]
    let subject = step.actor == "·" ? "" : "\(step.actor) "
    return "\(number) (\(subject)\(step.description))"
  }

  /// Steps told in one row: some of which nothing can be seen, and one of the same actor.
  struct Row {
    var first: Int
    var step: ExplorationReport.Step

    var numbers: String { first == step.number ? "\(first)" : "\(first)-\(step.number)" }
  }

  /// Puts steps of which nothing can be seen into the row of what they lead to.
  static func rows(_ steps: [ExplorationReport.Step], length: Int) -> [Row] {
    steps.reduce(into: []) { rows, step in
      guard let last = rows.last, last.step.isUneventful, last.step.actor == step.actor,
        step.number != length + 1
      else { return rows.append(Row(first: step.number, step: step)) }
      rows[rows.count - 1].step = step
    }
  }

  private static func steps(_ story: ExplorationReport.ScheduleDescription, _ format: TextFormat)
    -> String
  {
    let rows = rows(story.steps, length: story.length)
    let digits = rows.map(\.numbers.count).max() ?? 1
    let actors = story.steps.map(\.actor.count).max() ?? 3
    let most = story.steps.flatMap(\.moments).map(\.running).max() ?? 0
    let counts = "running \(most)  waiting 0".count
    let room = max(20, format.width - digits - actors - counts - 8)
    var text = ""
    for row in rows {
      let step = row.step
      if row.first == story.length + 1 { text += "  and then\n" }
      for (place, moment) in step.moments.enumerated() {
        let lines = Columns.wrap(moment.words, width: room)
        for (index, told) in (lines.isEmpty ? [""] : lines).enumerated() {
          let (isFirst, isNumbered) = (index == 0, index == 0 && place == 0)
          var line = "  " + Columns.right(isNumbered ? row.numbers : "", digits) + "  "
          line += Columns.left(isNumbered ? actor(step, format) : "", actors) + "  "
          line += isFirst ? Columns.left(told, room) + "  running \(moment.running)" : told
          if isFirst, moment.waiting > 0 { line += "  waiting \(moment.waiting)" }
          while line.last == " " { line.removeLast() }
          text += moment.broke == nil ? line + "\n" : format.style.paint(line, .bad) + "\n"
        }
        text += broken(moment, format)
      }
    }
    return text
  }

  /// What promise was broken then, below what happened.
  static func broken(_ moment: ExplorationReport.Moment, _ format: TextFormat) -> String {
    let words = moment.broke.map { "\(format.glyphs.bad) \($0)" } ?? ""
    return Columns.wrap(words, width: format.width - 5, indent: 2)
      .map { format.style.paint("     " + $0, .bad) + "\n" }.joined()
  }

  private static func actor(_ step: ExplorationReport.Step, _ format: TextFormat) -> String {
    step.actor == "·" && format.glyphs.isASCII ? "." : step.actor
  }

  /// A row for each task, a column for each step.
  private static func strips(_ story: ExplorationReport.ScheduleDescription, _ format: TextFormat)
    -> String
  {
    let glyphs = format.glyphs
    let room = format.width - 9
    // A step has a column for each of its moments, and its number above the first.
    let columns = story.steps.flatMap { step in
      step.moments.enumerated().map { (number: $0 == 0 ? step.number : nil, states: $1.states) }
    }
    // A blank between the numbers while they fit, so that the steps can be told apart.
    let spaced = String(story.steps.count).count + 1
    let width = columns.count * spaced <= room ? spaced : 1
    let shown = columns.prefix(room / width)
    let numbers = shown.map { column -> String in
      let label = column.number.map { String(width > 1 ? $0 : $0 % 10) } ?? ""
      return Columns.left(label, width)
    }
    var text = "  step   " + numbers.joined()
    while text.last == " " { text.removeLast() }
    text += "\n"
    for task in 0..<story.tasks {
      var row = "  " + Columns.left(TaskID(task + 1).label(amongst: story.tasks), 7)
      var before = ExplorationReport.TaskState.absent
      for column in shown {
        let state = column.states[task]
        let glyph: Character =
          switch state {
          case .absent: " "
          case .waiting: glyphs.waiting
          case .running: glyphs.running
          case .ended(let end):
            if state == before { " " } else { Self.glyph(of: end, glyphs) }
          }
        let isHeld = state == .waiting || state == .running
        row += String(glyph) + String(repeating: isHeld ? glyph : " ", count: width - 1)
        before = state
      }
      while row.last == " " { row.removeLast() }
      text += row + "\n"
    }
    return text
  }

  private static func glyph(of end: ExplorationReport.TraceEnd, _ glyphs: GlyphSet) -> Character {
    switch end {
    case .finished: glyphs.finished
    case .failed: glyphs.failed
    case .cancelled: glyphs.cancelled
    }
  }

  /// What is wrong, and where to read how it is done right: the last paragraph of the explanation.
  private static func advice(_ mechanism: CatalogueEntry, _ format: TextFormat) -> String {
    guard let defect = mechanism.profile.defect else { return "" }
    let paragraphs = mechanism.profile.explanation.split(separator: "\n\n")
    let code = paragraphs.last.map { " \($0)" } ?? ""
    return line(["tip: \(defect).\(code) See 'explain \(mechanism.id)'"], format)
  }

  private static func line(_ pieces: [String], _ format: TextFormat) -> String {
    Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
      .flatMap { Columns.wrap($0, width: format.width, indent: 2) }
      .map { $0 + "\n" }.joined()
  }

  private static func nanoseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// The verdict as one JSON object on a line.
  package static func json(_ report: ExplorationReport) -> String {
    let scenario = report.scenario
    func text(_ string: String?) -> JSONObject.Value { string.map { .string($0) } ?? .null }
    var members: [(StaticString, JSONObject.Value)] = [
      ("schema", "lab-exploration/2"),
      ("mechanism", .string(scenario.mechanism.id)),
      ("tasks", .number(scenario.tasks)),
      ("limit", scenario.effectiveLimit.map { .number($0) } ?? .null),
      ("strategy", .string(report.strategy.rawValue)),
      ("coverage", .string(report.isExhaustive ? "exhaustive" : "bounded")),
      ("schedules", .number(report.schedules)),
      ("steps", .number(report.steps)),
      ("violation", text(report.found?.minimum.violation?.kind)),
      ("schedule", text(report.found?.schedule)),
      ("minimal_schedule", text(report.found?.minimum.schedule)),
      ("seed", .unsigned(report.seed)),
      ("cancel", .string(scenario.cancels ? "any" : "none")),
      ("fail", .string(scenario.fails ? "all" : "none")),
      ("visits", .number(scenario.visits)),
      ("resize", scenario.resize.map { .number($0) } ?? .null),
      ("bound", scenario.overtakingBound.map { .number($0) } ?? .null),
      ("fair", scenario.fair.map { .number($0) } ?? .null),
      ("failed", .number(report.failed)),
      ("granularity", scenario.inside ? "synchronization" : "jobs"),
      ("preemption_bound", report.preemptions.map { .number($0) } ?? .null),
      ("given_up", .number(report.givenUp)),
      ("first_failure_at", report.firstFailureAt.map { .number($0) } ?? .null),
      ("not_asked", .array(report.notAsked.map { .string($0) })),
      ("schedules_between_jobs", report.schedulesBetweenJobs.map { .number($0) } ?? .null),
      ("elapsed_ns", .number(Int(nanoseconds(report.elapsed)))),
    ]
    if let estimate = report.estimate {
      members.append(("estimated_schedules", .number(Int(min(estimate.rounded(), 1e18)))))
    }
    if let draws = report.draws { members.append(("instead", .object(json(draws)))) }
    if report.wasInterrupted { members.append(("interrupted", "yes")) }
    return JSONObject.line(members)
  }

  private static func json(_ draws: ExplorationReport.Draws) -> [(StaticString, JSONObject.Value)] {
    [
      ("strategy", draws.depth == nil ? "random" : "pct"),
      ("depth", draws.depth.map { .number($0) } ?? .null),
      ("seed", .unsigned(draws.seed)),
      ("in_order", .number(draws.inOrder)),
      ("room", .number(draws.room)),
      ("drawn", .number(draws.drawn)),
      ("agents", .number(draws.agents)),
      ("longest", .number(draws.steps)),
      ("chance_one_in", draws.chance.map { .number(Int(min((1 / $0).rounded(), 1e18))) } ?? .null),
    ]
  }

  /// What a replayed schedule came to, as one JSON object on a line.
  package static func json(
    _ story: ExplorationReport.ScheduleDescription,
    of scenario: ExplorationScenario
  )
    -> String
  {
    JSONObject.line([
      ("schema", "lab-replay/1"), ("mechanism", .string(scenario.mechanism.id)),
      ("tasks", .number(scenario.tasks)),
      ("limit", scenario.effectiveLimit.map { .number($0) } ?? .null),
      ("steps", .number(story.length)),
      ("violation", story.violation.map { .string($0.kind) } ?? .null),
      ("message", story.violation.map { .string($0.message) } ?? .null),
      ("schedule", .string(story.schedule)),
    ])
  }
}
