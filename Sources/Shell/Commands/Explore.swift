internal import Experiments
internal import Mechanisms
internal import Rendering

extension Command {
  static let explore = Command(
    "explore",
    [
      Parameter("MECH", .specimenOrMechanism),
      Parameter("all", .choice(["all"]), optional: true),
    ],
    keys: ExploreKeys.all,
    summary: "run a mechanism under every order of steps, and show the smallest that breaks it",
    details: """
      The real code runs once for each schedule: an order in which the tasks take their steps. A \
      step ends where a task suspends; where nothing fails so, steps end before each operation on a \
      lock or an atomic too: another task may go on there, in the middle of a job. A task 'gets its turn' when an \
      actor it called takes it in, or when its yield ends. Waking up is a step of its own, and a cancellation \
      may come between any two. What is asked: never over the limit; every task that nobody cancels \
      is served, once, and is never told that it is cancelled; nobody waits for ever, and nobody waits \
      while a permit is free; all permits come back; the order kept where it is promised; nothing \
      resumed twice, also when the limiter goes; no cancelled waiter runs; no retrying without end.

      Strategies: exhaustive looks at every schedule, and says so when it did; random draws each \
      step; pct gives the tasks random priorities that change at depth - 1 places. The verdict \
      'exhaustive' means that no other schedule of these tasks exists, up to their names, to moments between which \
      nothing can tell a difference, and within what the line 'not asked' says. Making a task wait that could go on is a pre-emption; \
      in the middle of jobs a schedule has at most preemptions=2 of them unless told. inside=yes stops \
      in the middle of jobs from the beginning, inside=no never; with neither, the search between jobs comes \
      first, and one in the middle of jobs follows for a few seconds: with one pre-emption, and with two where \
      that is soon done. A search that ends at \
      schedules= or before its end is 'bounded'. Where a twentieth of what it may look at, or more, is done, and the rest \
      is estimated at many times what is left, it says so and goes over to 10000 schedules, at most, that instead=pct \
      draws, or instead=random; with instead=none it goes on in order. The first violation ends the search and is reduced to the smallest schedule that shows it; 'all' goes on, \
      and counts.

      Its limits: of mechanisms whose locks are not ours (task-group, main-actor-queue), and with \
      inside=no, choices are made between jobs, not inside them; one \
      task runs at a time, so data races and weak memory are the thread sanitizer's field; time is chosen, not measured; \
      what owns its threads (OperationQueue, GCD, the main actor) is not explored. The code runs in a \
      program of its own: where it stops that program, the verdict is 'trap', and 'livelock' where a \
      step has not ended after 10 s. A specimen is \
      explored with what shows its defect unless the keys say otherwise. On the page of an exercise \
      'yours' is what you have written there: 'explore yours', 'step yours'.

      Explored to the end, and no promise is broken, in so many schedules of a debug build; \
      bodies that throw have as many:

      """ + explored,
    examples: [
      "explore limiter tasks=2 limit=1 cancel=any",
      "explore pool tasks=2 limit=1 strategy=random schedules=1000 seed=7",
    ]
  ) { session, arguments in
    guard let word = arguments.places.first else {
      throw arguments.missing("the mechanism", listedBy: "mechanisms")
    }
    let place = try await session.explorations(of: word)
    let scenario = try ExploreKeys.scenario(of: Names.explored(word), at: word, arguments)
    var plan = try ExploreKeys.plan(arguments, of: scenario, seed: session.settings.seed)
    // Without the lines nobody sees who has looked for a permit and has not parked yet.
    plan.withPlaces = !session.json
    if let extra = arguments.places.dropFirst().first {
      guard extra.text == "all" else {
        throw ShellError(
          "'\(extra.text)' is no option of explore; 'all' goes on behind the first violation",
          at: extra
        )
      }
      plan.all = true
    }
    return try await session.explore(
      scenario,
      in: place,
      plan,
      arguments
    ) { report throws(ShellError) in
      try ExploreKeys.ignored(arguments, by: scenario, plan, report)
    }
  }

  private static var explored: String {
    ExploredCase.all.map { small in
      let counts = small.schedules.map { "\($0.key) \(NumberText.grouped($0.value))" }
      return small.keys + ":\n" + counts.joined(separator: ", ")
    }.joined(separator: "\n")
  }

