internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization
internal import Tracing
internal import Workloads

extension Command {
  static let spawn = Command(
    "spawn",
    [Parameter("N", .count), Parameter("MECH", .specimenOrMechanism, optional: true)],
    keys: Keys.workload + [RunName.key],
    summary: "as 'run', but in the background: the prompt comes back at once",
    details: """
      On the wall clock the tasks go on by themselves: 'watch' them, 'wait' for them. In virtual \
      time nothing happens until 'advance D' or 'idle' lets time pass. More may be spawned into \
      the same run; 'wait' ends it and shows the result. With a name it can be looked at and held against \
      others by it, before it has ended too: 'timeline of a', 'diff a b'.
      """,
    examples: [
      "spawn 6 limiter limit=2 work=100ms; advance 150ms; status; wait",
      "spawn 8 gcd-gate limit=4 work=10ms; wait",
      "run 6 limiter limit=2 name=a; spawn 6 limiter limit=3 name=b; advance 150ms; diff a b; wait",
    ]
  ) { session, arguments in try await session.spawn(arguments) }

  static let status = Command(
    "status",
    summary: "where the tasks of the background run stand",
    examples: ["spawn 6 limiter limit=2; status; wait"]
  ) { session, arguments in session.showStatus(of: try session.background(arguments)) }

  static let watch = Command(
    "watch",
    summary: "a live view of the background run; q or Ctrl-C leaves it, the tasks go on",
    details:
      "In it, p holds the picture, s sorts, / finds a task, c cancels one, l changes the limit.",
    examples: ["spawn 8 gcd-gate limit=4 work=10ms; watch; wait"]
  ) { session, arguments in try await session.watch(try session.background(arguments)) }

  static let wait = Command(
    "wait",
    summary: "wait until every task of the background run has ended, and show the result",
    examples: ["spawn 6 limiter limit=2; wait"]
  ) { session, arguments in
    let background = try session.background(arguments)
    let (board, count) = (background.board, background.run.plan.count)
    guard board.ended + board.running >= count || !background.run.staysSuspended else {
      throw ShellError(
        "\(background.experiment.mechanism.id) is suspended, so those that wait would never end. 'resume' it first",
        at: arguments.name
      )
    }
    return try await session.wait(for: background)
  }

  static let cancel = Command(
    "cancel",
    [Parameter("tNN", .taskOrAll, repeats: true)],
    summary: "cancel tasks of the background run, several as t05-t07, or 'all' of them",
    examples: [
      "spawn 9 limiter limit=1; cancel t02 t05-t07; wait",
      "spawn 3 limiter limit=1; cancel all; wait",
    ]
  ) { session, arguments in try await session.cancelTasks(arguments) }

  static let advance = Command(
    "advance",
    [Parameter("D", .text)],
    summary: "let virtual time pass in the background run, and tell what happened",
    examples: ["spawn 3 limiter limit=1 work=40ms; advance 50ms; wait"]
  ) { session, arguments in
    guard let word = arguments.places.first else { throw arguments.missing("the time") }
    guard let span = ValueSyntax.duration(word.text) else {
      throw ShellError("'\(word.text)' is no duration. Write 250us, 40ms, 1.5s or 2m", at: word)
    }
    let background = try session.background(arguments)
    return try await session.pass(in: background, arguments) { await $0.advance(by: span) }
  }

  static let idle = Command(
    "idle",
    summary: "let virtual time pass until nothing is left to do in the background run",
    examples: ["spawn 3 limiter limit=1; idle; status; wait"]
  ) { session, arguments in
    let background = try session.background(arguments)
    return try await session.pass(in: background, arguments) { await $0.idle() }
  }

  static let limit = Command(
    "limit",
    [Parameter("K", .count)],
    summary: "change the limit of the background run, where the mechanism can",
    examples: ["spawn 6 limiter limit=1; limit 3; wait"]
  ) { session, arguments in
    let limit = try arguments.place(0, as: "the limit", form: Keys.limit.form, Keys.parseLimit)
    guard let limit else { throw arguments.missing("the limit") }
    return try await session.control(.changeLimit(limit), arguments)
  }

  static let suspend = Command(
    "suspend",
    summary: "admit nobody in the background run until 'resume', where the mechanism can",
    examples: ["spawn 4 operation-queue limit=1 work=5ms; suspend; resume; wait"]
  ) { session, arguments in try await session.control(.suspend, arguments) }

