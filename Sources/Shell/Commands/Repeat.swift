internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let repetition = Command(
    "repeat",
    [Parameter("N", .count), Parameter("COMMAND", .line(["run"]), repeats: true)],
    keys: [seedsKey],
    summary: "carry out a run N times, and tell the median and the range of each figure",
    details: """
      The seeds follow one another: the first run has the seed of the run, each later one the next, so each \
      draws tasks of its own. seeds=same repeats the same tasks; what differs then is the machine, and in \
      virtual time nothing. The range is from the least to the most, and in percent of the median. The runs are \
      kept as if each had been typed: 'runs' lists them, 'timeline of 3' shows one. Ctrl-C ends it, \
      and the figures are those of the runs that had ended.
      """,
    examples: [
      "repeat 5 run 12 limiter limit=3 work=exp:100ms",
      "repeat 5 run 20 gcd-semaphore limit=4 work=10ms seeds=same",
    ],
    takesAnyWords: true
  ) { session, arguments in try await session.repeatRun(arguments) }

  static let seedsKey = Key(
    "seeds",
    form: "follow or same",
    help: "whether each run has the next seed, or all have the same",
    candidates: Repetition.Seeds.allCases.map(\.rawValue)
  )
}

extension Session {
  fileprivate func repeatRun(_ line: Arguments) async throws -> Outcome {
    let arguments = try line.taking(Command.seedsKey)
    let form = "a whole number from 2 to 1000"
    guard
      let times = try arguments.place(
        0,
        as: "the number of times",
        form: form,
        { ValueSyntax.count($0, in: 2...1000) }
      )
    else { throw arguments.missing("the number of times") }
    guard let name = arguments.places.dropFirst().first else {
      throw arguments.missing("what to repeat")
    }
    let command = try CommandTable.resolve(name)
    guard command.name == Command.run.name else {
      throw ShellError(
        "'\(command.name)' cannot be repeated: only a run has these figures. Write: repeat \(times) \(Command.run.usage)",
        at: name
      )
    }
    let words = try Arguments(command, name: name, words: arguments.places.dropFirst(2))
    if let word = words.values[RunName.key.name] {
      throw ShellError(
        "one name cannot be that of \(times) runs. Leave name= out, and 'name' one of them afterwards",
        at: word
      )
    }
    let seeds =
      try arguments.value(Command.seedsKey, Repetition.Seeds.init(rawValue:)) ?? .follow
    let experiment = try experiment(words)
    try checkMemory(of: experiment.workload.count, words)
    return await perform(experiment, times, seeds, try words.ignored(by: experiment))
  }

  private func perform(
    _ experiment: Experiment,
    _ times: Int,
    _ seeds: Repetition.Seeds,
    _ notes: [Note]
  ) async -> Outcome {
    if !json { output.write(RunTitle.text(experiment, output.format)) }
    let first = experiment.workload.seed
    var repetition = Repetition()
    var faults: [Note] = []
    for index in 0..<times where !interruption.hasCome {
      var experiment = experiment
      experiment.workload.seed = seeds.seed(of: index, from: first)
      if !json, output.canShowFrames {
        output.writeTransient(
          "run \(index + 1) of \(times), seed \(experiment.workload.seed); Ctrl-C ends it"
        )
      }
      guard let run = await outcome(of: experiment), !interruption.hasCome else { break }
      let metrics = RunMetrics(run)
      keep(run, metrics)
      let faultsOfRun = Note.all(for: run, run.summary).filter(\.isViolation)
      repetition.take(run, metrics, isFaulty: !faultsOfRun.isEmpty)
      if faults.isEmpty { faults = faultsOfRun }
    }
    guard repetition.count > 0 else { return answer(json: "", Self.interrupted + "\n") }
    let report = RepetitionReport(
      repetition: repetition,
      experiment: experiment,
      asked: times,
      seeds: seeds,
      lastNumber: runs.all.last?.number ?? 0,
      firstKept: runs.all.first { $0.name == nil }?.number ?? 0
    )
    var told = notes
    if let fault = faults.first { told.append(report.note(on: fault)) }
    let outcome = answer(
      json: report.json,
      report.text(describes: settings.describe, output.format) + Note.text(told, output.format)
    )
    if json { tell(told) }
    return repetition.faulty == nil ? outcome : .violated
  }
}