  static let replay = Command(
    "replay",
    [Parameter("SCHEDULE", .text)],
    summary: "run one recorded schedule again, step by step",
    details: """
      A schedule is what 'explore' prints. It names its scenario; one made for another version of \
      the code is refused.
      """,
    examples: ["replay v3:limiter-2-1-none:b63e732a:1,w1,1,2,w2,2"],
    takesAnyWords: true
  ) { session, arguments in
    guard let word = arguments.places.first else { throw arguments.missing("the schedule") }
    let scenario: ExplorationScenario
    let story: ExplorationReport.ScheduleDescription
    let place = try await session.explorations(of: word)
    do {
      scenario = try ExplorationScenario(ofSchedule: word.text)
      story = try await place.replay(
        word.text,
        withPlaces: !session.json
      )
    } catch {
      throw ShellError("\(error)", at: word)
    }
    session.keep(story, of: scenario, in: place)
    session.showed(.schedule)
    let format = session.output.format
    let outcome = session.answer(
      json: ExplorationText.json(story, of: scenario),
      ExplorationText.story(story, format) + "\n" + ExplorationText.outcome(story, format)
    )
    return story.violation == nil ? outcome : .violated
  }
}

extension Session {
  fileprivate func explore(
    _ scenario: ExplorationScenario,
    in place: ExplorationPlace,
    _ plan: ExplorationPlan,
    _ arguments: Arguments,
    notes: (ExplorationReport) throws(ShellError) -> [Note]
  ) async throws -> Outcome {
    let control = ExplorationControl()
    if !json, output.canShowFrames { output.writeTransient("exploring; Ctrl-C ends it") }
    let report: ExplorationReport
    do {
      report = try await telling(of: control, plan) {
        try await interruption.whileRunning {
          try await place.explore(scenario, plan, control)
        } onInterrupt: {
          control.stop()
        }
      }
    } catch {
      throw ShellError("\(error)", at: arguments.name)
    }
    if report.found != nil || !report.wasInterrupted { note(ExplorationMetrics(report)) }
    if let minimum = report.found?.minimum { keep(minimum, of: scenario, in: place) }
    showed(.exploration(report))
    let outcome = answer(
      json: ExplorationText.json(report),
      ExplorationText.text(report, withTime: output.canShowFrames, output.format)
    )
    tell(try notes(report))
    return report.found == nil ? outcome : .violated
  }
}

extension Session {
  /// Tells how far an exploration has come for as long as `explore` runs, and no longer: what comes after it
  /// may show a page and wait.
  private func telling<Value>(
    of control: ExplorationControl,
    _ plan: ExplorationPlan,
    while explore: () async throws -> Value
  ) async rethrows -> Value {
    async let _ = Self.tellProgress(of: control, plan, on: output, json: json)
    return try await explore()
  }

  /// Tells now and then how far an exploration has come, until it is cancelled: at a prompt in place,
  /// elsewhere on standard error.
  private static func tellProgress(
    of control: ExplorationControl,
    _ plan: ExplorationPlan,
    on output: any ShellOutput,
    json: Bool
  ) async {
    let isInPlace = !json && output.canShowFrames
    let start = ContinuousClock.now
    var (seconds, announced) = (0, false)
    while (try? await Task.sleep(for: .seconds(1))) != nil {
      seconds += 1
      let (looked, elapsed, draws) = (control.schedules, ContinuousClock.now - start, control.draws)
      if let draws, !announced {
        announced = true
        let news = "exploring: \(draws.announcement)"
        if isInPlace {
          // On lines of its own, in place of the line that tells how far it has come.
          let lines = Columns.wrap(news, width: output.display.width, indent: 2)
          output.write(lines.map { $0 + "\n" }.joined())
        } else {
          output.tellProgress(news)
        }
      }
      guard isInPlace || seconds.isMultiple(of: 20) else { continue }
      let line = ExplorationText.progress(looked, of: plan.schedules, draws, after: elapsed)
      if isInPlace {
        let text = "exploring; Ctrl-C ends it: \(line)"
        output.writeTransient(text)
      } else {
        output.tellProgress("exploring: \(line)")
      }
    }
  }
}

