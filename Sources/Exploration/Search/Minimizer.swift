internal import Basics
internal import ExplorableSynchronization

/// The smallest schedule that breaks a promise: fewest pre-emptions, then tasks, then steps.
///
/// A violation found by search is full of accidents. What a person can follow has few switches between
/// tasks, few tasks and few steps. Shrinking the found schedule would end at a local minimum, so this
/// searches anew: all schedules without a pre-emption, of 1 task, of 2, up to the scenario's number;
/// then all with one; and so on. Where something fails, the search for that number of pre-emptions and
/// tasks is finished with ever shorter schedules. The first hit is therefore the minimum, with nothing
/// left to take away: every schedule with a pre-emption less has been looked at.
///
/// It may break another promise than the found schedule does. Wrong code breaks several, and which of them
/// is found first is an accident too.
///
/// The number of schedules grows with the pre-emptions like a power, which is why few come first. If
/// the allowance runs out, or the time, the smallest schedule seen so far is returned, which may be the found one, and
/// said not to be minimal.
package struct Minimum: Sendable {
  /// The scenario with as many tasks as the minimum needs.
  package var scenario: Scenario
  package var schedule: Schedule
  package var violation: Violation
  package var preemptions: Int
  /// The steps, with what happens after the violation behind them.
  package var replay: Replay
  /// Two steps, by their numbers, whose order matters.
  ///
  /// With the first moved behind the second, every promise is kept. Nil when no single move does that.
  package var race: (first: Int, second: Int)?
  /// Whether the search was finished; else this is what was found, as it was found.
  package var isMinimal: Bool
  /// How many schedules were looked at.
  package var schedules: Int

  /// Searches on the calling thread.
  ///
  /// - Parameters:
  ///   - found: a violation and its schedule.
  ///   - scenario: the one it was found in.
  ///   - allowance: how many schedules to look at, at most.
  ///   - shouldStop: asked some fifty times a second; true ends the search.
  ///   - shouldLeavePair: the same as two steps are looked for whose order matters; nil for `shouldStop`.
  /// - Throws: `ScheduleError` when `found` is not a schedule of the scenario.
  @available(*, noasync, message: "takes the calling thread for long; use onOwnThread")
  package init(
    of found: Verdict.Found,
    in scenario: Scenario,
    allowance: Int = 20_000,
    shouldStop: () -> Bool = { false },
    shouldLeavePair: (() -> Bool)? = nil
  ) throws(ScheduleError) {
    func leavesPair() -> Bool { shouldLeavePair?() ?? shouldStop() }
    let original = try Replay(of: found.schedule, in: scenario)
    var left = allowance
    let most = original.preemptions
    for bound in 0...most {
      for tasks in 1...scenario.tasks {
        var smaller = scenario
        smaller.tasks = tasks
        var best: [Choice]?
        var search = BoundedSearch(
          kinds: Self.kinds(besides: found.violation.kind),
          preemptions: bound
        )
        let isFinished = search.run(smaller, allowance: &left, best: &best, shouldStop)
        if let best {
          try self.init(best, in: smaller, isMinimal: isFinished, leavesPair)
          schedules = allowance - left
          return
        }
        if !isFinished {
          try self.init(found.schedule.choices, in: scenario, isMinimal: false, leavesPair)
          schedules = allowance - left
          return
        }
      }
    }
    // Not reached while runs repeat: the last search covers the schedule that was found.
    try self.init(found.schedule.choices, in: scenario, isMinimal: false, leavesPair)
    schedules = allowance - left
  }

  private init(
    _ choices: [Choice],
    in scenario: Scenario,
    isMinimal: Bool,
    _ shouldStop: () -> Bool
  ) throws(ScheduleError) {
    self.scenario = scenario
    self.isMinimal = isMinimal
    schedules = 0
    replay = try Replay(
      of: Schedule(scenario: scenario.name, choices: choices),
      in: scenario,
      withAftermath: true
    )
    schedule = Schedule(scenario: scenario.name, fingerprint: replay.fingerprint, choices: choices)
    preemptions = replay.preemptions
    guard let violation = replay.violation else {
      throw .notPossible(step: replay.length, choice: choices[choices.count - 1], options: [])
    }
    self.violation = violation
    // Two accesses that nothing orders race in whatever order they come.
    race = violation.kind == .race ? nil : Self.race(in: replay, scenario, shouldStop)
  }

  /// What a smaller schedule may break.
  ///
  /// Anything, but it retries for ever only where the found one does: a livelock is told by its length, so it
  /// is never a small one.
  private static func kinds(besides found: Violation.Kind) -> Set<Violation.Kind> {
    Set(Violation.Kind.allCases).subtracting([.livelock]).union([found])
  }

  /// A pair of steps of different agents whose order matters.
  ///
  /// There are often several. Told is the one that says most: a cancellation before another step, if
  /// there is one, and the closest such; else two operations on one lock or atomic; else, of simulated tasks, the
  /// pair that ends latest in the schedule, where what went wrong shows, and of others the closest of two
  /// in which something happens; else the closest with a step of the aftermath. Of others than simulated tasks, a pair
  /// comes first where all else up to the second step can stay as it is: where some of it cannot, as a task that goes
  /// on only when another has ended, that may be what matters.
  private static func race(
    in replay: Replay,
    _ scenario: Scenario,
    _ shouldStop: () -> Bool
  ) -> (first: Int, second: Int)? {
    let choices = replay.steps.map(\.choice)
    // An actor's turn is nobody's own step: it runs the code of whoever stands first in its queue.
    func areOfOne(_ one: Choice, _ other: Choice) -> Bool {
      one.agent == other.agent && (one.kind == .turn) == (other.kind == .turn)
    }
    // A schedule as long as that tells of a loop, not of two steps.
    guard (2...500).contains(choices.count) else { return nil }
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    var pairs: [(first: Int, second: Int)] = []
    for distance in 1..<choices.count {
      for first in (0..<min(replay.length, choices.count - distance)).reversed()
      where !areOfOne(choices[first], choices[first + distance]) {
        pairs.append((first, first + distance))
      }
    }
    let cancelling = pairs.filter { choices[$0.first].isInterference }
    let others = pairs.filter { !choices[$0.first].isInterference }
    let within = others.filter { $0.second < replay.length }
      .sorted { ($0.second, $0.first) > ($1.second, $1.first) }
    let beyond = others.filter { $0.second >= replay.length }
    // Where task 1 starts the others and then looks at what they did, the closest pair of the others'
    // says most, and its own looking least.
    let told =
      scenario.tasks > 1
      ? within
      : others.filter { $0.second < replay.length && choices[$0.second].agent != 1 } + within
    // Where the agent of the first did more in between, that is left out too and may be what matters.
    func isMeeting(_ pair: (first: Int, second: Int)) -> Bool {
      meet(replay.steps[pair.first], replay.steps[pair.second])
        && !choices[(pair.first + 1)..<pair.second].contains {
          areOfOne($0, choices[pair.first])
        }
    }
    let apart = told.filter { !isMeeting($0) }
    let isEventful = replay.steps.indices.map { Self.isEventful($0, in: replay) }
    func areBothEventful(_ pair: (first: Int, second: Int)) -> Bool {
      isEventful[pair.first] && isEventful[pair.second]
    }
    let ranked =
      scenario.tasks > 1
      ? told.filter(isMeeting) + apart
      : told.filter(isMeeting) + apart.filter(areBothEventful)
        + apart.filter { !areBothEventful($0) }
    // There may be more pairs than anybody would wait for.
    var left = 100_000
    var asking = Asking()
    var inPart: (first: Int, second: Int)?
    for (index, (first, second)) in (cancelling + ranked + beyond).enumerated() {
      if index == cancelling.count || index == cancelling.count + ranked.count, let inPart {
        return inPart
      }
      if run.hasLostThreads || left <= 0 { return inPart }
      if asking.isDue(), shouldStop() { return inPart }
      // What the same agent did in between it could not have done before the moved step.
      let moving = choices[first]
      let between = choices[(first + 1)...second].filter {
        moving.isInterference || $0.isInterference || !areOfOne($0, moving)
      }
      let moved = choices[..<first] + between + [moving] + choices[(second + 1)...]
      let place = first + between.count
      // Whom the second wakes by a cancellation does not sleep until its time any more: that is what matters then.
      let needed = moving.kind == .wake ? [place - 1] : [place - 1, place]
      switch run.keepsPromises(following: Array(moved), needing: needed, upTo: place) {
      case .inFull: return (first + 1, second + 1)
      // Of simulated tasks the one that ends latest says most, whatever had to be left out.
      case .inPart where scenario.tasks > 1: return (first + 1, second + 1)
      case .inPart: inPart = inPart ?? (first + 1, second + 1)
      case nil: break
      }
      left -= run.steps
    }
    return inPart
  }

  /// Whether more happens in the step of that index than that its agent goes on: it begins with an operation, its time
  /// has come, it lets others go on, or its agent does no more.
  private static func isEventful(_ index: Int, in replay: Replay) -> Bool {
    let step = replay.steps[index]
    if let kind = step.operation?.kind, kind != .goOn, kind != .begin { return true }
    return step.choice.kind == .wake || !step.woke.isEmpty
      || !replay.steps[(index + 1)...].contains { $0.choice.agent == step.choice.agent }
  }

  /// Whether both steps do something to the same object, and not both only look.
  private static func meet(_ first: StepRecord, _ second: StepRecord) -> Bool {
    guard let one = first.operation, let other = second.operation else { return false }
    return one.object == other.object && !(one.kind == .load && other.kind == .load)
  }
}

