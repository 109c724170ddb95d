internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering
internal import Synchronization

extension Command {
  static let compare = Command(
    "compare",
    [
      Parameter("N", .count),
      Parameter("MECH", .specimenOrMechanism, optional: true, repeats: true),
    ],
    keys: Keys.workload + [orderKey],
    summary: "the same seeded workload on several mechanisms, one table",
    details: """
      Without mechanisms, on all of them. All run on one clock: virtual if each of them can, else \
      the wall clock, which a model never runs on. Service times are the same; the kind of work is what each mechanism's users \
      give it, unless kind= says otherwise. MECH@lanes runs its tasks on a work-stealing executor \
      instead of Swift's pool. by= sorts the table. The last run stays what it was: \
      'timeline' and the other views go on showing it; 'of pool' behind them shows the comparison's \
      run of that mechanism. 'export' right after it writes the comparison.
      """,
    examples: [
      "compare 100 limiter pool task-group limit=8 work=exp:20ms",
      "compare 20 gcd-semaphore gcd-gate limit=4 work=10ms",
      "compare 40 limit=4 work=5ms by=makespan",
      "compare 200 limiter limiter@lanes limit=4 work=100us",
      "compare 20 gcd-semaphore@apple-model gcd-semaphore@linux-model limit=4 workers=2",
      "compare 12 limiter pool limit=3; why t08 of pool",
    ]
  ) { session, arguments in try await session.compare(arguments) }

  private static let orderKey = Key(
    "by",
    form: ListText.all(ComparisonTable.Order.allCases.map(\.rawValue), "or"),
    help: "what to sort the table by",
    candidates: ComparisonTable.Order.allCases.map(\.rawValue)
  )

  fileprivate static func order(_ arguments: Arguments) throws(ShellError) -> ComparisonTable.Order?
  {
    try arguments.value(orderKey, ComparisonTable.Order.init(rawValue:))
  }

  static let diff = Command(
    "diff",
    [Parameter("RUN", .text, optional: true), Parameter("RUN", .text, optional: true)],
    summary: "what differs between two runs, the last two unless told",
    details: """
      'runs' lists them. If one is given, it is compared with the last. The run in the background counts as the last, \
      as far as it has come.
      """,
    examples: [
      "run 12 limiter limit=3; run 12 limiter limit=4; diff",
      "run 12 limiter; run 12 pool; run 12 none; diff 1 3",
    ]
  ) { session, arguments in
    var runs: [Run] = []
    for word in arguments.places { runs.append(try session.run(named: word)) }
    let open = session.background?.snapshot
    let first = runs.first ?? (open == nil ? session.runs.before : session.runs.last)
    guard let one = first, let other = runs.dropFirst().first ?? open ?? session.runs.last else {
      throw ShellError(
        "'diff' needs two runs. Try: run 12 limiter limit=3; run 12 limiter limit=4; diff",
        at: arguments.name
      )
    }
    let (format, json) = (session.output.format, session.json)
    let larger = one.plan.count > other.plan.count ? one : other
    let text = await session.unlessInterrupted(of: larger) { _ in
      json ? ComparisonTable.jsonLines([one, other]) : RunDiff.text(one, other, format)
    }
    guard let text else { return session.gaveUpView() }
    return session.answer(json: text, text)
  }
}

extension Session {
  fileprivate func compare(_ arguments: Arguments) async throws -> Outcome {
    var (count, contestants) = try contestants(arguments, orElse: Catalogue.mechanisms)
    let areNamed = arguments.places.count > 1
    let (models, arguments) = try modelled(contestants, arguments, areNamed: areNamed)
    contestants = models
    let order = try Command.order(arguments)
    let experiments = try experiments(of: contestants, count, arguments)
    var runs: [Run] = []
    for (index, experiment) in experiments.enumerated() where !interruption.hasCome {
      showProgress("comparing", experiment, index + 1, of: experiments.count)
      if let run = await outcome(of: experiment) { runs.append(run) }
    }
    guard !interruption.hasCome, runs.count == experiments.count else {
      return answer(json: "", Self.interrupted + "\n")
    }
    return tell(comparison: runs, by: order)
  }

  /// Tells what several mechanisms made of the same tasks, and keeps it; `line` comes last in JSON Lines.
  func tell(
    comparison all: [Run],
    by order: ComparisonTable.Order? = nil,
    json line: String = ""
  ) -> Outcome {
    for run in all {
      note(RunMetrics(run), from: command.map { "\(run.label) in '\($0)'" } ?? run.label)
    }
    let runs = order.map { ComparisonTable.sorted(all, by: $0) } ?? all
    keep(comparison: runs)
    showed(.comparison)
    let outcome = answer(
      json: ComparisonTable.jsonLines(runs) + line,
      settings.describe
        ? ComparisonTable.describe(runs) : ComparisonTable.text(runs, output.format)
    )
    return runs.allSatisfy { $0.summary.violations.isEmpty && $0.summary.errors.isEmpty }
      ? outcome : .violated
  }

