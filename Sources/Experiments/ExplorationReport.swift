internal import Basics
package import Exploration
internal import Mechanisms
internal import Synchronization

/// What an exploration found, as plain values for views.
package struct ExplorationReport: Sendable, Codable {
  /// How to look for schedules.
  package enum Strategy: String, CaseIterable, Hashable, Sendable, Codable {
    case exhaustive
    case random
    case pct
  }

  /// One step of a schedule, in words.
  package struct Step: Hashable, Sendable, Codable {
    /// From 1.
    package var number: Int
    /// `t02`, or `·` for the driver, or `helper`.
    package var actor: String
    package var description: String
    /// What became of each task by this step, by number from 1.
    package var states: [TaskState]
    package var running: Int
    package var waiting: Int
    /// What promise the step broke, if it did.
    package var broke: String?
    /// Whether nothing of it can be seen from outside: it led from one suspension to the next.
    package var isUneventful: Bool
    /// Which line each task stands at after the step, by number from 1; nil where it has not begun, has ended
    /// or is elsewhere than in the code under study.
    package var lines: [CodeUnderStudy.Line?] = []
    /// The task that takes the step or is cancelled by it, from 1; 0 for none.
    package var task = 0
    /// The line the step goes on from.
    package var from: CodeUnderStudy.Line?
    /// The lines that waiting tasks come to by it, where nothing but its words tells.
    package var arrivals: [CodeUnderStudy.Line] = []
    /// Whom it took the turn from, though it could have gone on: `t02`.
    package var preempted: String?

    /// The moments of a step in which a body both begins and ends, in order; empty where there is but one.
    package var within: [Moment] = []

    /// What happens: whom it pre-empts, and what it does.
    package var words: String { (preempted.map { "pre-empts \($0); " } ?? "") + description }

    /// What is to be shown of it, one after the other: what stands behind the step, and before that each moment
    /// at which a body runs that is gone when the step has ended.
    package var moments: [Moment] {
      guard within.isEmpty else { return within }
      return [
        Moment(words: words, states: states, running: running, waiting: waiting, broke: broke)
      ]
    }
  }

  /// How things stand at the end of a step, or in its middle.
  package struct Moment: Hashable, Sendable, Codable {
    /// What has happened since the moment before.
    package var words: String
    package var states: [TaskState]
    package var running: Int
    package var waiting: Int
    package var broke: String?
  }

  /// Where a task is after a step.
  package enum TaskState: Hashable, Sendable, Codable {
    case absent
    case waiting
    case running
    case ended(TraceEnd)
  }

  package enum TraceEnd: Hashable, Sendable, Codable {
    case finished
    case failed
    case cancelled
  }

  /// A broken promise: its kind, such as `over-admission`, and what was broken in words.
  package struct Broken: Hashable, Sendable, Codable {
    package var kind: String
    package var message: String

    /// A program that ended in the middle of a schedule, with what it said last.
    package static func trap(_ message: String) -> Self {
      Self(kind: Violation.Kind.trap.rawValue, message: message)
    }

    /// A step that does not end.
    package static func livelock(_ message: String) -> Self {
      Self(kind: Violation.Kind.livelock.rawValue, message: message)
    }
  }

  /// Two steps whose order matters, by their numbers.
  package struct Race: Hashable, Sendable, Codable {
    package var first: Int
    package var second: Int
  }

  /// The schedules that were drawn where there were too many to be searched in order.
  package struct Draws: Hashable, Sendable, Codable {
    /// The depth of PCT; nil where each choice was drawn at random.
    package var depth: Int?
    package var seed: UInt64
    /// How many were searched in order before.
    package var inOrder: Int
    /// About how many there are, in digits and words.
    package var about: String
    /// How many of those had room within the limits.
    package var room: Int
    package var wanted: Int
    package var drawn: Int
    /// How many agents there were in one of them, and how many steps, at most.
    package var agents: Int
    package var steps: Int
    /// With which chance each of them shows a defect of that depth, at least; nil where nothing says so.
    package var chance: Double?
    /// How they are drawn, in words.
    package var way: String
    /// What is told when it goes over to them.
    package var announcement: String

    init(_ draws: Exploration.Draws) {
      depth = draws.depth
      seed = draws.seed
      inOrder = draws.inOrder
      about = Exploration.Draws.about(draws.estimate)
      room = draws.room
      wanted = draws.wanted
      drawn = draws.drawn
      agents = draws.agents
      steps = draws.steps
      chance = draws.chance
      way = draws.way
      announcement = draws.announcement
    }
  }

  /// How many schedules broke a promise.
  package struct Failure: Hashable, Sendable, Codable {
    package var kind: String
    package var count: Int
  }

  /// The schedule first found to break a promise, and the smallest that does.
  package struct Found: Sendable, Codable {
    package var schedule: String
    package var minimum: ScheduleDescription
  }

  /// A schedule told step by step.
  package struct ScheduleDescription: Sendable, Codable {
    package var steps: [Step]
    /// The number of the last step that belongs to the schedule; what follows is the aftermath.
    package var length: Int
    package var preemptions: Int
    package var cancellations: Int
    package var tasks: Int
    package var limit: Int?
    /// The code that the steps' lines are of; empty where the build does not tell.
    package var code: CodeUnderStudy
    package var violation: Broken?
    package var race: Race?
    /// Whether nothing smaller fails.
    package var isMinimal: Bool
    /// The line that replays it.
    package var schedule: String
  }

  package var scenario: ExplorationScenario
  package var strategy: Strategy
  package var seed: UInt64
  /// How many pre-emptions a schedule may have; nil for any number.
  package var preemptions: Int?
  package var isExhaustive: Bool
  package var schedules: Int
  package var steps: Int
  package var elapsed: Duration
  package var failed: Int
  /// How many schedules broke which promise, the gravest first.
  package var failures: [Failure]
  package var found: Found?
  package var wasInterrupted: Bool
  /// Whether the search ended at its number of schedules, with more to look at.
  package var isCut: Bool {
    strategy == .exhaustive && !isExhaustive && !wasInterrupted && found == nil && givenUp == 0
      && draws == nil
  }
  /// About how many schedules there are, where the search in order has ended before its end and looked at enough to
  /// tell.
  package var estimate: Double?
  /// What was drawn where there were too many schedules to be searched in order.
  package var draws: Draws?
  /// How many schedules there are between jobs, all of which were looked at before those inside
  /// synchronous code; nil where only one of the two was asked for.
  package var schedulesBetweenJobs: Int?
  /// Schedules given up because they got too long; with any, the coverage is not exhaustive.
  package var givenUp: Int
  /// Whether the search ended with the first violation.
  package var stoppedAtFirst: Bool
  /// Whether it ended with a schedule that ended the program, behind which no search can go on.
  package var endedProgram = false
  /// How many schedules were looked at until the first that broke a promise.
  package var firstFailureAt: Int?
  /// What the verdict does not speak of, one noun phrase each.
  package var notAsked: [String]
  /// Tasks that had not ended when all had been done to end them, and whose memory is lost.
  package var tasksLost: Int
}

