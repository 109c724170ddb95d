internal import Basics
internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let race = Command(
    "race",
    [
      Parameter("N", .count),
      Parameter("MECH", .specimenOrMechanism, optional: true, repeats: true),
    ],
    keys: Keys.workload,
    summary: "the same tasks through several mechanisms at once, on one axis; then the comparison",
    details: """
      Without mechanisms, through operation-queue, gcd-semaphore, limiter and pool. In virtual time if each of \
      them can, OperationQueue and GCD as models of Linux, or with platform=apple of the other. At a terminal the race is \
      then played: the space bar holds it, the arrows go event by event, + and - change the speed. With clock=real, or where \
      something knows no other clock and has no model, all run on the wall clock at the same time, where one may hold \
      up the others, and the race is shown while it goes on. The comparison below it is kept as that of 'compare' \
      is: 'why t08 of pool', 'export comparison.html'.
      """,
    examples: [
      "race 30 work=exp:100ms limit=3",
      "race 12 limiter pool gcd-gate limit=3 work=20ms clock=real",
    ]
  ) { session, arguments in try await session.race(arguments) }
}

extension Session {
  /// The four that are raced unless others are named.
  private static let four = ["operation-queue", "gcd-semaphore", "limiter", "pool"]
    .compactMap(Catalogue.entry)

  fileprivate func race(_ arguments: Arguments) async throws -> Outcome {
    var (count, contestants) = try contestants(arguments, orElse: Self.four)
    let areNamed = arguments.places.count > 1
    contestants = try asModels(contestants, arguments)
    let (models, arguments) = try modelled(contestants, arguments, areNamed: areNamed)
    let experiments = try experiments(of: models, count, arguments)
    let runsLive = experiments.contains { $0.resolvedClock == .real }
    if !json { output.write(RunTitle.text(race: experiments, output.format)) }
    let raced = runsLive ? await raceLive(experiments) : await raceInVirtualTime(experiments)
    guard let runs = raced, !interruption.hasCome else {
      return answer(json: "", Self.interrupted + "\n")
    }
    // What was said in passing does not go by itself where frames come next.
    if !runsLive, showsRaces { output.write("") }
    if !runsLive, showsRaces, await show(RaceFrames(playing: RaceView(runs))) == .interrupted {
      return gaveUpView()
    }
    return tell(raceOf: runs)
  }

  /// Models in the place of what owns its threads, if all can run in virtual time then and nothing asks for the
  /// wall clock.
  private func asModels(
    _ contestants: [(entry: CatalogueEntry, onLanes: Bool)],
    _ arguments: Arguments
  ) throws -> [(entry: CatalogueEntry, onLanes: Bool)] {
    var chosen = settings
    try chosen.apply(arguments)
    let wantsReal =
      chosen.clock == .real || chosen.executor != .global || chosen.kind?.isReal == true
      || contestants.contains(where: \.onLanes)
    guard !wantsReal, arguments.values[Keys.platform.name] == nil else { return contestants }
    let models = contestants.map { contestant in
      contestant.entry.profile.clock == .any ? contestant.entry : contestant.entry.model(of: .linux)
    }
    guard models.allSatisfy({ $0 != nil }) else { return contestants }
    return models.compactMap(\.self).map { ($0, false) }
  }

  /// Runs each to its end; nil if an interrupt came first.
  private func raceInVirtualTime(_ experiments: [Experiment]) async -> [Run]? {
    var runs: [Run] = []
    for (index, experiment) in experiments.enumerated() where !interruption.hasCome {
      showProgress("running", experiment, index + 1, of: experiments.count)
      if let run = await outcome(of: experiment) { runs.append(run) }
    }
    return runs.count == experiments.count ? runs : nil
  }

  /// Runs all at the same time, and shows them meanwhile where frames can be shown; nil if an interrupt came
  /// first.
  private func raceLive(_ experiments: [Experiment]) async -> [Run]? {
    let runs = experiments.map { Background($0).run }
    for (run, experiment) in zip(runs, experiments) { run.submit(experiment.workload) }
    for run in runs { run.expectEnd() }
    if showsRaces {
      let lanes = zip(runs, experiments).map { RaceLane($1.label, $0) }
      let expected = experiments.map(\.expectedLength).max() ?? 0
      // What is to be done about an interrupt is done below.
      let ending = await show(RaceFrames(runs, RaceView(lanes), expecting: expected))
      if ending == .left { output.writeTransient("racing; Ctrl-C ends it") }
    }
    return await unlessInterrupted(runs) { runs in
      var ended: [Run] = []
      for run in runs { ended.append(await run.finish()) }
      return ended
    }
  }

