internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization

extension Command {
  static let spawn = Command(
    "spawn",
    [Parameter("N", .count), Parameter("MECH", .specimenOrMechanism, optional: true)],
    keys: Keys.workload + [RunName.key],
    summary: "as 'run', but in the background: the prompt comes back at once",
    details: """
      On the wall clock the tasks go on by themselves: 'watch' them, 'wait' for them. In virtual \
      time nothing happens until 'advance D' or 'idle' lets time pass. More may be spawned into \
      the same run; 'wait' ends it and shows the result. Several go on beside each other by their names: name=b, \
      where none is called so, begins another run, on any clock, and what is spawned without a name joins \
      the latest. A run is looked at, steered and compared with others by its name: 'limit 5 a', \
      'timeline of a', 'diff a b', 'wait all'.
      """,
    examples: [
      "spawn 6 limiter limit=2 work=100ms; advance 150ms; status; wait",
      "spawn 8 gcd-gate limit=4 work=10ms; wait",
      "run 6 limiter limit=2 name=a; spawn 6 limiter limit=3 name=b; advance 150ms; diff a b; wait",
      "spawn 20 pool limit=3 name=a; spawn 30 limiter limit=3 name=b; advance 250ms all; limit 5 b; wait all",
    ]
  ) { session, arguments in try await session.spawn(arguments) }
}

extension Session {
  fileprivate func spawn(_ arguments: Arguments) async throws -> Outcome {
    var settings = settings
    let name = try nameOfRun(arguments)
    let background = name.map { backgrounds.named($0) } ?? background
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
    let tasks = experiment.workload.count + (background?.run.plan.count ?? 0)
    let others = backgrounds.all.filter { $0 !== background }
    try checkMemory(of: others.reduce(tasks) { $0 + $1.run.plan.count }, arguments)
    if let background, name == nil { tellWhichIsMeant(background) }
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
    } thenForNobody: {
      _ = await $0.finish()
    }
    guard let spawned else {
      takeFromBackground(target)
      return answer(json: "", Self.gaveUp(tasks))
    }
    putInBackground(target)
    guard let first = spawned.first, let last = spawned.last else { return .done }
    let members: [(StaticString, JSONObject.Value)] =
      [
        ("mechanism", .string(experiment.mechanism.id)), ("tasks", .number(spawned.count)),
        ("first", .string(label(first.number, target))),
        ("last", .string(label(last.number, target))),
      ] + called(target)
    // The run that is meant by commands without a name needs none.
    let which = backgrounds.isSeveral && target !== backgrounds.latest ? " \(target.label)" : ""
    let next =
      target.virtual == nil
      ? "'watch\(which)' to see them, 'wait\(which)' to wait."
      : "Time stands still: 'advance 50ms\(which)' or 'idle\(which)' lets it pass."
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

  /// The name of the run that the tasks are for: of one that goes on, or of one to begin.
  private func nameOfRun(_ arguments: Arguments) throws(ShellError) -> String? {
    let name = try arguments.value(RunName.key, RunName.parse)
    guard name == Self.allRuns, let word = arguments.values[RunName.key.name] else { return name }
    throw ShellError("'all' means every run in the background. Choose another name", at: word)
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
      "\(running.mechanism.id)\(limit) runs in the background. Spawn more into it, 'wait' for it, or begin "
      + "another beside it with a new name="
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
        Keys.capacity, experiment.serverCapacity == running.serverCapacity,
        "has \(running.serverCapacity.map { "capacity=\($0)" } ?? "no capacity=") for its server"
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
}