/// All schedules with at most so many pre-emptions, for the shortest that breaks a promise.
private struct BoundedSearch {
  /// Which promises; a trap is never seen, as it ends the program that searches.
  let kinds: Set<Violation.Kind>
  let preemptions: Int
  /// Only schedules of fewer steps than this.
  var shorterThan = 10_001

  /// Whether the search was finished within the allowance.
  mutating func run(
    _ scenario: Scenario,
    allowance: inout Int,
    best: inout [Choice]?,
    _ shouldStop: () -> Bool
  ) -> Bool {
    let run = ScheduleRun(scenario, reduction: .full)
    defer { run.close() }
    var search = DepthFirst(preemptions: preemptions, length: shorterThan - 1)
    var choices: [Choice] = []
    var asking = Asking()
    var isStopped = false
    while allowance > 0, !run.hasLostThreads {
      allowance -= 1
      search.begin()
      run.begin()
      choices.removeAll(keepingCapacity: true)
      run.drive { run in
        if run.isOver { return nil }
        if asking.isDue(), shouldStop() { isStopped = true }
        guard !isStopped, let index = search.choose(in: run) else { return nil }
        choices.append(run.options[index].choice)
        return index
      }
      if let violation = run.violation, kinds.contains(violation.kind) {
        best = choices
        // From here on only shorter ones are of interest.
        search.length = choices.count - 1
      }
      run.end()
      if isStopped { return false }
      if !search.finish(steps: run.steps) {
        // A search that lost its way has seen only part of what there is.
        return search.overflow == nil && !search.hasDiverged
      }
    }
    return false
  }
}

