internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let timeline = Command(
    "timeline",
    [Parameter("VIEW", .choice(["tasks", "workers"]), optional: true)],
    keys: [Keys.ofRun],
    summary: "draw the last run over time, a row for each task or each worker",
    examples: [
      "run 12 limiter limit=3; timeline", "run 8 gcd-gate limit=2 work=20ms; timeline workers",
    ]
  ) { session, arguments in
    let run = try session.runToShow(arguments)
    let view = try arguments.place(
      0,
      as: "the view",
      form: "tasks or workers",
      candidates: ["tasks", "workers"]
    ) {
      text in
      ["tasks", "workers"].first { !text.isEmpty && $0.hasPrefix(text) }
    }
    let (format, json, describes) =
      (session.output.format, session.json, session.settings.describe)
    let ofWorkers = view == "workers"
    let text = await session.unlessInterrupted(of: run) { run in
      switch (ofWorkers, json, describes) {
      case (true, true, _): TimelineText.jsonWorkers(run)
      case (false, true, _): TimelineText.jsonTasks(run)
      case (true, false, true): TimelineText.describeWorkers(run)
      case (false, false, true): TimelineText.describeTasks(run)
      case (true, false, false): Gantt.workers(run, format, legend: true)
      case (false, false, false): Gantt.tasks(run, format, legend: true)
      }
    }
    guard let text else { return session.gaveUpView() }
    session.output.write((json ? "" : session.heading(run)) + text)
    return .done
  }

  static let stats = Command(
    "stats",
    keys: [Keys.ofRun],
    summary: "the figures of the last run: waiting, service and response times, order, threads",
    details: """
      Of a run that goes on in the background, the views show what it has come to by now. Its waiting times \
      then count each task that still waits with its wait until now, its service times each task in \
      service with its service until now, its response times both with the time since their arrival; and \
      instead of a makespan it is told how much time has passed since the first arrival.
      """,
    examples: ["run 40 limiter limit=4 work=exp:20ms; stats"]
  ) { session, arguments in
    let run = try session.runToShow(arguments)
    let (format, json) = (session.output.format, session.json)
    let text = await session.unlessInterrupted(of: run) { run in
      let summary = run.summary
      return json
        ? RunJSONLines.summaryLine(run, summary) : SummaryText.stats(run, summary, format)
    }
    guard let text else { return session.gaveUpView() }
    return session.answer(json: text, session.heading(run) + text)
  }

  static let events = Command(
    "events",
    [Parameter("tNN", .task, optional: true)],
    keys: [Keys.ofRun],
    summary: "what happened in the last run, one line an event, of all tasks or of one",
    examples: ["run 3 limiter limit=1; events", "run 3 limiter limit=1; events t02"]
  ) { session, arguments in
    let run = try session.runToShow(arguments)
    let task = try session.task(arguments, of: run)
    if session.json {
      RunJSONLines.writeEvents(of: run, only: task) { session.output.write($0) }
      return .done
    }
    let format = session.output.format
    let text = await session.unlessInterrupted(of: run) { EventsText.list($0, of: task, format) }
    guard let text else { return session.gaveUpView() }
    session.writePages(session.heading(run) + text)
    return .done
  }

  static let why = Command(
    "why",
    [Parameter("tNN", .task)],
    keys: [Keys.ofRun],
    summary: "why a task of the last run waited as long as it did",
    examples: [
      "run 12 limiter limit=3; why t12",
      "compare 12 limiter pool limit=3; why t08 of pool",
    ]
  ) { session, arguments in
    let run = try session.runToShow(arguments)
    guard let task = try session.task(arguments, of: run) else {
      throw arguments.missing("the task")
    }
    let told = await session.unlessInterrupted(of: run) { run -> String? in
      guard let why = Why(task, events: run.events, facts: run.facts, now: run.now) else {
        return nil
      }
      let ready = run.readyWithoutWorker(why.life).map {
        "; for \(DurationText.text($0)) of its service it was ready, but had no worker"
      }
      return why.text + (ready ?? "") + run.priorityText(of: task)
    }
    guard let told else { return session.gaveUpView() }
    guard let text = told else { throw arguments.missing("the task") }
    let lines = Columns.wrap(text, width: session.output.format.width)
    return session.answer(
      json: JSONObject.line([("why", .string(text))] + UnderWayText.members(run)),
      session.heading(run) + lines.map { $0 + "\n" }.joined()
    )
  }
}

extension Run {
  /// The task's priority, where not all have the same.
  fileprivate func priorityText(of task: TaskID) -> String {
    guard let own = plan.first(where: { $0.number == task.number })?.priority,
      plan.contains(where: { $0.priority != own })
    else { return "" }
    return "; its priority is \(own.rawValue)"
  }
}

extension Session {
  /// The run that is named; or else the latest in the background, as far as it has come, or the last that ended.
  func lastRun(_ arguments: Arguments) throws(ShellError) -> Run {
    if let word = arguments.values[Keys.ofRun.name] { return try run(named: word) }
    if let background { return background.snapshot }
    guard let lastRun = runs.last else {
      throw ShellError(
        "there is no run to show yet. Try: run 12 limiter limit=3",
        at: arguments.name
      )
    }
    return lastRun
  }

  /// The same, which is then what was shown last.
  fileprivate func runToShow(_ arguments: Arguments) throws(ShellError) -> Run {
    let run = try lastRun(arguments)
    if arguments.values[Keys.ofRun.name] == nil, let background { tellWhichIsMeant(background) }
    // What goes on is written as far as it has come by then.
    let ended = arguments.values[Keys.ofRun.name].flatMap {
      backgrounds.called($0.text) == nil ? $0 : nil
    }
    showed(ended.map { .run(run, named: $0.text) } ?? .lastRun)
    return run
  }

  /// The lines above each view of a run whose threads are a model's, and of one that goes on; empty for
  /// others.
  fileprivate func heading(_ run: Run) -> String {
    let goesOn = UnderWayText.lines(run, output.format)
    guard run.platform != nil else { return goesOn }
    let processors = run.workers.map { ", \(NumberText.count($0, "processor"))" } ?? ""
    return "a model: \(run.mechanism)\(processors)\n" + goesOn
  }

  /// The task of the run that the first word names; nil where there is no word.
  func task(_ arguments: Arguments, of run: Run) throws(ShellError) -> TaskID? {
    let number = try arguments.place(
      0,
      as: "the task",
      form: "its name, such as t03",
      ValueSyntax.task
    )
    guard let number else { return nil }
    guard number <= run.plan.count else {
      throw ShellError(
        "there is no task \(number): this run has \(NumberText.count(run.plan.count, "task"))",
        at: arguments.places[0]
      )
    }
    return TaskID(number)
  }
}
