internal import Basics
@_exported public import CExplorationOverlay
internal import Synchronization

/// Runs a closure for one order of its tasks' steps after the other, within the bound, until one fails.
///
/// ```swift
/// try explore("two withdrawals") {
///   let account = Account(balance: 100)
///   await withTaskGroup { group in
///     group.addTask { try? await account.withdraw(80) }
///     group.addTask { try? await account.withdraw(80) }
///   }
///   try require(await account.balance >= 0, "overdrawn")
/// }
/// ```
///
/// Everything the closure starts is explored: task groups, `async let`, actors, the main actor, plain
/// `Task {}` and `Task.detached`. All of it runs one step at a time, on threads of the exploration. A step ends where
/// a task suspends, and in code that is built with the instrumentation (`swift package explore` does that) before
/// each operation on a lock or an atomic too. The same choices must lead to the same run: make the state anew inside
/// the closure. Sleeps, clocks and random numbers follow the schedule.
///
/// The call is synchronous and takes its thread until it returns, a few seconds for a large closure. One that
/// lasts longer than a second says on standard error how far it has come, and which schedule fails before the smallest
/// that does is found; one that is ended by SIGINT or SIGTERM says what it has found. Two calls at once queue: the
/// second waits on its own thread, and the first needs no thread but its own, so that even test frameworks that use up
/// their pool with such calls go on.
///
/// Where the code under test would end the program, by a trap or by a call such as `exit`, that is a failure like any
/// other: the thread on which it happens is left where it stands, and the exploration goes on without it. Where it
/// cannot go on, the schedule in progress, the line that replays it and its steps are printed to standard error, and
/// the process ends with a status that says failure.
///
/// - Parameters:
///   - name: What schedules are called by; letters, digits, dots and dashes of it are kept.
///   - strategy: How to choose among the schedules.
///   - preemptions: How often a schedule may take the turn from a task that could go on, 0 or more; nil for any
///     number. Most defects need one or two. Strategies at random ignore it.
///   - schedules: How many schedules to run, at most; 1 or more, as of a strategy.
///   - within: How long to look for a failure, at most, in real time, more than nothing; nil for as long as it takes. A
///     schedule that is under way is run to its end, unless a step of it lasts for ten seconds then: that is a failure.
///     To find the smallest failing schedule has a time of its own, eight seconds at most; a failure that is not proved
///     to be the smallest for that time was over says so.
///   - races: Whether two uses of the same memory, one of them a write, are a failure where nothing puts them in an
///     order. Looked for in code that is built with the instrumentation.
///   - reduction: Whether a schedule is left where, as far as it is seen what steps touch, it has come to a state that
///     another one has gone on from, instead of being run to its end. Only ``ExplorationStrategy/exhaustive`` leaves
///     any, in code that is built with the instrumentation. The documentation says what it rests on.
///   - instead: What to go over to where it becomes plain that there are many more schedules than `schedules` and
///     `within` have room for: ``ExplorationStrategy/pct(schedules:depth:seed:)`` or
///     ``ExplorationStrategy/random(schedules:seed:)``, with as many schedules as these say, as long as the limits
///     hold; nil to search in order until a limit ends that. The documentation says when that is, and what the verdict
///     says then. Only ``ExplorationStrategy/exhaustive`` goes over.
///   - replaying: A schedule from an ``ExplorationFailure``: only that one is run.
///   - report: To which file to write a page of the failing schedule, for a browser: it opens at the failure, goes
///     through the steps and the code, and marks the two steps whose order matters. The path is taken from where the
///     process runs. What stands there is replaced; without a failure, or where one has no steps, nothing is written.
///   - fileID: Where the call stands, for the failure's text.
///   - line: Where the call stands, for the failure's text.
///   - body: What to explore. It fails by throwing, by ``require(_:_:fileID:line:)`` in any of its tasks, by ending the
///     program, or by leaving a task that waits for ever. (An `async let` counts with the task that awaits it. A task
///     that begins inside an actor, or with `Task.immediate`, counts once it sleeps on a ``VirtualClock``, comes to a
///     lock or an atomic, starts or resumes another task, or goes on after a wait.) What a test's own `#expect` finds
///     fails no schedule here: that is for the trait `.explored`.
/// - Precondition: The numbers are as said: else the program ends, with the line of the call.
/// - Returns: What was looked at, when nothing failed.
/// - Throws: The failure, with the smallest schedule that shows it.
@discardableResult
public func explore(
  _ name: String,
  strategy: ExplorationStrategy = .exhaustive,
  preemptions: Int? = 2,
  schedules: Int = 100_000,
  within: Duration? = nil,
  races: Bool = true,
  reduction: Bool = false,
  instead: ExplorationStrategy? = .pct(schedules: 10_000),
  replaying: String? = nil,
  report: String? = nil,
  fileID: String = #fileID,
  line: Int = #line,
  _ body: @escaping @Sendable () async throws -> Void
) throws(ExplorationFailure) -> ExplorationVerdict {
  let place = "\(lastPart(of: fileID)):\(line)"
  var inquiry = Inquiry(name, place: place, within: within, races: races, body)
  inquiry.isReduced = reduction
  inquiry.remainder = instead
  inquiry.report = report ?? Environment.report
  return try answer(inquiry, strategy, preemptions, schedules, replaying)
}