extension Scenario {
  /// Looks on the calling thread for a schedule that ends the program, which is this one.
  ///
  /// - Parameters:
  ///   - preemptions: how many a schedule may have.
  ///   - shorterThan: how many steps a schedule must stay below; nil for any number.
  ///   - allowance: how many schedules to look at, at most; becomes what is left of it.
  ///   - shouldStop: asked some fifty times a second; true ends the search.
  /// - Returns: whether all of them were looked at, none of which ended the program.
  @available(*, noasync, message: "takes the calling thread for long; use onOwnThread")
  package func survives(
    preemptions: Int,
    shorterThan: Int?,
    allowance: inout Int,
    shouldStop: () -> Bool
  ) -> Bool {
    var search = BoundedSearch(kinds: [], preemptions: preemptions)
    if let shorterThan { search.shorterThan = shorterThan }
    var none: [Choice]?
    return search.run(self, allowance: &allowance, best: &none, shouldStop)
  }
}

extension Replay {
  /// How many steps of the schedule took the turn from an agent that could have gone on.
  package var preemptions: Int { steps.prefix(length).count { $0.isPreemption } }
}

extension ScheduleRun {
  /// How many steps a task may take with a lock until another has it.
  private static let mostInLock = 20

  /// How much of some choices could be followed.
  fileprivate enum Extent {
    case inFull
    case inPart
  }

  /// Follows `choices`, leaving out what is not possible, then goes on by the default choices; says how much of the
  /// choices up to `place` was followed.
  ///
  /// - Returns: Nil if those at the places `needed` were not possible, or a promise was broken.
  fileprivate func keepsPromises(
    following choices: [Choice],
    needing needed: [Int],
    upTo place: Int
  ) -> Extent? {
    begin()
    defer { end() }
    var extent = Extent.inFull
    for (index, choice) in choices.enumerated() {
      if isAtRest {
        if index < place { extent = .inPart }
        break
      }
      // Behind a step that takes a lock another that wants it comes when the lock is released.
      var waited = 0
      while index == place, self.index(of: choice) == nil, waited < Self.mostInLock,
        let holder = self.index(of: choices[index - 1])
      {
        take(holder)
        waited += 1
      }
      guard let option = self.index(of: choice) else {
        // A move that makes one of the two impossible shows nothing about their order.
        if needed.contains(index) { return nil }
        if index < place { extent = .inPart }
        continue
      }
      take(option)
    }
    followDefaultChoices(upTo: 1_000)
    return violation == nil && isAtRest ? extent : nil
  }
}