/// What is told of several runs of the same.
private struct RepetitionReport {
  let repetition: Repetition
  let experiment: Experiment
  let asked: Int
  let seeds: Repetition.Seeds
  /// The number that the last of the runs has in the session.
  let lastNumber: Int
  /// The number of the first that the session still has.
  let firstKept: Int

  private var count: Int { repetition.count }
  private var firstSeed: UInt64 { experiment.workload.seed }
  private var lastSeed: UInt64 { seeds.seed(of: count - 1, from: firstSeed) }
  private func number(of index: Int) -> Int { lastNumber - count + 1 + index }

  func text(describes: Bool, _ format: TextFormat) -> String {
    let paragraph = { (text: String) in
      Columns.wrap(text, width: format.width, indent: 2).map { $0 + "\n" }.joined()
    }
    let figures =
      describes
      ? SpreadTable.describe(repetition.chosen) : SpreadTable.text(repetition.chosen, format)
    return paragraph(head) + "\n" + figures + (isAlike ? paragraph(whyAlike) : "")
      + paragraph(afterwards)
  }

  private var head: String {
    let runs =
      count == asked
      ? "\(asked) runs"
      : "interrupted after \(NumberText.count(count, "run")) of \(NumberText.grouped(asked))"
    guard seeds == .follow else { return "\(runs), all with seed \(firstSeed) and the same tasks" }
    guard count > 1 else { return "\(runs), seed \(firstSeed)" }
    let draws = isAlike ? "" : ": each draws tasks of its own"
    return "\(runs), seeds \(firstSeed) to \(lastSeed)\(draws)"
  }

  private var isAlike: Bool { repetition.areAlike && count > 1 }

  private var whyAlike: String {
    switch seeds {
    case .same:
      "all alike: in virtual time the same seed gives the same run. Leave seeds=same out, and the seeds follow one another."
    case .follow:
      "all alike: nothing here is drawn at random, and in virtual time only that differs. Try work=exp:100ms, or clock=real."
    }
  }

  private var afterwards: String {
    let last = number(of: count - 1)
    let first = max(number(of: 0), firstKept)
    return first == last
      ? "run \(last) of this session is kept: 'timeline of \(last)'"
      : "runs \(first) to \(last) of this session: 'timeline of \(first)', 'diff \(first) \(last)'"
  }

  /// The first rule that was broken, and in how many runs one was.
  func note(on fault: Note) -> Note {
    guard let faulty = repetition.faulty else { return fault }
    let number = number(of: faulty.firstAt)
    let seed = seeds.seed(of: faulty.firstAt, from: firstSeed)
    return Note(
      text:
        "\(faulty.count) of \(NumberText.count(count, "run")) broke a rule, first the one with seed \(seed): \(fault.text)",
      command: number >= firstKept
        ? "\(fault.command) of \(number)"
        : "run \(experiment.workload.count) \(experiment.mechanism.id) … seed=\(seed)",
      isViolation: true
    )
  }

  var json: String {
    JSONObject.line([
      ("schema", .string("lab-repeat/1")), ("mechanism", .string(experiment.mechanism.id)),
      ("limit", experiment.effectiveLimit.map { .number($0) } ?? .null),
      ("tasks", .number(experiment.workload.count)),
      ("clock", .string(experiment.resolvedClock.rawValue)), ("runs", .number(count)),
      ("asked", .number(asked)), ("seeds", .string(seeds.rawValue)),
      ("first_seed", .unsigned(firstSeed)), ("last_seed", .unsigned(lastSeed)),
      ("alike", .flag(isAlike)), ("violated", .number(repetition.faulty?.count ?? 0)),
    ]) + SpreadTable.json(repetition.all)
  }
}
