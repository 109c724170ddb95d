internal import Basics
internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

extension Command {
  static let run = Command(
    "run",
    [Parameter("N", .count), Parameter("MECH", .specimenOrMechanism, optional: true)],
    keys: Keys.workload + [RunName.key],
    summary: "send N simulated tasks through a mechanism and show what happened",
    details: """
      What is not said comes from the settings ('show'). The same seed gives the same tasks, \
      whatever the mechanism.
      """,
    examples: [
      "run 12 limiter limit=3 work=100ms",
      "run 20 gcd-semaphore kind=download limit=4 work=50ms",
      "run 40 pool limit=4 work=exp:20ms arrivals=poisson:100/s cancel=10%",
      "run 100 operation-queue limit=8 platform=linux workers=2",
      "run 12 limiter limit=2 name=slow; run 12 limiter limit=6; diff slow 2",
    ]
  ) { session, arguments in
    let experiment = try session.experiment(arguments)
    try session.checkMemory(of: experiment.workload.count, arguments)
    let name = try arguments.value(RunName.key, RunName.parse)
    return try await session.perform(experiment, name, try arguments.ignored(by: experiment))
  }
}

extension Session {
  /// The mechanisms that there are models of.
  static var modelled: String {
    ListText.all(Catalogue.mechanisms.filter { $0.model(of: .linux) != nil }.map(\.id))
  }

  /// Why a run that Ctrl-C ended was stopped.
  static let interrupted = "interrupted: what had not ended was cancelled"

  /// Gives figures to the lesson under way; `origin` says what they are of, where that is not the command.
  func note(_ figures: some MetricSource, from origin: String? = nil) {
    let origin = origin ?? command.map { "'\($0)'" }
    teach { classroom in
      classroom.note(
        origin.map { OriginatedSource(figures, from: $0) as any MetricSource } ?? figures
      )
    }
  }

  /// The experiment that the words of a command and the settings describe; its tasks may join a run.
  func experiment(
    _ arguments: Arguments,
    _ chosen: Settings? = nil,
    joining background: Background? = nil
  ) throws -> Experiment {
    let settings = chosen ?? settings
    let (count, mechanism) = try arguments.countAndMechanism()
    guard let count else { throw arguments.missingCount { (try? Names.mechanism($0)) != nil } }
    return try experiment(
      arguments,
      settings,
      count: count,
      mechanism: try mechanism.map(Names.mechanism) ?? settings.mechanism,
      joining: background
    )
  }

  func experiment(
    _ arguments: Arguments,
    _ given: Settings? = nil,
    count countWord: Word,
    mechanism: CatalogueEntry,
    joining background: Background? = nil
  ) throws -> Experiment {
    var chosen = given ?? settings
    try chosen.apply(arguments)
    chosen.mechanism = mechanism
    if let platform = try arguments.value(Keys.platform, Platform.init(rawValue:)),
      platform != mechanism.platform
    {
      guard let model = mechanism.model(of: platform) else {
        throw ShellError(
          "\(mechanism.id) has no model. platform= is for \(Self.modelled)",
          at: arguments.values[Keys.platform.name] ?? arguments.name
        )
      }
      chosen.mechanism = model
    }
    guard let count = ValueSyntax.count(countWord.text, in: 1...5_000_000) else {
      throw Arguments.noCount(countWord)
    }
    var workload = Workload(
      count: count,
      service: chosen.work,
      kind: chosen.kind ?? chosen.mechanism.profile.defaultKind,
      seed: chosen.seed
    )
    if let joined = background?.experiment.workload {
      workload.priorities = joined.priorities
      workload.dependencies = joined.dependencies
    }
    try workload.apply(arguments, numberedFrom: (background?.run.plan.count ?? 0) + 1)
    var controls = try arguments.value(Keys.relimit, Keys.parseRelimit) ?? []
    controls += try arguments.value(Keys.pause, Keys.parsePause) ?? []
    let experiment = Experiment(
      mechanism: chosen.mechanism,
      limit: chosen.limit,
      workload: workload,
      clock: chosen.clock,
      workers: chosen.workers ?? Experiment.defaultWorkers,
      executor: chosen.executor == .global ? .global : .lanes(workers: chosen.workers),
      serverCapacity: try arguments.value(Keys.capacity, Keys.parseLimit)
        ?? background?.experiment.serverCapacity,
      controls: controls
    )
    // What differs from the run that they join is the cause, whatever else may be wrong with it.
    if let background { try check(experiment, joins: background, arguments) }
    do {
      try experiment.check()
    } catch {
      let told = error.description { arguments.values[$0.rawValue] == nil ? .settings : .words }
      throw ShellError(told, at: arguments.culprit(of: error, mechanism))
    }
    return experiment
  }