/// How to explore.
package struct ExplorationPlan: Sendable, Codable {
  package var strategy = ExplorationReport.Strategy.exhaustive
  /// How many schedules to look at, at most.
  package var schedules: Int
  package var seed: UInt64
  /// The depth of `pct`: one more than the places at which priorities change.
  package var depth: Int
  /// Whether to go on behind the first violation.
  package var all: Bool
  /// How often a task that could go on may be made to wait, at most, in an exhaustive search; nil for any
  /// number.
  package var preemptions: Int?
  /// How to go on inside synchronous code once nothing fails between jobs; nil for only what the scenario
  /// itself asks for.
  package var inside: Inside?
  /// What an exhaustive search goes over to where it is too large; nil for nothing.
  package var instead: Instead?

  /// What to draw, with the plan's seed, and with its depth if it is PCT.
  package struct Instead: Hashable, Sendable, Codable {
    /// `random` or `pct`.
    package var strategy: ExplorationReport.Strategy
    package var schedules: Int

    package init(
      _ strategy: ExplorationReport.Strategy = .pct,
      schedules: Int = ExplorationPlan.defaultSchedules
    ) {
      self.strategy = strategy
      self.schedules = schedules
    }
  }

  /// Whether the smallest schedule that fails is to name the lines that tasks stand at, also between jobs:
  /// looking them up takes about a second.
  package var withPlaces = false

  /// How to go on inside.
  package struct Inside: Sendable, Codable {
    package var schedules: Int
    /// The bounds on pre-emptions, the next of which is tried where the one before was soon done.
    package var preemptions: [Int?]
    /// How many steps to take with one bound, at most.
    package var steps: Int

    /// How many steps that is where nobody asked for any number: a few seconds.
    package static let mostSteps = 160_000

    /// With the bounds that hold unless told.
    package init(_ strategy: ExplorationReport.Strategy) {
      let isExhaustive = strategy == .exhaustive
      schedules = isExhaustive ? ExplorationPlan.mostSchedules : ExplorationPlan.defaultSchedules
      preemptions = isExhaustive ? [1, ExplorationPlan.defaultPreemptions] : [nil]
      steps = Self.mostSteps
    }

    /// Whether a search with one more pre-emption is likely to be done in time, too.
    func isSoonDone(after steps: Int) -> Bool { 4 * steps < self.steps }
  }

  /// The bound where tasks stop inside synchronous code, unless told: most defects need fewer.
  package static let defaultPreemptions = 2
  /// How many schedules the random strategies look at unless told.
  package static let defaultSchedules = 10_000
  /// How many an exhaustive search looks at before it ends as bounded, unless told.
  ///
  /// All that the lessons and the tests call exhaustive stays far below.
  package static let mostSchedules = 3_000_000

  package init(
    strategy: ExplorationReport.Strategy = .exhaustive,
    schedules: Int? = nil,
    seed: UInt64 = 1,
    depth: Int = 3,
    all: Bool = false,
    preemptions: Int? = nil
  ) {
    self.preemptions = strategy == .exhaustive ? preemptions : nil
    self.strategy = strategy
    self.schedules =
      schedules ?? (strategy == .exhaustive ? Self.mostSchedules : Self.defaultSchedules)
    self.seed = seed
    self.depth = depth
    self.all = all
  }
}

