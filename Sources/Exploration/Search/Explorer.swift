internal import Basics
internal import ExplorableSynchronization

/// Looks at the schedules of a scenario and says which promises hold in them.
///
/// Limits, to be said wherever a verdict is: choices are made between jobs, and inside them only where the
/// scenario says so, at locks, atomics and calls that can be stopped at; jobs run
/// one at a time, so the order of memory accesses is not explored, and data races are seen in instrumented code only
/// (`Race`); time is chosen, not measured; what runs on threads that the code under study has not started is not
/// explored.
package struct Explorer: Sendable {
  package enum Strategy: Hashable, Sendable {
    /// Every schedule, depth first.
    case exhaustive
    /// Each choice uniformly at random.
    case random
    /// Random priorities that change at `depth` − 1 places.
    case pct(depth: Int)
  }

  package var strategy: Strategy
  /// How many schedules to look at, at most.
  package var schedules: Int
  /// How many steps to take, at most, over all schedules.
  package var mostSteps = Int.max
  /// What random strategies draw from.
  package var seed: UInt64
  /// How many pre-emptions the exhaustive strategy allows in a schedule; nil for any number.
  package var preemptions: Int?
  /// Which schedules the exhaustive strategy lets others stand for; the random ones use none.
  package var reduction: Reduction
  /// A schedule that gets this long is given up, and the coverage is not exhaustive.
  package var longest: Int
  /// Whether the first violation ends the exploration.
  package var stopsAtViolation: Bool
  /// What follows where a search in order is too large for its limits; nil for nothing.
  package var instead: Instead?
  /// How long the exploration may take, which `shouldStop` sees to; nil for any time.
  package var time: Duration?

  /// What to draw where there are too many schedules to be searched in order.
  package struct Instead: Hashable, Sendable {
    /// The depth of PCT; nil for each choice at random.
    package var depth: Int?
    /// How many schedules, at most.
    package var schedules: Int
    package var seed: UInt64

    package init(depth: Int?, schedules: Int, seed: UInt64) {
      self.depth = depth
      self.schedules = schedules
      self.seed = seed
    }
  }

  package init(
    strategy: Strategy = .exhaustive,
    schedules: Int = .max,
    seed: UInt64 = 1,
    preemptions: Int? = nil,
    reduction: Reduction = .full,
    longest: Int = 10_000,
    stopsAtViolation: Bool = false
  ) {
    self.strategy = strategy
    self.schedules = schedules
    self.seed = seed
    self.preemptions = preemptions
    self.reduction = reduction
    self.longest = longest
    self.stopsAtViolation = stopsAtViolation
  }

  /// Explores on the calling thread.
  ///
  /// - Parameters:
  ///   - scenario: what to explore.
  ///   - shouldStop: asked at the first step and then some fifty times a second, also in the middle of a
  ///     schedule, with how far it has come; true ends the exploration with what was
  ///     found, once the step under way has ended.
  /// - Returns: what was looked at and what was found.
  /// - Throws: `ExplorationError` when the scenario cannot be explored at all.
  @available(*, noasync, message: "takes the calling thread for long; use onOwnThread")
  package func callAsFunction(
    _ scenario: Scenario,
    shouldStop: (ExplorationProgress) -> Bool = { _ in false }
  ) throws(ExplorationError) -> Verdict {
    var verdict = Verdict(strategy: strategy, seed: seed)
    switch strategy {
    case .exhaustive:
      var search = DepthFirst(
        preemptions: preemptions,
        states: .byCourse,
        overlooked: reduction.overlooked,
        size: SizeEstimate(preemptions: preemptions)
      )
      try explore(scenario, by: &search, reduction, into: &verdict, shouldStop)
      verdict.merged = search.merged
      verdict.isReduced = reduction.mergesCourses
      if search.hasDiverged { throw .diverges(scenario: scenario.name, at: search.divergence) }
      if let options = search.overflow { throw .tooWide(scenario: scenario.name, options: options) }
      if verdict.isCut, verdict.schedules >= SearchRoom.fewest, let left = search.schedulesLeft {
        verdict.estimate = Double(verdict.schedules) + left
      }
      if let draws = verdict.draws { try draw(draws, scenario, into: &verdict, shouldStop) }
    case .random:
      var walk = RandomWalk(seed: seed)
      try explore(scenario, by: &walk, .none, into: &verdict, shouldStop)
      verdict.coverage = .bounded
    case .pct(let depth):
      var priorities = PriorityBased(depth: depth, seed: seed)
      try explore(scenario, by: &priorities, .none, into: &verdict, shouldStop)
      verdict.coverage = .bounded
    }
    return verdict
  }

  /// Draws schedules where the search in order has been left.
  private func draw(
    _ draws: Draws,
    _ scenario: Scenario,
    into verdict: inout Verdict,
    _ shouldStop: (ExplorationProgress) -> Bool
  ) throws(ExplorationError) {
    var further = self
    further.schedules = draws.inOrder + draws.wanted
    further.mostSteps = .max
    further.instead = nil
    guard let depth = draws.depth else {
      var walk = RandomWalk(seed: draws.seed)
      return try further.explore(scenario, by: &walk, .none, into: &verdict, shouldStop)
    }
    // The places of the changes are drawn from the length of the schedules, which is known by now.
    var priorities = PriorityBased(depth: depth, seed: draws.seed, length: verdict.longest)
    try further.explore(scenario, by: &priorities, .none, into: &verdict, shouldStop)
  }

  /// What to go over to, if it is plain that the search in order will not come to its end; asked behind each schedule.
  private func draws(
    insteadOf search: some SearchStrategy,
    after verdict: Verdict,
    _ time: () -> Duration,
    _ room: inout SearchRoom
  ) -> Draws? {
    guard let instead else { return nil }
    let use = SearchRoom.Use(
      schedules: verdict.schedules,
      steps: verdict.steps,
      time: room.time == nil ? .zero : time()
    )
    guard let part = room.partToAskAt(use), let left = search.schedulesLeft,
      SearchRoom.isTooSmall(
        for: left,
        after: use.schedules,
        part: part,
        // Where schedules are left, ever more of them are: the estimate is of more than there will be.
        isBounded: preemptions != nil && !reduction.mergesCourses
      )
    else { return nil }
    // How many fit in a time is not known to the last digit, and the time ends the draws by itself.
    let fitting = SearchRoom(schedules: schedules, steps: mostSteps).left(use)
    return Draws(
      depth: instead.depth,
      seed: instead.seed,
      wanted: min(instead.schedules, fitting),
      inOrder: use.schedules,
      estimate: Double(use.schedules) + left,
      room: room.all(use)
    )
  }

  /// How many schedules may be given up one after the other before any has come to its end.
  private static let mostGivenUpAtFirst = 3
  /// The same where some have.
  private static let mostGivenUpInARow = 20
  /// The same where those that have were all so short that the others are taken to go on for ever.
  private static let mostGivenUpBesideShortOnes = 5

  private func explore(
    _ scenario: Scenario,
    by search: inout some SearchStrategy,
    _ reduction: Reduction,
    into verdict: inout Verdict,
    _ shouldStop: (ExplorationProgress) -> Bool
  ) throws(ExplorationError) {
    let clock = ContinuousClock()
    let start = clock.now
    let run = ScheduleRun(scenario, reduction: reduction)
    defer { run.close() }
    var choices: [Choice] = []
    // A schedule that kept every promise, and what was seen of it.
    var clean: [Choice]?
    var sights: [Sight] = []
    var givenUpInARow = 0
    var asking = Asking()
    var isStopped = false
    var room = SearchRoom(schedules: schedules, steps: mostSteps, time: time)
    var headway = SearchHeadway(inOrder: verdict.draws?.inOrder ?? 0, wanted: schedules)
    while true {
      if verdict.schedules >= schedules || verdict.steps >= mostSteps {
        verdict.isCut = true
        break
      }
      if let draws = draws(insteadOf: search, after: verdict, { clock.now - start }, &room) {
        verdict.draws = draws
        verdict.isCut = true
        break
      }
      search.begin()
      run.begin()
      choices.removeAll(keepingCapacity: true)
      if clean == nil { sights.removeAll(keepingCapacity: true) }
      run.drive { run in
        if clean == nil, let sight = run.sight { sights.append(sight) }
        if run.isOver { return nil }
        if asking.isDue() {
          let progress = ExplorationProgress(
            schedules: verdict.schedules,
            share: headway.share(of: search, after: verdict.schedules),
            draws: verdict.draws
          )
          if shouldStop(progress) { isStopped = true }
        }
        guard !isStopped, run.steps < longest, let index = search.choose(in: run) else {
          return nil
        }
        choices.append(run.options[index].choice)
        return index
      }
      if isStopped, !run.isOver {
        // It was left in the middle, and says nothing.
        verdict.steps += run.steps
        verdict.isCut = true
        verdict.wasInterrupted = true
        run.end()
        break
      }
      if !search.isDeadEnd { verdict.schedules += 1 }
      verdict.steps += run.steps
      verdict.longest = max(verdict.longest, run.steps)
      verdict.draws?.note(choices)
      // Where the tasks report nothing, only so can anybody tell that they retry for ever.
      if scenario.atRest != nil, !run.isOver, run.steps >= longest {
        let judgement = run.judgeLength()
        if judgement.kind == .livelock {
          run.note(judgement)
        } else if verdict.firstGivenUp == nil {
          verdict.firstGivenUp = Verdict.Found(
            violation: judgement,
            schedule: Schedule(scenario: scenario.name, choices: choices)
          )
        }
      }
      if let violation = run.violation {
        verdict.note(
          violation,
          Schedule(scenario: scenario.name, fingerprint: run.fingerprint, choices: choices)
        )
      } else if !run.isOver, !search.isDeadEnd {
        verdict.givenUp += 1
        verdict.coverage = .bounded
        givenUpInARow += 1
      } else if run.isOver {
        givenUpInARow = 0
        verdict.longestEnded = max(verdict.longestEnded, run.steps)
        clean = clean ?? choices
      }
      let isFirstFailure = run.violation != nil && verdict.failed == 1
      // Code that comes to no end is not waited for a thousand times.
      let isFirst = verdict.givenUp == verdict.schedules
      let most =
        isFirst
        ? Self.mostGivenUpAtFirst
        : verdict.hasEndlessOnes(longest)
          ? Self.mostGivenUpBesideShortOnes : Self.mostGivenUpInARow
      verdict.isHopeless = scenario.atRest != nil && givenUpInARow >= most
      run.end()
      if run.executor.escaped { throw .escapes(scenario: scenario.name) }
      if !stopsAtViolation || run.violation == nil, search.beginsAnew(after: run) {
        verdict.schedules = 0
        verdict.givenUp = 0
        room = SearchRoom(schedules: schedules, steps: mostSteps, time: time)
        headway = SearchHeadway(inOrder: 0, wanted: schedules)
        continue
      }
      let hasMore = search.finish(steps: run.steps)
      // State that outlives a schedule would be taken for a defect of the code.
      if isFirstFailure, let clean {
        let (breaksPromises, divergence) = run.repeats(clean, sights)
        if breaksPromises { throw .diverges(scenario: scenario.name, at: divergence) }
      }
      if !hasMore { break }
      if stopsAtViolation && verdict.failed > 0 || run.hasLostThreads || verdict.isHopeless {
        verdict.isCut = true
        break
      }
    }
    // Where no schedule came to its end, nothing is known of any.
    if verdict.isCut || verdict.schedules == 0 { verdict.coverage = .bounded }
    verdict.elapsed += clock.now - start
    verdict.note(run)
  }
}