/// Explores as `explore` does, until nobody waits for the answer any more.
///
/// - Returns: What was looked at, when nothing failed.
/// - Throws: The failure, with the smallest schedule that shows it.
package func exploreUntilCancelled(
  _ name: String,
  strategy: ExplorationStrategy,
  preemptions: Int?,
  schedules: Int,
  within: Duration?,
  races: Bool,
  reduction: Bool,
  instead: ExplorationStrategy?,
  replaying: String?,
  report: String?,
  fileID: String,
  line: Int,
  isCancelled: @escaping @Sendable () -> Bool,
  _ body: @escaping @Sendable () async throws -> Void
) throws(ExplorationFailure) -> ExplorationVerdict {
  var inquiry = Inquiry(
    name,
    place: "\(lastPart(of: fileID)):\(line)",
    within: within,
    races: races,
    isCancelled: isCancelled,
    body
  )
  inquiry.isReduced = reduction
  inquiry.remainder = instead
  inquiry.report = report ?? Environment.report
  inquiry.isOfTest = true
  return try answer(inquiry, strategy, preemptions, schedules, replaying)
}

/// The same for code that stands between other code: of that no line is told, and of who waits for ever every line.
///
/// - Parameters:
///   - name: What schedules are called by.
///   - strategy: How schedules are chosen.
///   - preemptions: How often a schedule may take the turn from a task that could go on; nil for any number.
///   - schedules: How many schedules to run, at most.
///   - within: How long it may take; nil for as long as it takes.
///   - others: How the names of the other code's functions begin, as the compiler mangles them.
///   - body: What to explore.
/// - Returns: What was looked at, when nothing failed.
/// - Throws: The failure, with the smallest schedule that shows it.
@discardableResult
package func explore(
  _ name: String,
  strategy: ExplorationStrategy = .exhaustive,
  preemptions: Int?,
  schedules: Int,
  within: Duration? = nil,
  besides others: [String],
  _ body: @escaping @Sendable () async throws -> Void
) throws(ExplorationFailure) -> ExplorationVerdict {
  try answer(
    Inquiry(name, place: "", besides: others, within: within, body),
    strategy,
    preemptions,
    schedules,
    nil
  )
}