/// Ends an exploration from another thread, and says how far it has come.
package final class ExplorationControl: Sendable {
  private let isStopped = Atomic(false)
  private let looked = Atomic(0)
  private let drawn = Mutex<ExplorationReport.Draws?>(nil)
  /// The journal of the exploration in another program that this one stands for, if it does.
  private let followed = Mutex<ScheduleJournal?>(nil)
  /// What another program reads and writes who explores here on its behalf.
  private let journal = ScheduleJournal.ofThisProgram

  package init() {}

  /// Has it stand for an exploration in another program, which keeps this journal.
  package func follow(_ journal: ScheduleJournal) {
    followed.withLock { $0 = journal }
    looked.store(journal.schedules, ordering: .relaxed)
    if let draws = journal.draws { drawn.withLock { $0 = ExplorationReport.Draws(draws) } }
    if shouldStop() { journal.stop() }
  }

  package func stop() {
    isStopped.store(true, ordering: .relaxed)
    // At once, and not when somebody next looks how far the other program is.
    followed.withLock { $0 }?.stop()
  }

  /// How many schedules have been looked at.
  package var schedules: Int { looked.load(ordering: .relaxed) }

  /// What it has gone over to, as there are too many schedules to be searched in order; nil if it has not.
  package var draws: ExplorationReport.Draws? { drawn.withLock { $0 } }

  func shouldStop(_ progress: ExplorationProgress) -> Bool {
    looked.store(progress.schedules, ordering: .relaxed)
    if let draws = progress.draws {
      drawn.withLock { $0 = ExplorationReport.Draws(draws) }
      journal?.note(draws)
    }
    return shouldStop()
  }

  func shouldStop() -> Bool {
    isStopped.load(ordering: .relaxed) || journal?.isStopAsked == true
  }
}

