internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Keys {
  static let remedy = Key(
    "remedy",
    form: ListText.all(PriorityInversion.Remedy.allCases.map(\.rawValue), "or"),
    help: "what is done about it",
    candidates: PriorityInversion.Remedy.allCases.map(\.rawValue)
  )
  static let medium = Key(
    "medium",
    form: "a whole number from 1 to 1000",
    help: "how many tasks of medium priority there are",
    candidates: ["1", "5", "20"]
  )
}

extension Keys {
  fileprivate static let computing = Key(
    "work",
    form: "a duration such as 20ms",
    help: "how long each task of medium priority computes",
    candidates: ["10ms", "40ms"]
  )
}

extension Command {
  static let inversion = Command(
    "inversion",
    keys: [Keys.remedy, Keys.medium, Keys.computing],
    summary: "an urgent task waits for a permit that the least urgent one holds, in virtual time",
    details: """
      One worker that heeds priorities, one permit. t01 is of low priority, takes the permit and \
      suspends with it; then come tasks of medium priority, which need the worker but no permit, \
      each computing for work=; then the last task, of high priority, which needs the permit.

      remedy=ceiling makes the task that takes the permit as urgent as the most urgent; inherit \
      does so when somebody urgent comes to wait; short does not suspend while holding the permit.
      """,
    examples: ["inversion", "inversion remedy=inherit", "inversion medium=20"]
  ) { session, arguments in
    var inversion = PriorityInversion()
    if let remedy = try arguments.value(Keys.remedy, PriorityInversion.Remedy.init(rawValue:)) {
      inversion.remedy = remedy
    }
    if let medium = try arguments.value(Keys.medium, { ValueSyntax.count($0, in: 1...1000) }) {
      inversion.medium = medium
    }
    if let work = try arguments.value(Keys.computing, ValueSyntax.duration) {
      inversion.work = work
    }
    let run = await inversion.run()
    session.keep(run)
    if session.json {
      RunJSONLines.write(run) { session.output.write($0) }
      return .done
    }
    let format = session.output.format
    let urgent = run.label(of: .init(inversion.urgentTask))
    let title = [
      "t01 low, \(NumberText.count(inversion.medium, "task")) medium, \(urgent) high",
      "one permit, one worker", "remedy \(inversion.remedy.rawValue)", "virtual time",
    ]
    let lines = Columns.flow(title, separator: format.glyphs.separator, width: format.width)
    session.output.write(lines.map { $0 + "\n" }.joined())
    session.output.write(
      "\n" + Gantt.tasks(run, format) + "\n" + SummaryText.line(run, run.summary, format)
    )
    return .done
  }
}