  static let resume = Command(
    "resume",
    summary: "admit again in the background run after 'suspend'",
    examples: ["spawn 4 operation-queue limit=1 work=5ms; suspend; resume; wait"]
  ) { session, arguments in try await session.control(.resume, arguments) }
}

extension Session {
  /// The background run.
  func background(_ arguments: Arguments) throws(ShellError) -> Background {
    guard let background else {
      throw ShellError(
        "nothing runs in the background. Try: spawn 12 limiter limit=3",
        at: arguments.name
      )
    }
    return background
  }

  /// Ends the background run, if there is one, before the program does.
  package func leave() async {
    guard let background else { return }
    let unended = background.run.plan.count - background.board.ended
    // What simulated tasks leave goes with the program, and so many take long to be cancelled.
    if background.experiment.workload.kind.isReal || unended < LargeRuns.tooManyToClear {
      background.run.stop(because: Self.interrupted)
      _ = await background.run.finish()
    }
    putInBackground(nil)
    if unended > 0, !json {
      let were = unended == 1 ? "was" : "were"
      output.write("\(NumberText.count(unended, "task")) had not ended and \(were) cancelled.\n")
    }
  }

  fileprivate func spawn(_ arguments: Arguments) async throws -> Outcome {
    var settings = settings
    if let background {
      // What is not said comes from the run that the tasks join.
      settings.mechanism = background.experiment.mechanism
      settings.limit = background.limit
      settings.kind = background.experiment.workload.kind
      settings.clock = background.experiment.clock
      settings.executor = background.experiment.executor
      settings.workers = background.experiment.chosenWorkers
    }
    if let background { try check(arguments, nameWhatRunsIn: background) }
    let experiment = try experiment(arguments, settings, joining: background)
    let name = try name(ofSpawned: arguments)
    let tasks = experiment.workload.count + (background?.run.plan.count ?? 0)
    try checkMemory(of: tasks, arguments)
    let target: Background
    if let background {
      try check(experiment.workload, fitsInto: background.run, arguments)
      target = background
    } else {
      target = Background(experiment, name: name)
    }
    // Of a million tasks that arrive together each has a first step to take.
    let spawned = await unlessInterrupted(target.run) { run in
      let spawned = run.submit(experiment.workload)
      _ = await (run as? VirtualRun)?.advance(by: 0)
      return spawned
    }
    guard let spawned else {
      await clearAway(target.run)
      putInBackground(nil)
      return answer(json: "", Self.gaveUp(tasks))
    }
    putInBackground(target)
    guard let first = spawned.first, let last = spawned.last else { return .done }
    let members: [(StaticString, JSONObject.Value)] = [
      ("mechanism", .string(experiment.mechanism.id)), ("tasks", .number(spawned.count)),
      ("first", .string(label(first.number, target))),
      ("last", .string(label(last.number, target))),
    ]
    let next =
      target.virtual == nil
      ? "'watch' to see them, 'wait' to wait."
      : "Time stands still: 'advance 50ms' or 'idle' lets it pass."
    let names =
      first.number == last.number
      ? label(first.number, target)
      : "\(label(first.number, target)) to \(label(last.number, target))"
    let lines = Columns.wrap(
      "\(names) spawned. \(next)",
      width: output.format.width
    )
    return answer(
      json: JSONObject.line([("spawned", .object(members))]),
      RunTitle.text(experiment, output.format) + lines.map { $0 + "\n" }.joined()
    )
  }

  /// What the run is to be called; one that goes on already keeps the name that it has, or none.
  private func name(ofSpawned arguments: Arguments) throws(ShellError) -> String? {
    let name = try arguments.value(RunName.key, RunName.parse)
    guard let background, let name, name != background.name else { return name }
    let called = background.name.map { "is called '\($0)'" } ?? "has no name"
    throw ShellError(
      "these tasks join the run in the background, which \(called). Leave name= out, or 'wait' for the run first",
      at: arguments.values[RunName.key.name] ?? arguments.name
    )
  }

  /// A mechanism that is named must be the one that runs: what else may be wrong with it is beside the point.
  private func check(
    _ arguments: Arguments,
    nameWhatRunsIn background: Background
  ) throws {
    guard let word = try arguments.countAndMechanism().mechanism else { return }
    let entry = try Names.mechanism(word)
    let platform = try arguments.value(Keys.platform, Platform.init(rawValue:))
    let running = background.experiment.mechanism.id
    guard entry.id == running || platform.flatMap(entry.model)?.id == running else {
      throw ShellError(somethingElseRuns(in: background), at: word)
    }
  }