extension ScheduleRun {
  /// Whether a schedule breaks a promise as it is run some times more, and where it is first another than it was.
  ///
  /// Not asked where threads were given up: they hold their locks for ever, which may be of those that outlive
  /// a schedule.
  fileprivate func repeats(_ choices: [Choice], _ sights: [Sight]) -> (Bool, Divergence?) {
    // What counts up breaks a promise at every second time, or every third.
    for _ in 0..<3 {
      if let workers, workers.lost > 0 { return (false, nil) }
      begin()
      defer { end() }
      let divergence = follow(choices, comparedWith: sights)
      if violation != nil { return (true, divergence) }
    }
    return (false, nil)
  }
}

/// How far an exploration has come.
package struct ExplorationProgress: Sendable {
  /// How many schedules were looked at.
  package var schedules: Int
  /// About which share that is of those there are, or are wanted: 0 to 1.
  package var share: Double
  /// What is drawn, where the search in order was too large.
  package var draws: Draws?
}

/// About which share of what there is to look at lies behind a search.
private struct SearchHeadway {
  /// How many schedules another search has looked at before.
  let inOrder: Int
  /// How many there are to be in the end, at most.
  let wanted: Int
  /// About how many there are, as was last estimated, and when that is done again.
  private var total: Double?
  private var next = 0