extension ExplorationScenario {
  /// Explores on a thread of its own; a violation is reduced to the smallest schedule that shows it.
  ///
  /// Between jobs first: there are few such schedules, and what fails is told in few steps.
  package func explore(
    _ plan: ExplorationPlan,
    _ control: ExplorationControl = ExplorationControl()
  ) async throws(ExplorationFailure) -> ExplorationReport {
    let between = try await look(plan, control)
    guard let further = plan.inside, !inside, between.found == nil,
      between.isExhaustive || plan.strategy != .exhaustive, !between.wasInterrupted
    else { return between }
    var (inner, plan) = (self, plan)
    inner.inside = true
    plan.schedules = further.schedules
    var best: ExplorationReport?
    var elapsed = between.elapsed
    for bound in further.preemptions {
      if let best, !further.isSoonDone(after: best.steps) { break }
      plan.preemptions = plan.strategy == .exhaustive ? bound : nil
      let report = try await inner.look(plan, control, mostSteps: further.steps)
      elapsed += report.elapsed
      // What was looked at to its end says more than a part of more.
      if best == nil || report.isExhaustive || report.found != nil { best = report }
      if !report.isExhaustive { break }
    }
    guard var report = best else { return between }
    report.elapsed = elapsed
    if between.isExhaustive { report.schedulesBetweenJobs = between.schedules }
    return report
  }

  private func look(
    _ plan: ExplorationPlan,
    _ control: ExplorationControl,
    mostSteps: Int = .max
  ) async throws(ExplorationFailure) -> ExplorationReport {
    let scenario = scenario
    do {
      return try await onOwnThread { [self] in
        let strategy: Explorer.Strategy =
          switch plan.strategy {
          case .exhaustive: .exhaustive
          case .random: .random
          case .pct: .pct(depth: plan.depth)
          }
        var exploration = Explorer(
          strategy: strategy,
          schedules: plan.schedules,
          seed: plan.seed,
          preemptions: plan.preemptions,
          stopsAtViolation: !plan.all
        )
        exploration.mostSteps = mostSteps
        let start = ContinuousClock.now
        exploration.instead = plan.instead.map {
          Explorer.Instead(
            depth: $0.strategy == .pct ? plan.depth : nil,
            schedules: $0.schedules,
            seed: plan.seed
          )
        }
        let verdict = try exploration(scenario, shouldStop: control.shouldStop)
        let found = try verdict.found.map { found in
          var minimum = try Minimum(of: found, in: scenario, shouldStop: control.shouldStop)
          if inside || plan.withPlaces {
            minimum.replay = try Replay(
              of: minimum.schedule,
              in: minimum.scenario,
              withAftermath: true,
              withPlaces: true
            )
          }
          return ExplorationReport.Found(
            schedule: "\(found.schedule)",
            minimum: description(of: minimum)
          )
        }
        var report = report(verdict, plan, found, longest: exploration.longest)
        // Most of it may go to making what failed smaller.
        report.elapsed = ContinuousClock.now - start
        return report
      }
    } catch {
      throw ExplorationFailure(ofExploration: error, of: scenario.name)
    }
  }