  private func somethingElseRuns(in background: Background) -> String {
    let running = background.experiment
    let limit = running.effectiveLimit.map { _ in " limit=\(background.limit)" } ?? ""
    return
      "\(running.mechanism.id)\(limit) runs in the background. Spawn more into it, 'wait' for it, or "
      + "'cancel all' and 'wait'"
  }

  /// More tasks may join a run, but it has one mechanism, one limit and one clock, and what its log is
  /// held to depends on the kind, the urgency and the dependencies of them all.
  func check(
    _ experiment: Experiment,
    joins background: Background,
    _ arguments: Arguments
  ) throws(ShellError) {
    let running = background.experiment
    guard experiment.mechanism.id == running.mechanism.id else {
      throw ShellError(
        somethingElseRuns(in: background),
        at: arguments.values[Keys.platform.name] ?? arguments.word(naming: experiment.mechanism)
          ?? arguments.name
      )
    }
    guard experiment.limit == background.limit || running.mechanism.profile.limit != .any else {
      throw ShellError(
        somethingElseRuns(in: background),
        at: arguments.values[Keys.limit.name] ?? arguments.name
      )
    }
    let (new, present) = (experiment.workload, running.workload)
    let isOnLanes = running.executor != .global
    // Of what owns its threads the resolved clock is the wall clock, whatever was asked for.
    let isSameClock =
      experiment.resolvedClock == running.resolvedClock
      && (experiment.clock != .virtual || running.resolvedClock == .virtual)
    for (key, isSame, what) in [
      (Keys.kind, new.kind == present.kind, "has kind=\(present.kind.rawValue) for all its tasks"),
      (
        Keys.priority, new.priorities == present.priorities,
        "has priority=\(present.priorities.word) for all its tasks"
      ),
      (
        Keys.depends, new.dependencies == present.dependencies,
        "has depends=\(present.dependencies.rawValue) for all its tasks"
      ),
      (
        Keys.executor, (experiment.executor != .global) == isOnLanes,
        isOnLanes ? "is on lanes" : "is not on lanes"
      ),
      (
        Keys.clock, isSameClock,
        running.resolvedClock == .virtual ? "is in virtual time" : "is on the wall clock"
      ),
    ] where !isSame {
      let name = key.name
      throw ShellError(
        "the run in the background \(what). Leave \(name)= out, or 'wait' for the run first",
        at: arguments.values[name] ?? arguments.name
      )
    }
    guard experiment.chosenWorkers == running.chosenWorkers else {
      let count = running.chosenWorkers.map { NumberText.count($0, "worker") }
      let workers = count ?? "a worker for each processor"
      throw ShellError(
        "the run in the background has \(workers). Leave workers= out, or 'wait' for the run first",
        at: arguments.values[Keys.workers.name] ?? arguments.name
      )
    }
    guard experiment.controls.isEmpty else {
      throw ShellError(
        "relimit= and pause= belong to the run's beginning. Use 'limit', 'suspend' and 'resume' now",
        at: arguments.name
      )
    }
  }

  /// The clock of a run counts the time of all its tasks, whenever they were spawned.
  private func check(
    _ workload: Workload,
    fitsInto run: any LiveRun,
    _ arguments: Arguments
  ) throws(ShellError) {
    let plan = run.plan
    let start = Double(max(run.now, plan.map(\.arrival).max() ?? 0))
    let time = plan.reduce(start + workload.pacedArrivals + workload.expectedWork) {
      $0 + Double($1.service)
    }
    let longest = 4 * Experiment.longest
    guard time <= longest else {
      let years = [time, longest].map { Int(($0 / Experiment.year).rounded()) }
      throw ShellError(
        "the run in the background could take \(years[0]) years with these tasks, and may take at most \(years[1]). Spawn fewer or shorter tasks",
        at: arguments.name
      )
    }
  }

  private func label(_ number: Int, _ background: Background) -> String {
    TaskID(number).label(amongst: background.run.plan.count)
  }

  fileprivate func showStatus(of background: Background) -> Outcome {
    let snapshot = background.snapshot
    var board = LiveBoard(plan: snapshot.plan)
    board.take(snapshot.events)
    let now = snapshot.now ?? background.now
    showed(.lastRun)
    let members: [(StaticString, JSONObject.Value)] = [
      ("t", .number(Int(now))), ("tasks", .number(board.plan.count)),
      ("running", .number(board.running)), ("waiting", .number(board.waiting)),
      ("ended", .number(board.ended)),
    ]
    return answer(
      json: JSONObject.line([("status", .object(members))]),
      StatusText.text(board, now: now, output.format)
    )
  }