  init(inOrder: Int, wanted: Int) {
    self.inOrder = inOrder
    self.wanted = wanted
  }

  mutating func share(of search: some SearchStrategy, after schedules: Int) -> Double {
    if schedules >= next {
      // An estimate takes as long as some schedules.
      next = schedules + schedules / 8 + 8
      total = search.schedulesLeft.map { Double(schedules) + $0 }
    }
    return total.map { min(1, Double(schedules) / $0) }
      ?? Double(schedules - inOrder) / Double(wanted - inOrder)
  }
}

/// What an exploration found.
package struct Verdict: Sendable {
  /// How much was looked at of the schedules within the bounds that the exploration was given.
  ///
  /// One is looked at, too, where another stands for it.
  package typealias Coverage = ExplorationVerdict.Coverage

  /// A violation and a schedule that leads to it.
  package struct Found: Hashable, Sendable {
    package var violation: Violation
    package var schedule: Schedule
  }

  package var strategy: Explorer.Strategy
  package var seed: UInt64
  package internal(set) var coverage = Coverage.exhaustive
  package internal(set) var schedules = 0
  package internal(set) var steps = 0
  /// How many schedules were left where they had come to a state that others had gone on from.
  package internal(set) var merged = 0
  /// Whether any could be.
  var isReduced = false
  package internal(set) var elapsed = Duration.zero
  /// How many schedules broke a promise.
  package internal(set) var failed = 0
  /// How many broke which.
  package internal(set) var failures: [Violation.Kind: Int] = [:]
  /// The first violation of each kind.
  package internal(set) var firsts: [Violation.Kind: Found] = [:]
  /// Schedules given up because they got too long.
  package internal(set) var givenUp = 0
  /// The first of them, and why.
  var firstGivenUp: Found?
  /// Tasks that had not ended when all had been done to end them, over all schedules, and whose memory is
  /// lost.
  ///
  /// A limiter that loses continuations has such, and so have locks that wait for each other, and tasks that
  /// retry for ever although they are cancelled.
  package internal(set) var tasksLost = 0
  package internal(set) var wasInterrupted = false
  /// Whether the search ended before it had looked at all there is.
  var isCut = false
  /// Whether schedule after schedule came to no end, and the rest was left.
  var isHopeless = false
  /// Steps of the longest schedule that came to its end.
  var longestEnded = 0
  /// Whether it is of one schedule that was run again.
  var isReplay = false
  /// About how many schedules there are, where a search in order was cut that had looked at enough to tell.
  package internal(set) var estimate: Double?
  /// What was drawn instead of the rest.
  package internal(set) var draws: Draws?
  /// Steps of the longest schedule.
  var longest = 1
  /// How many schedules were looked at until the first that broke a promise, that one included.
  package internal(set) var firstFailureAt: Int?
  /// Whether the fairness bound left schedules out.
  package internal(set) var wasKeptFair = false
  /// The kinds of operations that code came to, before each of which it can stop.
  var operations: Set<SynchronizationOperation.Kind> = []
  /// Where a task first waited for the runtime's own time, however that ended; nil if none did.
  var timerPoints: [UInt]?
  /// Where jobs began that came to no instrumented code.
  var unseen: [UInt] = []
  /// Whether the closure that is explored is not instrumented itself.
  var isClosureUnseen = false
  /// Where a step was that did not come to its end in the time allowed.
  var runawayPoints: [UInt] = []
  /// Functions that the code called whose work nobody sees, and from where first.
  var unseenCalls: [String: [UInt]] = [:]
  /// What code asked that was answered in one way only.
  var oneAnswer = OneAnswer()
  /// Whether code started a `Thread` of Foundation.
  var sawThread = false
  /// Whether a lock inside of Foundation put agents in an order.
  var sawLockInside = false
  /// Where a thread still waited when all else of a schedule had ended; nil if none did.
  var leftThread: [UInt]?
  /// What was done to find data races.
  var races = Race.Search()
  /// Whether an actor had turns; between two jobs of one turn no other agent takes a step.
  package internal(set) var sawActorTurn = false
  /// Whether code started a task of its own.
  package internal(set) var sawStart = false

  /// Whether some schedules were left at so many steps, and all that came to their end were so much shorter that those
  /// are taken to go on for ever.
  func hasEndlessOnes(_ longest: Int) -> Bool {
    givenUp > 0 && givenUp < schedules && longestEnded <= longest / 20
  }

  /// Notes what a search has seen besides, which has come to its end.
  mutating func note(_ run: ScheduleRun) {
    tasksLost += run.tasksLost
    wasKeptFair = wasKeptFair || run.wasKeptFair
    sawActorTurn = sawActorTurn || run.sawActorTurn
    sawStart = sawStart || run.sawStart
    operations.formUnion(run.operations)
    timerPoints = timerPoints ?? run.executor.escapes.timerPoints
    unseen = Set(unseen).union(run.unseen.beginnings).sorted()
    isClosureUnseen = isClosureUnseen || run.unseen.isClosureUnseen
    unseenCalls.merge(run.unseen.calls) { first, _ in first }
    oneAnswer.add(run.oneAnswer)
    sawThread = sawThread || run.sawThread
    sawLockInside = sawLockInside || run.sawLockInside
    leftThread = leftThread ?? run.leftThread
    if runawayPoints.isEmpty { runawayPoints = run.runawayPoints }
    races.add(Race.Search(isMade: run.workers?.looksForRaces ?? false))
  }

  mutating func note(_ violation: Violation, _ schedule: @autoclosure () -> Schedule) {
    failed += 1
    if firstFailureAt == nil { firstFailureAt = schedules }
    failures[violation.kind, default: 0] += 1
    if firsts[violation.kind] == nil {
      firsts[violation.kind] = Found(violation: violation, schedule: schedule())
    }
  }

  /// The violation to speak of: the gravest kind that was found, and the first of that.
  package var found: Found? {
    Violation.Kind.allCases.lazy.compactMap { firsts[$0] }.first
  }
}

/// Why a scenario cannot be explored.
package enum ExplorationError: Error, Hashable, CustomStringConvertible {
  /// The same choices led to different runs.
  case diverges(scenario: String, at: Divergence? = nil)
  /// Something ran on another thread.
  case escapes(scenario: String)
  /// More can happen at once than an exhaustive search keeps account of.
  case tooWide(scenario: String, options: Int)

  package var description: String {
    switch self {
    case .diverges(let scenario, _):
      "the same choices led '\(scenario)' to different runs, so it cannot be explored; it reads a clock, "
        + "random numbers or state that outlives a schedule"
    case .escapes(let scenario):
      "part of '\(scenario)' ran on a thread of its own, so it cannot be explored; every task it starts "
        + "must be started on the executor it is given"
    case .tooWide(let scenario, let options):
      "\(options) things can happen next in '\(scenario)', and the exhaustive strategy keeps account of "
        + "at most 64; explore with fewer tasks, or with strategy=random or strategy=pct"
    }
  }
}