  /// Runs one schedule again and tells what happened.
  package func replay(
    _ schedule: String,
    withAftermath: Bool = true,
    withPlaces: Bool = false
  ) async throws(ExplorationFailure) -> ExplorationReport.ScheduleDescription {
    let scenario = scenario
    do {
      return try await onOwnThread { [self] in
        let schedule = try Schedule(parsing: schedule)
        let replay = try Replay(
          of: schedule,
          in: scenario,
          withAftermath: withAftermath,
          withPlaces: inside || withPlaces
        )
        return description(of: replay, schedule, tasks: tasks, race: nil, isMinimal: false)
      }
    } catch {
      throw ExplorationFailure(description: "\(error)")
    }
  }

  /// The scenario a schedule belongs to.
  package init(ofSchedule schedule: String) throws(ExplorationFailure) {
    do {
      let parsed = try Schedule(parsing: schedule)
      guard let scenario = ExplorationScenario(name: parsed.scenario) else {
        throw ExplorationFailure(
          description:
            "no scenario is named '\(parsed.scenario)'; the schedule was made by another version"
        )
      }
      self = scenario
    } catch let failure as ExplorationFailure {
      throw failure
    } catch {
      throw ExplorationFailure(description: "\(error)")
    }
  }

  private func report(
    _ verdict: Verdict,
    _ plan: ExplorationPlan,
    _ found: ExplorationReport.Found?,
    longest: Int
  ) -> ExplorationReport {
    ExplorationReport(
      scenario: self,
      strategy: plan.strategy,
      seed: plan.seed,
      preemptions: plan.preemptions,
      isExhaustive: verdict.coverage == .exhaustive,
      schedules: verdict.schedules,
      steps: verdict.steps,
      elapsed: verdict.elapsed,
      failed: verdict.failed,
      failures: Violation.Kind.allCases.compactMap { kind in
        verdict.failures[kind].map { ExplorationReport.Failure(kind: kind.rawValue, count: $0) }
      },
      found: found,
      wasInterrupted: verdict.wasInterrupted,
      estimate: verdict.estimate,
      draws: verdict.draws.map(ExplorationReport.Draws.init),
      givenUp: verdict.givenUp,
      stoppedAtFirst: !plan.all && verdict.failed > 0 && verdict.coverage == .bounded,
      firstFailureAt: verdict.firstFailureAt,
      notAsked: NotAsked(
        verdict,
        of: scenario,
        preemptions: plan.preemptions,
        longest: longest,
        further: notAskedOfLimiter
      ).phrases,
      tasksLost: verdict.tasksLost
    )
  }

  /// The report of an exploration that a schedule ended.
  func report(
    of schedule: String,
    endedBy broken: ExplorationReport.Broken,
    _ story: ExplorationReport.ScheduleDescription,
    _ plan: ExplorationPlan,
    schedules: Int,
    steps: Int,
    elapsed: Duration
  ) -> ExplorationReport {
    ExplorationReport(
      scenario: self,
      strategy: plan.strategy,
      seed: plan.seed,
      preemptions: plan.preemptions,
      isExhaustive: false,
      schedules: schedules,
      steps: steps,
      elapsed: elapsed,
      failed: 1,
      failures: [ExplorationReport.Failure(kind: broken.kind, count: 1)],
      found: ExplorationReport.Found(schedule: schedule, minimum: story),
      wasInterrupted: false,
      givenUp: 0,
      stoppedAtFirst: true,
      endedProgram: true,
      firstFailureAt: schedules,
      notAsked: [NotAsked.schedulesBehind(schedules)],
      tasksLost: 0
    )
  }

  /// What is not asked of a limiter, of all that could be.
  private var notAskedOfLimiter: [String] {
    var left: [String] = []
    if !fails { left.append("bodies that throw") }
    if let overtakingBound, overtakingBound > 0,
      [.fifo, .fifoToFirstSuspension].contains(mechanism.profile.order)
    {
      left.append("up to \(overtakingBound) overtakings of a waiting task")
    }
    if !mechanism.profile.lendsPermitsOnly { left.append("whether all permits come back") }
    return left
  }

