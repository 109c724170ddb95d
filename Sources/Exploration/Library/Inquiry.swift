internal import CExplorable
internal import Synchronization

/// One call of `explore`: the closure as a scenario, and what to do with it.
struct Inquiry {
  let name: String
  /// File and line of the call.
  let place: String
  /// How long to look for a failure, at most.
  let limit: Duration?
  /// How long to look for the smallest failing schedule once one is found, at most.
  ///
  /// With ``timeForPair`` and the trace, a failure is told in full within ten seconds.
  var timeForSmallest = Duration.seconds(6)
  /// To which file to write a page of the failing schedule; nil for none.
  var report: String?
  /// Whether schedules are left where others stand for them.
  var isReduced = false
  /// What to go over to where there are too many schedules to be searched in order; nil for nothing.
  var remainder: ExplorationStrategy?
  /// Whether nobody waits for the answer any more.
  private let isCancelled: @Sendable () -> Bool
  private(set) var scenario: Scenario
  private let notes = Notes()

  /// What a schedule leaves behind besides the violation.
  final class Notes: Sendable {
    /// The error that the closure threw first.
    let thrown = Mutex<(any Error)?>(nil)
    /// What came from other threads.
    let escapes = Mutex<Escapes?>(nil)
    /// In which schedule a promise was broken; nil if in none.
    let failedIn = Mutex<Int?>(nil)

    func forget() {
      thrown.withLock { $0 = nil }
      escapes.withLock { $0 = nil }
      failedIn.withLock { $0 = nil }
    }
  }

  /// A schedule that gets this long is given up.
  static let longest = 20_000
  /// How many schedules to draw, at most, where there are too many choices to go through: each has many steps.
  static let instead = 1_000
  /// How many schedules to run in search of the smallest failing one, at most.
  static let allowance = 20_000
  /// How long to look, after that, for the two steps whose order matters, at most.
  static let timeForPair = Duration.seconds(2)

  /// How many threads the pool has, at most, before tasks that block each its own are said to block the pool.
  ///
  /// As on the smallest machine that has more than one processor, so that the verdict is the same on all.
  static let poolWidth = 2
  /// How many steps are told of a schedule that is a failure by its length.
  static let told = 12

  /// Whether a test's trait explores the test's own body.
  var isOfTest = false

  /// - Parameters:
  ///   - name: what schedules are called by.
  ///   - place: file and line of the call.
  ///   - others: how the names of functions begin whose lines are not told.
  ///   - limit: how long to look for a failure, at most.
  ///   - races: whether to look for data races.
  ///   - isCancelled: whether nobody waits for the answer any more.
  ///   - body: what is explored.
  init(
    _ name: String,
    place: String,
    besides others: [String] = [],
    within limit: Duration? = nil,
    races: Bool = true,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ body: @escaping @Sendable () async throws -> Void
  ) {
    self.name = name
    self.place = place
    self.limit = [limit, Environment.limit].compactMap(\.self).min()
    self.isCancelled = isCancelled
    // A colon ends a name in a schedule; what is no letter or digit is trouble in a command line.
    let plain = String(name.map { $0.isLetter || $0.isNumber || $0 == "." ? $0 : "-" })
    let notes = notes
    scenario = Scenario(
      tasks: 1,
      limit: nil,
      cancellable: false,
      promises: Scenario.Promises(service: false, workConservation: false),
      fingerprint: { _ in plain.isEmpty ? "-" : plain },
      make: { context in
        notes.escapes.withLock { $0 = context.escapes }
        return ScenarioInstance(body: { _ in
          do { try await body() } catch let error as RequirementNotMet {
            context.note(.requirement, error.description)
          } catch {
            if context.note(.thrown, "\(error)") { notes.thrown.withLock { $0 = error } }
          }
        })
      }
    )
    scenario.inside = true
    scenario.looksForRaces = races
    scenario.besides = others
    // Only of a schedule that has got too long it is asked whether its tasks go round.
    scenario.mostIdleRounds = nil
    scenario.poolWidth = Self.poolWidth
    scenario.atRest = { run in
      let waiting = run.executor.unfinished
      // Threads that wait for something to do keep nobody.
      if waiting.isEmpty, run.workers?.isStuck != true { return nil }
      let stuck = run.workers?.stuck { ScheduleTrace.name(Int($0.agent)) } ?? []
      let finish = waiting.count == 1 ? "finishes" : "finish"
      let message = waiting.isEmpty ? "" : ", and \(ScheduleTrace.names(waiting)) never \(finish)"
      return Violation(
        kind: .deadlock,
        message: (["nothing can run any more\(message)"] + stuck).joined(separator: "; "),
        tasks: waiting
      )
    }
  }