  /// What the words of a command name: how many tasks, and which mechanisms are to have them.
  func contestants(
    _ arguments: Arguments,
    orElse all: [CatalogueEntry]
  ) throws -> (count: Word, [(entry: CatalogueEntry, onLanes: Bool)]) {
    var names = arguments.places
    guard let count = names.first(where: \.isNumeral) else {
      throw arguments.missingCount { (try? Self.contestant($0, arguments)) != nil }
    }
    names.removeAll { $0 == count }
    var contestants: [(entry: CatalogueEntry, onLanes: Bool)] = []
    for name in names {
      // It begins the name of a mechanism too.
      guard !arguments.command.keys.contains(where: { $0.name == name.text }) else {
        throw arguments.surplus(name)
      }
      let (entry, onLanes) = try Self.contestant(name, arguments)
      let isNamed = contestants.contains { $0.entry.id == entry.id && $0.onLanes == onLanes }
      guard !isNamed else {
        throw ShellError("\(name.text) is named twice. Name each once", at: name)
      }
      contestants.append((entry, onLanes))
    }
    return (count, contestants.isEmpty ? all.map { ($0, false) } : contestants)
  }

  /// What each is to be run with: the same tasks, on one clock.
  func experiments(
    of contestants: [(entry: CatalogueEntry, onLanes: Bool)],
    _ count: Word,
    _ arguments: Arguments
  ) throws -> [Experiment] {
    // Each mechanism's experiment is checked before the first one runs.
    var experiments = try contestants.map { entry, onLanes in
      var chosen = settings
      if onLanes { chosen.executor = .lanes(workers: nil) }
      return try experiment(arguments, chosen, count: count, mechanism: entry)
    }
    try checkMemory(of: experiments.map(\.workload.count).reduce(0, +), arguments)
    let clocks = Set(experiments.map(\.resolvedClock))
    if clocks.count > 1 {
      // A model has no threads: it stays in virtual time.
      for index in experiments.indices where experiments[index].mechanism.platform == nil {
        experiments[index].clock = .real
      }
    }
    return experiments
  }

  /// The models that `platform=` asks for in the place of what owns its threads; the others run as they are.
  func modelled(
    _ contestants: [(entry: CatalogueEntry, onLanes: Bool)],
    _ arguments: Arguments,
    areNamed: Bool
  ) throws -> ([(entry: CatalogueEntry, onLanes: Bool)], Arguments) {
    guard let platform = try arguments.value(Keys.platform, Platform.init(rawValue:)) else {
      return (contestants, arguments)
    }
    var chosen: [(entry: CatalogueEntry, onLanes: Bool)] = []
    for (entry, onLanes) in contestants {
      if let model = entry.model(of: platform) {
        chosen.append((model, onLanes))
      } else if entry.profile.clock == .any {
        chosen.append((entry, onLanes))
      } else if areNamed {
        throw ShellError(
          "\(entry.id) has no model. platform= is for \(Self.modelled)",
          at: arguments.values[Keys.platform.name] ?? arguments.name
        )
      }
    }
    return (chosen, arguments.without(Keys.platform))
  }

  /// A mechanism, and whether its tasks are to run on lanes: `limiter@lanes`.
  private static func contestant(
    _ word: Word,
    _ arguments: Arguments
  ) throws -> (CatalogueEntry, onLanes: Bool) {
    let suffix = "@lanes"
    guard word.text.hasSuffix(suffix) else {
      if word.text.contains("@"), (try? Names.mechanism(word)) == nil {
        throw ShellError(
          "no mechanism '\(word.text)'. Behind '@' there can be lanes, apple-model or linux-model, as in "
            + "limiter@lanes",
          at: word
        )
      }
      return (try Names.mechanism(word), false)
    }
    guard try arguments.value(Keys.executor, Keys.parseExecutor) == nil else {
      throw ShellError("executor= is for all mechanisms. Leave it out, or \(suffix)", at: word)
    }
    let entry = try Names.mechanism(Word(String(word.text.dropLast(suffix.count)), at: word.range))
    guard entry.profile.clock == .any else {
      throw ShellError(
        "\(entry.id) has threads of its own, so no executor runs its tasks. Leave \(suffix) out",
        at: word
      )
    }
    return (entry, true)
  }

  /// Runs an experiment to its end; nil if an interrupt came before.
  func outcome(of experiment: Experiment) async -> Run? {
    let background = Background(experiment)
    return await unlessInterrupted(background.run) { run in
      run.submit(experiment.workload)
      return await run.finish()
    }
  }

  /// Says how far several runs have come, in place where that can be done.
  func showProgress(_ doing: String, _ experiment: Experiment, _ number: Int, of count: Int) {
    guard !json, output.canShowFrames else { return }
    let name = experiment.mechanism.id + (experiment.executor == .global ? "" : "@lanes")
    output.writeTransient("\(doing) \(name), \(number) of \(count)")
  }
}