  private func description(of minimum: Minimum) -> ExplorationReport.ScheduleDescription {
    description(
      of: minimum.replay,
      minimum.schedule,
      tasks: minimum.scenario.tasks,
      race: minimum.race.map { ExplorationReport.Race(first: $0.first, second: $0.second) },
      isMinimal: minimum.isMinimal
    )
  }

  private func description(
    of replay: Replay,
    _ schedule: Schedule,
    tasks: Int,
    race: ExplorationReport.Race?,
    isMinimal: Bool
  ) -> ExplorationReport.ScheduleDescription {
    let code = CodeUnderStudy(of: replay.steps)
    return ExplorationReport.ScheduleDescription(
      steps: ExplorationReport.Step.all(replay.steps, tasks: tasks, code),
      length: replay.length,
      preemptions: replay.preemptions,
      cancellations: replay.steps.prefix(replay.length).count { $0.choice.kind == .cancel },
      tasks: tasks,
      limit: effectiveLimit,
      code: code,
      violation: replay.violation.map(ExplorationReport.Broken.init),
      race: race,
      isMinimal: isMinimal,
      schedule: "\(schedule)"
    )
  }
}

extension ExplorationReport.Broken {
  init(_ violation: Violation) {
    self.init(kind: violation.kind.rawValue, message: violation.message)
  }
}

/// Why something cannot be explored or replayed; one line.
package struct ExplorationFailure: Error, Hashable, CustomStringConvertible, Codable {
  package let description: String
  /// Whether the same steps led to different runs.
  package private(set) var isDivergence = false

  package init(description: String) { self.description = description }

  /// Of an exploration that ended so: its schedules were made a moment ago, by the same code.
  init(ofExploration error: any Error, of scenario: String) {
    isDivergence =
      switch error as? ScheduleError {
      case .diverged, .notPossible, .otherRun: true
      default: false
      }
    description =
      isDivergence ? "\(ScheduleError.diverged(scenario: scenario))" : "\(error)"
  }
}

extension ExplorationReport.Step {
  /// The records in words, with where each task is after each.
  static func all(_ records: [StepRecord], tasks: Int, _ code: CodeUnderStudy) -> [Self] {
    var states = Array(repeating: ExplorationReport.TaskState.absent, count: tasks)
    var lines: [CodeUnderStudy.Line?] = []
    return records.map { told in
      let record = code.named(told)
      var within = moments(of: record, from: &states)
      let isBefore = lines.indices.contains(record.task - 1)
      let from =
        record.place.map(CodeUnderStudy.Line.init) ?? (isBefore ? lines[record.task - 1] : nil)
      let stood = lines
      lines = record.stands.prefix(tasks).map {
        CodeUnderStudy.line($0).map(CodeUnderStudy.Line.init)
      }
      let moves = moves(in: record, from: stood, to: lines, states, code)
      let task = moves.server ?? record.task
      let begin = moves.server.flatMap { stood.indices.contains($0 - 1) ? stood[$0 - 1] : nil }
      if let last = within.indices.last { within[last].words += moves.words }
      return Self(
        number: record.number,
        actor: moves.server.map(name) ?? record.actor,
        description: moves.server == nil ? record.description + moves.words : moves.words,
        states: states,
        running: record.running,
        waiting: record.waiting,
        broke: record.violation?.message,
        isUneventful: record.isUneventful && moves.words.isEmpty,
        lines: lines,
        task: task,
        from: moves.server == nil ? from : begin,
        arrivals: moves.arrivals,
        preempted: record.preempted,
        within: within.count > 1 ? within : []
      )
    }
  }

  /// As the steps call a task, whatever their number: `t02`.
  private static func name(_ task: Int) -> String { TaskLabel.text(task, amongst: 0) }