  func explore(
    _ strategy: ExplorationStrategy,
    preemptions: Int?,
    schedules most: Int
  ) throws(ExplorationFailure) -> ExplorationVerdict {
    ObjectTable.hasMetLeftLock.store(false, ordering: .releasing)
    var most = most
    var explorer = Explorer(
      schedules: most,
      preemptions: preemptions,
      reduction: isReduced ? .merging : .full
    )
    switch strategy {
    case .exhaustive: break
    case .random(let schedules, let seed):
      explorer.strategy = .random
      explorer.seed = seed
      most = min(most, schedules)
    case .pct(let schedules, let depth, let seed):
      explorer.strategy = .pct(depth: depth)
      explorer.seed = seed
      most = min(most, schedules)
    }
    explorer.schedules = most
    explorer.instead = strategy == .exhaustive ? remainder?.asRemainder : nil
    explorer.time = limit
    explorer.longest = Self.longest
    explorer.stopsAtViolation = true
    let start = ContinuousClock.now
    var stop: ExplorationStop?
    let verdict: Verdict
    do {
      verdict = try explorer(scenario) { progress in
        Headway.note(progress)
        stop = self.stop(since: start)
        return stop != nil
      }
    } catch .tooWide(_, let options) {
      let drawing = remainder ?? .random(schedules: Self.instead)
      var verdict = try explore(drawing, preemptions: nil, schedules: min(most, Self.instead))
      verdict.notCovered.insert(
        "all but \(verdict.schedules) schedules drawn at random: \(options) things can happen next, and the "
          + "exhaustive strategy keeps account of at most 64",
        at: 0
      )
      return verdict
    } catch {
      throw failure(of: error)
    }
    if let found = verdict.found {
      notes.failedIn.withLock { $0 = verdict.schedules }
      noteFound(found, in: verdict.schedules)
      let place =
        "in schedule \(verdict.schedules)" + (verdict.draws.map { ", drawn by \($0.way)" } ?? "")
      if found.violation.kind == .runaway {
        throw failureByRunaway(found, at: verdict.runawayPoints, place)
      }
      if found.violation.kind == .livelock { throw failureByLength(found, place) }
      throw try failure(of: found, place, since: WorkingTime())
    }
    if let first = verdict.firstGivenUp, verdict.givenUp == verdict.schedules {
      let count = verdict.schedules
      throw failureByLength(
        first,
        count == 1 ? "in schedule 1" : "in each of the first \(count) schedules"
      )
    }
    if let first = verdict.firstGivenUp, verdict.hasEndlessOnes(Self.longest) {
      throw failureByLength(
        first,
        "in \(verdict.givenUp) of \(verdict.schedules) schedules, where the others ended after at most "
          + "\(verdict.longestEnded) steps"
      )
    }
    return ExplorationVerdict(
      verdict,
      of: scenario,
      preemptionBound: strategy == .exhaustive ? preemptions : nil,
      longest: Self.longest,
      stop: stop
    )
  }

  /// Answers once more where the same choices have led to different runs, and says so.
  ///
  /// What is set up at its first use, as a static is, has been set up by then. Not so where the first schedule passed at
  /// first and fails now: it does so for what was left by those before, and that is what has to be said.
  func settled(
    _ answer: () throws(ExplorationFailure) -> ExplorationVerdict
  ) throws(ExplorationFailure) -> ExplorationVerdict {
    let divergence: ExplorationFailure
    do {
      return try answer()
    } catch {
      guard case .diverged = error.kind, !isOver else { throw error }
      divergence = error
    }
    let hasFailedAtOnce = notes.failedIn.withLock { $0 } == 1
    notes.forget()
    Headway.begin()
    do {
      var verdict = try answer()
      verdict.noteSetUp()
      return verdict
    } catch {
      if case .diverged = error.kind { throw error }
      if !hasFailedAtOnce, notes.failedIn.withLock({ $0 }) == 1 { throw divergence }
      throw ExplorationFailure(
        kind: error.kind,
        schedule: error.schedule,
        description: error.description
          + "\nbefore that, the same choices led to different runs: what outlives the closure, as a static, was set up "
          + "or changed by the first",
        message: error.message,
        steps: error.steps
      )
    }
  }

