internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization
internal import Tracing

extension Command {
  static let compare = Command(
    "compare",
    [
      Parameter("N", .count),
      Parameter("MECH", .specimenOrMechanism, optional: true, repeats: true),
    ],
    keys: Keys.workload,
    summary: "the same seeded workload on several mechanisms, one table",
    details: """
      Without mechanisms, on all of them. All run on one clock: virtual if each of them can, else \
      the wall clock. Service times are the same; the kind of work is what each mechanism's users \
      give it, unless kind= says otherwise. The last run stays what it was: 'timeline' and the other \
      views go on showing it.
      """,
    examples: [
      "compare 100 limiter pool task-group limit=8 work=exp:20ms",
      "compare 20 gcd-semaphore gcd-gate limit=4 work=10ms",
    ]
  ) { session, arguments in try await session.compare(arguments) }

  static let diff = Command(
    "diff",
    summary: "what differs between the last two runs",
    examples: ["run 12 limiter limit=3; run 12 limiter limit=4; diff"]
  ) { session, arguments in
    guard let one = session.runBefore, let other = session.lastRun else {
      throw ShellError(
        "'diff' needs two runs. Try: run 12 limiter limit=3; run 12 limiter limit=4; diff",
        at: arguments.name
      )
    }
    return session.answer(
      json: ComparisonTable.jsonLines([one, other]),
      RunDiff.text(one, other, session.output.format)
    )
  }
}

extension Session {
  fileprivate func compare(_ arguments: Arguments) async throws -> Outcome {
    var names = arguments.places
    guard let count = names.first(where: \.isNumeral) else {
      throw arguments.missing("the number of tasks")
    }
    names.removeAll { $0 == count }
    var entries: [CatalogueEntry] = []
    for name in names {
      let entry = try Names.mechanism(name)
      guard !entries.contains(where: { $0.id == entry.id }) else {
        throw ShellError("\(entry.id) is named twice. Name each once", at: name)
      }
      entries.append(entry)
    }
    if entries.isEmpty { entries = Catalogue.mechanisms }
    // Each mechanism's experiment is checked before the first one runs.
    var experiments = try entries.map { try experiment(arguments, count: count, mechanism: $0) }
    let clocks = Set(experiments.map(\.resolvedClock))
    if clocks.count > 1 {
      for index in experiments.indices { experiments[index].clock = .real }
    }
    let runs = await interruption.whileRunningSteps(of: experiments, show: showProgress) {
      await Self.run($0, interruption)
    }
    guard !interruption.hasCome, runs.count == experiments.count else {
      return answer(json: "", Self.interrupted + "\n")
    }
    for run in runs { note(RunMetrics(run)) }
    let outcome = answer(
      json: ComparisonTable.jsonLines(runs),
      settings.describe
        ? ComparisonTable.describe(runs) : ComparisonTable.text(runs, output.format)
    )
    return runs.allSatisfy { $0.summary.violations.isEmpty } ? outcome : .violated
  }

  private static func run(_ experiment: Experiment, _ interruption: Interruption) async -> Run {
    let background = Background(experiment)
    background.run.submit(experiment.workload)
    return await interruption.whileRunning {
      await background.run.finish()
    } onInterrupt: {
      background.run.stop(because: interrupted)
    }
  }

  /// Says how far a comparison has come, in place where that can be done.
  private func showProgress(_ experiment: Experiment, _ number: Int, of count: Int) {
    guard !json, output.canShowFrames else { return }
    let name = experiment.mechanism.id
    output.writeTransient("comparing \(name), \(number) of \(count)")
  }
}

extension Interruption {
  /// Carries out one step after the other until an interrupt comes.
  fileprivate func whileRunningSteps<Step, Value>(
    of steps: [Step],
    show: (Step, Int, Int) -> Void,
    _ body: (Step) async -> Value
  ) async -> [Value] {
    var values: [Value] = []
    for (index, step) in steps.enumerated() where !hasCome {
      show(step, index + 1, steps.count)
      values.append(await body(step))
    }
    return values
  }
}