  /// Where waiting tasks have come to, which nothing else tells: a task that has looked for a permit and found
  /// none stands at another line than before, long before it parks.
  ///
  /// - Returns: it in words, behind what else the step did, the lines they have come to, and the task whose code ran
  ///   where an actor had its turn for no other reason.
  private static func moves(
    in record: StepRecord,
    from before: [CodeUnderStudy.Line?],
    to after: [CodeUnderStudy.Line?],
    _ states: [ExplorationReport.TaskState],
    _ code: CodeUnderStudy
  ) -> (words: String, arrivals: [CodeUnderStudy.Line], server: Int?) {
    // Operations name their lines themselves.
    guard record.operation == nil, !record.goesOn, before.count == after.count else {
      return ("", [], nil)
    }
    func text(_ place: Int, labelled: Bool = true) -> String? {
      after[place].flatMap(code.labelled).map { line in
        "'\(line.code)'" + (labelled ? line.label.map { ", \($0)" } ?? "" : "")
      }
    }
    // A task that waits: each such line. Another: only a line whose author says what it is about to do.
    let moved = after.indices.filter { place in
      let label = after[place].flatMap(code.labelled)?.label
      return (states[place] == .waiting || label != nil)
        && before[place] != nil && before[place] != after[place] && text(place) != nil
    }
    let arrivals = moved.compactMap { after[$0] }
    if record.isUneventful, record.choice.kind == .turn, moved.count == 1, let line = text(moved[0])
    {
      return ("comes to \(line)", arrivals, moved[0] + 1)
    }
    var words = moved.compactMap { place -> String? in
      guard let line = text(place) else { return nil }
      let who = place + 1 == record.task ? "" : name(place + 1) + " "
      return "; \(who)comes to \(line)"
    }
    if record.isParked, ![.cancel, .limit].contains(record.choice.kind), record.reports.isEmpty,
      after.indices.contains(record.task - 1), !moved.contains(record.task - 1),
      let line = text(record.task - 1, labelled: false)
    {
      words.append(" at \(line)")
    }
    // Who has gone on from a line that says what is to come has done it, which nothing else tells.
    let own = record.task - 1
    if record.reports.isEmpty, before.indices.contains(own), before[own] != after[own],
      !record.isParked,
      let line = before[own].flatMap(code.labelled), line.label?.hasPrefix("to ") == true
    {
      words.append("; has run '\(line.code)'")
    }
    return (words.joined(), arrivals, nil)
  }

  /// What is to be seen of the record, one after the other; `states` becomes what stands behind it.
  private static func moments(
    of record: StepRecord,
    from states: inout [ExplorationReport.TaskState]
  ) -> [ExplorationReport.Moment] {
    let parts = record.moments
    return parts.enumerated().map { index, reports in
      for report in reports where states.indices.contains(report.task - 1) {
        states[report.task - 1] = state(after: report.observation)
      }
      let isEnd = index == parts.count - 1
      let preempts = index == 0 ? record.preempted.map { "pre-empts \($0); " } ?? "" : ""
      // What no report broke, the step as a whole did.
      let isOfReport = record.reports.contains { $0.violation != nil }
      let broke =
        reports.lazy.compactMap(\.violation).first
        ?? (isEnd && !isOfReport ? record.violation : nil)
      return ExplorationReport.Moment(
        words: preempts + record.words(of: reports, isEnd: isEnd),
        states: states,
        running: isEnd ? record.running : reports.last?.running ?? record.running,
        waiting: isEnd ? record.waiting : reports.last?.waiting ?? record.waiting,
        broke: broke?.message
      )
    }
  }

  private static func state(after observation: Observation) -> ExplorationReport.TaskState {
    switch observation {
    case .arrived, .holdsConnection, .holdsFile: .waiting
    case .admitted: .running
    case .finished: .ended(.finished)
    case .failed, .rejected, .lostResult: .ended(.failed)
    case .cancelledRunning, .cancelledWaiting: .ended(.cancelled)
    }
  }
}