  /// Whether there is no time left.
  private var isOver: Bool { isCancelled() || scenario.isOverAt.map { .now > $0 } ?? false }

  /// Has the time begin that is allowed.
  mutating func begin() { scenario.isOverAt = limit.map { .now.advanced(by: $0) } }

  /// The steps of a schedule whose last one does not come to its end; nil if they cannot be taken again.
  ///
  /// - Parameters:
  ///   - text: The schedule.
  ///   - points: What the last step came to.
  /// - Returns: A line for each.
  func steps(ofUnfinished text: String, at points: [UInt]) -> String? {
    trace(ofUnfinished: text, at: points)?.text
  }

  private func trace(ofUnfinished text: String, at points: [UInt]) -> ScheduleTrace? {
    guard let schedule = try? Schedule(parsing: text) else { return nil }
    return try? ScheduleTrace(unfinished: schedule, in: scenario, place: place, at: points)
  }

  /// Why to look no further; nil for no reason.
  private func stop(since start: ContinuousClock.Instant) -> ExplorationStop? {
    if isCancelled() { return .cancelled }
    return limit.flatMap { ContinuousClock.now - start >= $0 ? .time($0) : nil }
  }

  /// Has what was found told, also if nobody waits for its smallest schedule.
  private func noteFound(_ found: Verdict.Found, in schedule: Int) {
    let text =
      "\(failureKind(of: found.violation).message)\nto run it again: \(call(replaying: found.schedule))"
    Headway.noteFailure(in: schedule, text)
    Interruption.noteFailure(text)
  }

  /// Runs one schedule again.
  func replay(_ text: String) throws(ExplorationFailure) -> ExplorationVerdict {
    let trace: ScheduleTrace
    let schedule: Schedule
    do {
      schedule = try Schedule(parsing: text)
      trace = try ScheduleTrace(of: schedule, in: scenario, place: place, longest: Self.longest)
    } catch {
      throw ExplorationFailure(
        kind: .diverged,
        schedule: text,
        description: "the schedule of '\(name)' cannot be replayed: \(error)"
      )
    }
    if let violation = trace.violation {
      throw failure(violation, trace, "in the schedule that was replayed")
    }
    var verdict = Verdict(strategy: .random, seed: 1)
    verdict.coverage = .bounded
    verdict.isReplay = true
    verdict.races = trace.races
    verdict.schedules = 1
    verdict.steps = trace.steps.count + trace.further
    return ExplorationVerdict(
      verdict,
      of: scenario,
      preemptionBound: nil,
      longest: Self.longest
    )
  }
}

// MARK: Failures

extension Inquiry {
  private func failure(
    of found: Verdict.Found,
    _ whereFound: String,
    since start: WorkingTime
  ) throws(ExplorationFailure) -> ExplorationFailure {
    // It is printed once, by what is found first, and told in the end.
    last_words_keep_back(found.violation.kind == .trap)
    defer { last_words_keep_back(false) }
    do {
      var isTimeOver = false
      let least = try Minimum(
        of: found,
        in: scenario,
        allowance: Self.allowance,
        shouldStop: {
          isTimeOver = start.isOver(timeForSmallest)
          return isTimeOver || isCancelled()
        },
        shouldLeavePair: {
          start.isOver(timeForSmallest + Self.timeForPair) || isCancelled()
        }
      )
      var trace = try ScheduleTrace(
        of: least.schedule,
        in: scenario,
        place: place,
        longest: Self.longest
      )
      // What comes behind the schedule's end is not told.
      trace.race = trace.race ?? least.race.flatMap { $0.second <= trace.steps.count ? $0 : nil }
      if ObjectTable.hasMetLeftLock.load(ordering: .acquiring) {
        return failureThatLeftLocks(found, whereFound)
      }
      // Alone it breaks nothing, so something else has a part in it than the order of the steps.
      let isOfOrder = [.requirement, .thrown, .trap].contains(least.violation.kind)
      if isOfOrder, trace.violation == nil {
        return failure(of: diverges(found.schedule))
      }
      let size =
        least.isMinimal
        ? "the smallest that fails: "
        : isTimeOver
          ? "not proved to be the smallest that fails, for the time to look for that, "
            + "\(timeForSmallest), was over: "
          : least.schedules >= Self.allowance
            ? "not proved to be the smallest that fails, for \(least.schedules) schedules were looked at: "
            : "not proved to be the smallest that fails: "
      return failure(
        trace.violation ?? least.violation,
        trace,
        "\(whereFound); \(size)\(least.preemptions) "
          + "\(least.preemptions == 1 ? "pre-emption" : "pre-emptions")"
      )
    } catch {
      if ObjectTable.hasMetLeftLock.load(ordering: .acquiring) {
        return failureThatLeftLocks(found, whereFound)
      }
      return failure(of: diverges(found.schedule), error.description)
    }
  }