  fileprivate func watch(_ background: Background) async throws -> Outcome {
    if background.virtual != nil {
      // Nothing moves in virtual time while one looks at it.
      return showStatus(of: background)
    }
    guard output.canShowFrames, !json else { return showStatus(of: background) }
    let ending = await show(background, hint: "q leaves, tasks go on")
    if ending == .finished {
      // Told here, it need not be told above the next line.
      _ = background.hasJustEnded
      return answer(json: "", "every task has ended. 'wait' shows the result.\n")
    }
    interruption.begin()
    return .done
  }

  /// Shows a run in place until all its tasks have ended or the person leaves.
  func show(_ background: Background, hint: String) async -> FrameEnding {
    let facts = background.experiment.facts(tasks: background.run.plan.count)
    return await show(LiveFrames(background, facts: facts, hint: hint))
  }

  func show(_ view: some FrameSource) async -> FrameEnding {
    // While the view is shown Ctrl-C is its own; one that came just before it comes this way.
    let ending = await interruption.whileRunning {
      await output.showFrames({ view.frame($0.format) }, onKey: { view.press($0) })
    } onInterrupt: {
      view.end()
    }
    output.leaveForPrompt(view.typedAhead)
    guard ending == .interrupted || interruption.hasCome else { return ending }
    interruption.interrupt()
    return .interrupted
  }

  fileprivate func wait(for background: Background) async throws -> Outcome {
    if !json, output.canShowFrames { output.writeTransient("waiting; Ctrl-C ends the run") }
    // It is waited for, and cannot be joined any more.
    defer { putInBackground(nil) }
    return await finish(background)
  }

  fileprivate func cancelTasks(_ arguments: Arguments) async throws -> Outcome {
    let background = try background(arguments)
    guard !arguments.places.isEmpty else { throw arguments.missing("the task, or 'all',") }
    let count = background.run.plan.count
    var numbers: [Int] = []
    for word in arguments.places {
      if word.text == "all" {
        numbers = Array(1...max(1, count))
        continue
      }
      guard let range = ValueSyntax.tasks(word.text) else {
        throw ShellError("'\(word.text)' is no task. Write its name, such as t03, or all", at: word)
      }
      guard range.upperBound <= count else {
        throw ShellError(
          "there is no task \(range.upperBound): this run has \(NumberText.count(count, "task"))",
          at: word
        )
      }
      numbers += range
    }
    for number in numbers { background.run.cancel(number) }
    _ = await background.virtual?.advance(by: 0)
    return showStatus(of: background)
  }

  /// Lets virtual time pass and tells what happened meanwhile.
  fileprivate func pass(
    in background: Background,
    _ arguments: Arguments,
    _ pass: (VirtualRun) async -> VirtualRun.Outcome
  ) async throws -> Outcome {
    guard let virtual = background.virtual else {
      throw ShellError(
        "\(background.experiment.mechanism.id) runs on the wall clock, which advances by itself. 'wait' waits for the tasks",
        at: arguments.name
      )
    }
    let before = background.snapshot.events.count
    let outcome = await interruption.whileRunning {
      await pass(virtual)
    } onInterrupt: {
      virtual.stop(because: Self.interrupted)
    }
    let snapshot = background.snapshot
    if !json {
      var news = snapshot
      news.now = nil
      news.events = Array(snapshot.events.dropFirst(before))
      if !news.events.isEmpty { output.write(EventsText.list(news, output.format)) }
    }
    let status = showStatus(of: background)
    guard outcome == .stuck else { return status }
    return answer(
      json: "",
      virtual.standstill + ". 'why tNN' tells what a task waits for; 'wait' ends the run.\n"
    )
  }

  fileprivate func control(_ control: Experiment.Control, _ arguments: Arguments) async throws
    -> Outcome
  {
    let background = try background(arguments)
    let mechanism = background.experiment.mechanism
    guard mechanism.profile.controls.contains(control.needed) else {
      throw ShellError(
        ExperimentError.cannot(mechanism, control.needed).description,
        at: arguments.name
      )
    }
    background.run.perform(control)
    _ = await background.virtual?.advance(by: 0)
    return showStatus(of: background)
  }
}