  private var showsRaces: Bool { !json && output.canShowFrames && !settings.describe }

  private func tell(raceOf runs: [Run]) -> Outcome {
    let view = RaceView(runs)
    var format = output.format
    format.height = nil
    let picture = view.lines(at: view.end, until: view.end, format).map { $0 + "\n" }.joined()
    let order = view.inOrderOfEnd
    let members: [(StaticString, JSONObject.Value)] = [
      ("clock", .string(runs.contains { $0.clock == .real } ? "real" : "virtual")),
      ("order", .array(order.map { .string($0) })),
    ]
    if !json {
      // Not page by page, as the comparison may be: what was seen to grow stays above it.
      output.write(
        settings.describe
          ? HelpText.sentence(view.standing(at: view.end)) + "\n" : picture + "\n"
      )
    }
    return tell(comparison: runs, json: JSONObject.line([("race", .object(members))]))
  }
}

extension RaceView {
  /// A race that is over.
  fileprivate init(_ runs: [Run]) {
    self.init(
      runs.map { run in
        var lane = RaceLane(name: run.label, plan: run.plan, limit: run.facts.limit)
        lane.take(run.events)
        return lane
      }
    )
  }
}

extension Experiment {
  /// What a race calls it.
  fileprivate var label: String { mechanism.id + (executor == .global ? "" : "@lanes") }

  /// About how long it takes, in nanoseconds, if nothing but the limit keeps a task waiting.
  var expectedLength: Int64 {
    let permits = Double(min(effectiveLimit ?? .max, workload.count))
    let length = max(workload.expectedWork / max(1, permits), workload.service.mean)
    return Int64(exactly: (length + workload.pacedArrivals).rounded()) ?? .max / 4
  }
}

extension RunTitle {
  /// What a race was asked for, and on which clock it is, in words.
  static func text(race experiments: [Experiment], _ format: TextFormat) -> String {
    guard let first = experiments.first else { return "" }
    var workload = first.workload
    // Each has the kind that its users give it: what is common to all is how many, and how long.
    if experiments.contains(where: { $0.workload.kind != workload.kind }) {
      workload.kind = .suspend
    }
    let isReal = experiments.contains { $0.resolvedClock == .real }
    let limit = NumberText.grouped(first.limit)
    let pieces = [
      tasks(workload), "limit \(limit)",
      "\(isReal ? "wall clock" : "virtual time"), seed \(workload.seed)",
    ]
    let lines = Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
    return (lines + Columns.wrap(clock(of: experiments, isReal), width: format.width, indent: 2))
      .map { $0 + "\n" }.joined()
  }

  private static func clock(of experiments: [Experiment], _ isReal: Bool) -> String {
    guard isReal else {
      let models = experiments.filter { $0.mechanism.platform != nil }.map(\.mechanism.id)
      guard let first = experiments.first, !models.isEmpty else {
        return "in virtual time, each as if it were alone"
      }
      let processors = NumberText.count(first.workers, "processor")
      return "\(ListText.all(models)): models, with \(processors). clock=real races the real ones."
    }
    let bound = experiments.filter {
      $0.mechanism.profile.clock == .real && $0.mechanism.model(of: .linux) == nil
    }
    let reason =
      bound.isEmpty
      ? ""
      : ", the only one on which \(ListText.all(bound.map(\.mechanism.id))) \(bound.count == 1 ? "runs" : "run")"
    return
      "at the same time on the wall clock\(reason): they share the processors and the system's threads, and "
      + "who blocks threads holds the others up. 'compare' runs one after the other."
  }
}

extension RaceLane {
  /// Of a run that goes on.
  init(_ name: String, _ run: any LiveRun) {
    let limit = run.experiment.facts(tasks: 0).limit
    self.init(name: name, plan: run.plan, limit: limit)
  }
}