  /// That the same choices led to different runs, and where, if that can be found.
  private func diverges(_ schedule: Schedule) -> ExplorationError {
    .diverges(
      scenario: scenario.name,
      at: Divergence.find(following: schedule.choices, in: scenario)
    )
  }

  /// A failure that a schedule shows by its length, with the beginning that leads there.
  ///
  /// There is no smallest one to look for.
  private func failureByLength(_ found: Verdict.Found, _ whereFound: String) -> ExplorationFailure {
    do {
      let beginning = try Schedule(beginningOf: found.schedule, in: scenario, atLeast: Self.told)
      let trace = try ScheduleTrace(
        of: beginning,
        in: scenario,
        place: place,
        longest: Self.longest
      )
      guard let violation = trace.violation else {
        return failure(of: diverges(beginning))
      }
      return failure(violation, trace, whereFound)
    } catch {
      return failure(of: .diverges(scenario: scenario.name), error.description)
    }
  }

  /// A step that did not come to its end, with those before it.
  private func failureByRunaway(
    _ found: Verdict.Found,
    at points: [UInt],
    _ whereFound: String
  ) -> ExplorationFailure {
    let (kind, message) = failureKind(of: found.violation)
    let trace = trace(ofUnfinished: found.schedule.description, at: points)
    let steps = trace?.text ?? ""
    return ExplorationFailure(
      kind: kind,
      schedule: found.schedule.description,
      description: """
        '\(name)' fails \(whereFound): \(message)
        \(steps)
        \(trace.map { pageLine($0, message) } ?? "")to run it again: \(call(replaying: found.schedule))
        """,
      message: message,
      steps: steps
    )
  }

  /// What was found first, as it was found, where nothing can be run again: some lock is held for ever.
  private func failureThatLeftLocks(_ found: Verdict.Found, _ whereFound: String)
    -> ExplorationFailure
  {
    let (kind, message) = failureKind(of: found.violation)
    return ExplorationFailure(
      kind: kind,
      schedule: found.schedule.description,
      description: """
        '\(name)' fails \(whereFound): \(message)
        its steps cannot be told: a lock outlives the closure, and a task that cannot go on holds it for ever, \
        so nothing that takes it can run again in this process; make the locks inside the closure
        to run it again, in another process: \(call(replaying: found.schedule))
        """
    )
  }

  /// The line of code that runs a schedule again.
  private func call(replaying schedule: Schedule) -> String {
    if isOfTest { return "@Test(.explored(replaying: \"\(schedule)\"))" }
    return "explore(\(String(reflecting: name)), replaying: \"\(schedule)\") { … }"
  }

  /// What the violation is for who calls the library, and what it says.
  private func failureKind(of violation: Violation) -> (ExplorationFailure.Kind, message: String) {
    let message = violation.message
    switch violation.kind {
    case .requirement, .doubleResume: return (.requirement(message), message)
    case .thrown:
      let error = notes.thrown.withLock { $0 }
      return (error.map { .thrown($0) } ?? .requirement(message), "the closure threw \(message)")
    case .livelock: return (.livelock, "a livelock: \(message)")
    case .race: return (.race, message)
    case .trap: return (.trap(message), message)
    case .blockedPool: return (.blockedPool, message)
    case .runaway: return (.runaway, message)
    case .tooManySteps:
      return (
        .tooManySteps,
        "\(message). The closure does too much, or goes on for ever and changes "
          + "something each time, or something that cannot be seen"
      )
    default: return (.deadlock, message)
    }
  }