  /// Runs to the end and shows the result, telling what happens meanwhile on the wall clock.
  fileprivate func perform(
    _ experiment: Experiment,
    _ name: String?,
    _ notes: [Note]
  ) async throws -> Outcome {
    if !json { output.write(RunTitle.text(experiment, output.format)) }
    let showsFrames = output.canShowFrames
    let background = Background(
      experiment,
      name: name,
      // Of many tasks it would be pages; 'events' has it.
      owesReport: showsFrames && ProgressReporter.concerns(experiment)
        && experiment.workload.count <= ProgressReporter.mostTasksTold
    )
    let canShow = !json && showsFrames
    if background.virtual != nil, experiment.workload.count >= LargeRuns.manyTasks {
      if canShow { output.writeTransient("running; Ctrl-C ends it") }
      return await finishOrGiveUp(background, submitting: experiment.workload, notes)
    }
    background.run.submit(experiment.workload)
    background.run.expectEnd()
    if canShow, background.virtual == nil {
      switch await show(
        background,
        hint: "q puts it in the background, Ctrl-C ends it, ? lists the keys"
      ) {
      // What is to be done about an interrupt is done below.
      case .finished, .interrupted: break
      case .left:
        putInBackground(background)
        return answer(json: "", "it goes on in the background. 'wait' waits for it.\n")
      }
    }
    let reporter =
      json || showsFrames ? nil : ProgressReporter(background.run, experiment, output)
    return await finish(background, notes) { await reporter?.end() }
  }

  /// Waits for the end of a run and shows it; an interrupt stops it, and one that is very large is given up.
  func finish(
    _ background: Background,
    _ notes: [Note] = [],
    afterwards: () async -> Void = {}
  ) async -> Outcome {
    guard background.run.plan.count < LargeRuns.tooManyToClear else {
      let outcome = await finishOrGiveUp(background, notes)
      await afterwards()
      return outcome
    }
    let canShow = !json && output.canShowFrames
    let run = await interruption.whileRunning {
      await background.run.finish()
    } onInterrupt: { [output] in
      if canShow { output.writeTransient("stopping") }
      background.run.stop(because: Self.interrupted)
    }
    await afterwards()
    return tell(RunReport(run, manner(of: background, notes)), name: background.name)
  }

  /// How a run is to be told.
  func manner(of background: Background, _ notes: [Note]) -> RunReport.Manner {
    RunReport.Manner(
      experiment: background.experiment,
      notes: notes,
      format: output.format,
      describes: settings.describe,
      json: json,
      owesReport: background.owesReport,
      isInLesson: classroom.visit != nil,
      suggests: isTyped && sourceDepth == 0
    )
  }

  /// Keeps a run that has ended as the last, and tells it.
  func tell(_ report: RunReport, name: String?) -> Outcome {
    let (run, summary) = (report.run, report.summary)
    keep(run, report.metrics, name: name)
    if json {
      RunJSONLines.write(run) { output.write($0) }
    } else {
      output.write(report.text)
    }
    let isStuck = run.stoppedBecause.map { $0 != Self.interrupted } ?? false
    return isStuck || !summary.violations.isEmpty || !summary.errors.isEmpty ? .violated : .done
  }
}

extension Workload {
  /// Takes over what the keys of a command say about arrivals, ends, urgency and dependencies.
  ///
  /// The tasks are numbered from `first`.
  fileprivate mutating func apply(
    _ arguments: Arguments,
    numberedFrom first: Int
  ) throws(ShellError) {
    if let arrivals = try arguments.value(Keys.arrivals, ValueSyntax.arrivals) {
      self.arrivals = arrivals
    }
    if let cancellations = try arguments.value(Keys.cancel, ValueSyntax.cancellations) {
      let last = first + count - 1
      if case .chosen(let times) = cancellations,
        let other = times.keys.filter({ !(first...last).contains($0) }).min()
      {
        let place = arguments.values[Keys.cancel.name]?.range
        guard first == 1 else {
          throw ShellError(
            "there is no task \(other) among the new ones: they have the numbers \(first) to \(last)",
            at: place
          )
        }
        throw ShellError(
          "there is no task \(other): this run has \(NumberText.count(count, "task"))",
          at: place
        )
      }
      self.cancellations = cancellations
    }
    if let percent = try arguments.value(Keys.fail, ValueSyntax.percent) { failPercent = percent }
    if let priorities = try arguments.value(Keys.priority, Keys.parsePriorities) {
      self.priorities = priorities
    }
    if let dependencies = try arguments.value(Keys.depends, Dependencies.init(rawValue:)) {
      self.dependencies = dependencies
    }
  }
}