/// The keys of `explore` and `step`, and what they make.
enum ExploreKeys {
  static let tasks = Key(
    "tasks",
    form: "a whole number from 1 to 60",
    help: "how many tasks",
    candidates: ["2", "3"]
  )
  static let cancel = Key(
    "cancel",
    form: "any or none",
    help: "whether any task may be cancelled at any step",
    candidates: ["any", "none"]
  )
  static let fail = Key(
    "fail",
    form: "all or none",
    help: "whether the bodies throw",
    candidates: ["all", "none"]
  )
  static let bound = Key(
    "bound",
    form: "a whole number from 0 to 1000",
    help: "how often a waiting task may be overtaken, asked instead of the order",
    candidates: ["0", "1", "2"]
  )
  static let visits = Key(
    "visits",
    form: "a whole number from 1 to 10",
    help: "how often each task visits",
    candidates: ["1", "2"]
  )
  static let resize = Key(
    "resize",
    form: Keys.limit.form,
    help: "what the limit may become, once, at any step",
    candidates: ["1", "2"]
  )
  static let fair = Key(
    "fair",
    form: "a whole number from 1 to 1000, or none",
    help:
      "how many times in a row a task may yield or look without effect before others have a turn",
    candidates: ["1", "2", "none"]
  )
  static let inside = Key(
    "inside",
    form: "yes or no",
    help:
      "whether tasks stop at locks and atomics, from the start (yes), in the end (untold) or never",
    candidates: ["yes", "no"]
  )
  static let preemptions = Key(
    "preemptions",
    form: "a whole number from 0 to 1000, or none",
    help: "how often a task that could go on may be made to wait, when exhaustive",
    candidates: ["0", "1", "2", "none"]
  )
  static let strategy = Key(
    "strategy",
    form: "exhaustive, random or pct",
    help: "which schedules to look at",
    candidates: ExplorationReport.Strategy.allCases.map(\.rawValue)
  )
  static let schedules = Key(
    "schedules",
    form: "a whole number from 1 to 1000000000",
    help: "how many to look at, at most: 3000000 when exhaustive, else 10000, unless told",
    candidates: ["1000", "10000"]
  )
  static let depth = Key(
    "depth",
    form: "a whole number from 1 to 100",
    help: "for pct: priorities change at one place fewer",
    candidates: ["2", "3", "4"]
  )
  static let instead = Key(
    "instead",
    form: "pct, random or none",
    help: "what draws up to 10000 schedules where an exhaustive search proves too large",
    candidates: ["pct", "random", "none"]
  )

  static let ofScenario = [tasks, Keys.limit, cancel, fail, bound, visits, resize, fair, inside]
  static let all = ofScenario + [preemptions, strategy, schedules, depth, instead, Keys.seed]

  /// What the keys ask to be explored of a mechanism.
  static func scenario(
    of mechanism: CatalogueEntry,
    at word: Word,
    _ arguments: Arguments
  ) throws(ShellError) -> ExplorationScenario {
    var scenario = ExplorationScenario(mechanism)
    if let inside = try arguments.value(inside, { ["yes": true, "no": false][$0] }) {
      scenario.inside = inside
    }
    let count = { ValueSyntax.count($0, in: 1...60) }
    if let tasks = try arguments.value(tasks, count) { scenario.tasks = tasks }
    if let limit = try arguments.value(Keys.limit, Keys.parseLimit) { scenario.limit = limit }
    if let cancels = try arguments.value(cancel, { ["any": true, "none": false][$0] }) {
      scenario.cancels = cancels
    }
    if let fails = try arguments.value(fail, { ["all": true, "none": false][$0] }) {
      scenario.fails = fails
    }
    scenario.overtakingBound = try arguments.value(bound) { ValueSyntax.count($0, in: 0...1_000) }
    scenario.visits = try arguments.value(visits) { ValueSyntax.count($0, in: 1...10) } ?? 1
    scenario.resize = try arguments.value(resize, Keys.parseLimit)
    if let fair = try arguments.value(
      fair,
      { $0 == "none" ? 0 : ValueSyntax.count($0, in: 1...1_000) }
    ) {
      scenario.fair = fair == 0 ? nil : fair
    }
    do {
      try scenario.check()
    } catch {
      throw ShellError(error.description, at: word)
    }
    return scenario
  }