  private func failure(
    _ violation: Violation,
    _ trace: ScheduleTrace,
    _ whereFound: String
  ) -> ExplorationFailure {
    var (kind, message) = failureKind(of: violation)
    if case .race = kind, let text = trace.raceText { message = text }
    if case .deadlock = kind {
      if let escape = trace.escape {
        kind = .escaped
        message = escape
      } else if trace.violation == nil {
        kind = .escaped
        message += ", but only sometimes: a thread that is not explored has a part in it"
      }
    }
    return ExplorationFailure(
      kind: kind,
      schedule: trace.schedule.description,
      description: """
        '\(name)' fails \(whereFound): \(message)
        \(trace.text)
        \(pageLine(trace, message))to run it again: \(call(replaying: trace.schedule))
        """,
      message: message,
      steps: trace.text
    )
  }

  /// Writes the page that is asked for, and says where it is, or why it is not.
  private func pageLine(_ trace: ScheduleTrace, _ message: String) -> String {
    guard let report else { return "" }
    let again = call(replaying: trace.schedule)
    let page = trace.page(of: name, failing: message, again: again)
    guard let reason = ScheduleTrace.write(page, to: report) else { return "its page: \(report)\n" }
    return "its page could not be written to \(report): \(reason)\n"
  }

  private func failure(
    of error: ExplorationError,
    _ detail: String = ""
  ) -> ExplorationFailure {
    // A sleep that ended by itself ends elsewhere the next time.
    if let points = notes.escapes.withLock({ $0?.timerPoints }), case .diverges = error {
      let place = SourceLines(of: [points]).at(points)
      return ExplorationFailure(
        kind: .escaped,
        schedule: "",
        description:
          "the same choices led '\(name)' to different runs: it is in Task.sleep\(place), whose time is the "
          + "runtime's and is not explored; sleep on a clock that the code is given, and give it a "
          + "VirtualClock() here"
      )
    }
    let calls = notes.escapes.withLock { $0?.unseenCalls } ?? [:]
    if case .diverges = error, let (call, points) = calls.min(by: { $0.key < $1.key }) {
      return ExplorationFailure(
        kind: .diverged,
        schedule: "",
        description:
          "the same choices led '\(name)' to different runs: it calls \(call)"
          + "\(SourceLines(of: [points]).at(points)), and what comes of that is not explored; have a task or a "
          + "dispatch queue do it here"
      )
    }
    switch error {
    case .escapes:
      if let sleeper = notes.escapes.withLock({ $0?.sleeper }) {
        return ExplorationFailure(
          kind: .escaped,
          schedule: "",
          description:
            "'\(name)' leaves the exploration: \(ScheduleTrace.name(sleeper.agent)) sleeps on its thread"
            + "\(SourceLines(of: [sleeper.points]).at(sleeper.points)), and nothing that "
            + "is explored can wake it there. A wait inside of a library, a file or "
            + "the network are not explored; where one thread waits for another, have it wait for a lock, a "
            + "condition or a DispatchSemaphore"
        )
      }
      let points = notes.escapes.withLock { $0?.resumePoints } ?? []
      let waited = SourceLines(of: [points]).place(of: points).map { "; it waited at \($0)" } ?? ""
      return ExplorationFailure(
        kind: .escaped,
        schedule: "",
        description:
          "'\(name)' leaves the exploration: a task was resumed by another thread\(waited). "
          + "What a thread does that was there before, or that a library has started, is not explored; "
          + "have a task, a thread or a dispatch queue of the closure do it, or give the code a clock and an "
          + "executor it can be told, and a VirtualClock here"
      )
    case .diverges(_, let divergence):
      let place = divergence?.text(in: scenario, place: place) ?? ""
      return ExplorationFailure(
        kind: .diverged,
        schedule: "",
        description:
          "the same choices led '\(name)' to different runs: it reads "
          + (Interception.isLinked
            ? "a clock or random numbers by a library that is not taken over, "
            : "a clock, random numbers (a UUID is one), ")
          + "addresses, or state that outlives the closure; make everything anew inside the closure, and use "
          + "what sets itself up at its first use, such as a static, once before"
          + (place.isEmpty ? "" : ".\nWhere it shows: \(place)")
          + (detail.isEmpty ? "" : " (\(detail))")
      )
    case .tooWide: return ExplorationFailure(kind: .diverged, schedule: "", description: "\(error)")
    }
  }
}