extension Arguments {
  /// The two words of `N MECH`, in either order.
  func countAndMechanism() throws(ShellError) -> (count: Word?, mechanism: Word?) {
    var count: Word?
    var mechanism: Word?
    for word in places {
      if word.isNumeral, count == nil {
        count = word
      } else if !word.isNumeral, mechanism == nil {
        mechanism = word
      } else {
        // `run twelv limiter`: the first word stands where a number was meant.
        if count == nil, let first = mechanism, (try? Names.mechanism(first)) == nil {
          throw Self.noCount(first)
        }
        throw surplus(word)
      }
    }
    return (count, mechanism)
  }

  fileprivate static func noCount(_ word: Word) -> ShellError {
    if let number = Double(word.text), !number.isFinite {
      return ShellError(
        "'\(word.text)' is not a number of tasks. Write a whole number from 1 to 5000000",
        at: word
      )
    }
    return ShellError(
      "the number of tasks cannot be '\(word.text)'.\(Numeral.question(for: word.text)) "
        + "Write a whole number from 1 to 5000000",
      at: word
    )
  }

  /// A note for what was given and changes nothing: a limit that the mechanism does not have, a number of
  /// workers where the system gives the threads.
  func ignored(by experiment: Experiment) throws(ShellError) -> [Note] {
    try ignoredLimit(by: experiment) + ignoredWorkers(by: experiment)
  }

  private func ignoredWorkers(by experiment: Experiment) throws(ShellError) -> [Note] {
    guard let workers = try value(Keys.workers, Keys.parseWorkers), experiment.chosenWorkers == nil
    else { return [] }
    return [
      Note(
        text: "workers=\(workers) has no effect: on the wall clock the system gives the threads, "
          + "except with executor=lanes",
        command: "help run",
        isViolation: false
      )
    ]
  }

  private func ignoredLimit(by experiment: Experiment) throws(ShellError) -> [Note] {
    guard let limit = try value(Keys.limit, Keys.parseLimit), experiment.effectiveLimit != limit
    else { return [] }
    return [
      .ignored(
        limit: limit,
        by: experiment.mechanism,
        experiment.effectiveLimit,
        overlaps: experiment.facts(tasks: experiment.workload.count).limit == nil
      )
    ]
  }

  /// The word that asked for what cannot be: a key, else the mechanism's name, else the command's own.
  func culprit(of error: ExperimentError, _ mechanism: CatalogueEntry) -> Word {
    let keys: [Key] =
      switch error {
      case .endsProgram: []
      case .realWork: [Keys.clock, Keys.kind]
      case .noServer: [Keys.capacity]
      case .realOnly, .notExplorable, .notExplorableInside: [Keys.clock]
      case .ownsThreads, .lanesAreReal: [Keys.executor]
      case .modelIsVirtual: [Keys.clock, Keys.executor, Keys.kind, Keys.platform]
      case .cannot(_, .limit): [Keys.relimit]
      case .cannot(_, .suspension): [Keys.pause]
      case .cannot(_, .dependencies): [Keys.depends]
      case .cannot(_, .priorities): [Keys.priority]
      // Commands of their own ask for them, and no word of a run.
      case .cannot(_, .barrier), .cannot(_, .notification): []
      case .tooMuchWork: [Keys.work]
      case .tooLongArrivals: [Keys.arrivals]
      }
    return keys.lazy.compactMap { values[$0.name] }.first ?? word(naming: mechanism) ?? name
  }

  /// The word among those in places that names the mechanism, or it on lanes.
  func word(naming mechanism: CatalogueEntry) -> Word? {
    places.first { word in
      let end = word.text.firstIndex(of: "@") ?? word.text.endIndex
      let plain = Word(String(word.text[..<end]), at: word.range)
      return [word, plain].contains { (try? Names.mechanism($0))?.id == mechanism.id }
    }
  }
}