  static func plan(
    _ arguments: Arguments,
    of scenario: ExplorationScenario,
    seed: UInt64
  ) throws(ShellError) -> ExplorationPlan {
    let bound = try arguments.value(
      preemptions,
      { $0 == "none" ? -1 : ValueSyntax.count($0, in: 0...1_000) }
    )
    let strategy =
      try arguments.value(strategy, ExplorationReport.Strategy.init(rawValue:)) ?? .exhaustive
    let most = try arguments.value(schedules) { ValueSyntax.count($0, in: 1...1_000_000_000) }
    let told = bound.map { $0 < 0 ? nil : $0 }
    var plan = ExplorationPlan(
      strategy: strategy,
      schedules: most,
      seed: try arguments.value(Keys.seed, Keys.parseSeed) ?? seed,
      depth: try arguments.value(depth) { ValueSyntax.count($0, in: 1...100) } ?? 3,
      preemptions: told ?? (scenario.inside ? ExplorationPlan.defaultPreemptions : nil)
    )
    let drawing = try arguments.value(
      instead,
      { ["pct": ExplorationPlan.Instead(.pct), "random": .init(.random), "none": nil][$0] }
    )
    if strategy == .exhaustive { plan.instead = drawing ?? ExplorationPlan.Instead(.pct) }
    let isOpen = try arguments.value(inside, { $0 }) == nil
    // A specimen is explored with what shows its defect.
    if isOpen, scenario.mechanism.profile.exposure == nil,
      ExplorationScenario.canStopInside(scenario.mechanism)
    {
      var further = ExplorationPlan.Inside(strategy)
      if let most { further.schedules = most }
      // Only an exhaustive search has a bound.
      let chosen = strategy == .exhaustive ? told : nil
      if let chosen { further.preemptions = [chosen] }
      if most != nil || chosen != nil { further.steps = .max }
      plan.inside = further
    }
    return plan
  }

  /// A note for each key that changes nothing, because of the strategy or of the mechanism.
  static func ignored(
    _ arguments: Arguments,
    by scenario: ExplorationScenario,
    _ plan: ExplorationPlan,
    _ report: ExplorationReport
  ) throws(ShellError) -> [Note] {
    var notes = try ignoredLimit(arguments, by: scenario)
    func note(_ key: Key, because why: String) {
      guard let word = arguments.values[key.name] else { return }
      notes.append(
        Note(
          text: "\(key.name)=\(word.text) has no effect: \(why)",
          command: "help explore",
          isViolation: false
        )
      )
    }
    let strategy = "strategy=\(plan.strategy.rawValue)"
    if plan.strategy == .exhaustive {
      if report.draws == nil { note(Keys.seed, because: "\(strategy) draws nothing at random") }
    } else {
      if arguments.values[preemptions.name]?.text != "none" {
        note(preemptions, because: "\(strategy) keeps to no bound; only an exhaustive search does")
      }
      note(
        instead,
        because: "\(strategy) draws from the beginning; only an exhaustive search goes over"
      )
    }
    if plan.strategy != .pct, report.draws?.depth == nil {
      note(depth, because: "it is for strategy=pct, and this is \(strategy)")
    }
    return notes
  }

  static func ignoredLimit(
    _ arguments: Arguments,
    by scenario: ExplorationScenario
  ) throws(ShellError) -> [Note] {
    guard let limit = try arguments.value(Keys.limit, Keys.parseLimit),
      scenario.effectiveLimit != limit
    else { return [] }
    let overlaps = scenario.mechanism.profile.order == .fifoToFirstSuspension
    return [
      .ignored(
        limit: limit,
        by: scenario.mechanism,
        scenario.effectiveLimit,
        overlaps: overlaps
      )
    ]
  }
}

extension Note {
  /// That a limit changes nothing, as the mechanism has another by nature, or none.
  static func ignored(
    limit: Int,
    by mechanism: CatalogueEntry,
    _ effectiveLimit: Int?,
    overlaps: Bool
  ) -> Note {
    let id = mechanism.id
    let why =
      switch (effectiveLimit, overlaps) {
      case (nil, _): "the mechanism '\(id)' has no limit"
      case (_, true): "\(id) starts one task at a time, and tasks that suspend overlap"
      case (_, false): "\(id) runs one task at a time"
      }
    return Note(
      text: "limit=\(limit) has no effect: \(why)",
      command: "explain \(id)",
      isViolation: false
    )
  }
}