/// Explores, or runs one schedule again, when its turn has come.
func answer(
  _ inquiry: Inquiry,
  _ strategy: ExplorationStrategy,
  _ preemptions: Int?,
  _ schedules: Int,
  _ replaying: String?
) throws(ExplorationFailure) -> ExplorationVerdict {
  func refuse(_ reason: String) -> Never {
    fatalError((inquiry.place.isEmpty ? "" : "\(inquiry.place): ") + reason)
  }
  guard GlobalPoolHook.current == nil else {
    refuse("explore was called by code that is being explored; call it from the test itself")
  }
  let wanted = min(schedules, strategy.schedules ?? schedules)
  guard wanted >= 1 else {
    refuse("an exploration needs at least 1 schedule, not \(wanted)")
  }
  if let remainder = inquiry.remainder {
    guard let further = remainder.schedules else {
      refuse(
        "an exploration that is too large cannot go over to what it does already; pass nil as 'instead' to have it "
          + "search in order until a limit ends it"
      )
    }
    guard further >= 1 else {
      refuse("an exploration goes over to at least 1 schedule, not \(further)")
    }
  }
  if let preemptions, preemptions < 0 {
    refuse(
      "an exploration allows at least 0 pre-emptions, or nil for any number, not \(preemptions)"
    )
  }
  if let limit = inquiry.limit, limit <= .zero {
    refuse("an exploration needs some time, not \(limit)")
  }
  return try turnsOfExplorations.withLock { _ throws(ExplorationFailure) in
    _ = turnsTaken.load(ordering: .acquiring)
    defer { turnsTaken.add(1, ordering: .releasing) }
    Headway.begin()
    Interruption.begin(inquiry.name)
    var inquiry = inquiry
    inquiry.begin()
    let asked = inquiry
    ScheduleUnderWay.beginTelling(
      of: asked.scenario.name,
      named: asked.name,
      isOfTest: asked.isOfTest
    ) { schedule, points in
      asked.steps(ofUnfinished: schedule, at: points)
    }
    let teller = HeadwayTeller(of: inquiry.name, within: inquiry.limit)
    defer {
      teller.stop()
      ScheduleUnderWay.endTelling()
      Interruption.end()
    }
    let schedule = replaying ?? Environment.schedule(of: inquiry.scenario.name)
    let verdict = try inquiry.settled { () throws(ExplorationFailure) in
      if let schedule { return try inquiry.replay(schedule) }
      return try inquiry.explore(strategy, preemptions: preemptions, schedules: schedules)
    }
    if schedule == nil, Environment.tellsVerdicts { Headway.tell(verdict, of: inquiry.name) }
    return verdict
  }
}

/// How an exploration chooses among the schedules.
public enum ExplorationStrategy: Hashable, Sendable {
  /// Every schedule within the bound on pre-emptions, depth first.
  case exhaustive
  /// Each choice uniformly at random.
  case random(schedules: Int, seed: UInt64 = 1)
  /// Random priorities that change at `depth` − 1 places (probabilistic concurrency testing, ASPLOS 2010).
  case pct(schedules: Int, depth: Int = 3, seed: UInt64 = 1)

  /// How many schedules it runs, at most; nil for no bound of its own.
  var schedules: Int? {
    switch self {
    case .exhaustive: nil
    case .random(let schedules, _), .pct(let schedules, _, _): schedules
    }
  }

  /// This strategy as what follows a search in order; nil if it cannot be that.
  var asRemainder: Explorer.Instead? {
    switch self {
    case .exhaustive: nil
    case .random(let schedules, let seed):
      Explorer.Instead(depth: nil, schedules: schedules, seed: seed)
    case .pct(let schedules, let depth, let seed):
      Explorer.Instead(depth: depth, schedules: schedules, seed: seed)
    }
  }
}

/// One exploration at a time: the signal handlers, what is told of its headway and the closure's own globals are the
/// process's.
let turnsOfExplorations = Mutex<Void>(())
/// Tells the thread sanitizer of each hand-over: it does not see those of a `Mutex` that is waited for.
private let turnsTaken = Atomic(0)

/// What comes behind the last slash.
func lastPart(of path: String) -> String {
  path.split(separator: "/").last.map(String.init) ?? path
}

/// Runs a closure in every schedule within a bound, failures or not.
///
/// - Parameters:
///   - name: What schedules are called by.
///   - preemptions: How often a schedule may take the turn from a task that could go on; nil for any number.
///   - schedules: How many to run, at most.
///   - reduction: Which schedules others stand for.
///   - races: Whether to look for data races.
///   - stopsAtViolation: Whether to end at the first failure.
///   - body: What to explore; it returns what it came to.
///   - outcome: Given what each schedule came to that was not left before, where another stands for it.
/// - Returns: What was looked at and what was found.
/// - Throws: `ExplorationError` when it cannot be explored.
package func exploreAll(
  _ name: String,
  preemptions: Int?,
  schedules: Int = .max,
  reduction: Reduction,
  races: Bool,
  stopsAtViolation: Bool = false,
  _ body: @escaping @Sendable () async throws -> String,
  outcome: @escaping @Sendable (String) -> Void
) throws -> Verdict {
  try turnsOfExplorations.withLock { _ in
    var explorer = Explorer(schedules: schedules, preemptions: preemptions, reduction: reduction)
    explorer.longest = Inquiry.longest
    explorer.stopsAtViolation = stopsAtViolation
    let inquiry = Inquiry(name, place: "", races: races) {
      let text = try await body()
      // What is left is run to some end, which says nothing of the schedules that are looked at.
      withoutPoints { if Worker.current?.workers.run.isLive == true { outcome(text) } }
    }
    return try explorer(inquiry.scenario)
  }
}
