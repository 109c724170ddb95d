internal import Basics

/// What came of a schedule that was run again.
package struct Replay: Sendable {
  /// The steps, in order.
  package var steps: [StepRecord]
  /// The promise the schedule broke, and none if it broke none.
  package var violation: Violation?
  /// Whether the schedule went as far as there was anything to run.
  package var isComplete: Bool
  /// The number of the last step that belongs to the schedule; what follows is the aftermath.
  package var length: Int
  /// Tells what happened from what else could have.
  var fingerprint: UInt64

  /// Runs a schedule of `scenario` again, on the calling thread.
  ///
  /// - Parameters:
  ///   - schedule: what `explore` printed.
  ///   - scenario: the one it was found in.
  ///   - withAftermath: whether to go on behind the schedule's end, by the default choices and without further
  ///     cancellations, until nothing can run.
  ///   - withPlaces: whether to look up the source lines at which the tasks stand, and of each operation on a
  ///     lock or an atomic: that reads the program's debugging information, which takes a moment.
  /// - Throws: `ScheduleError` when the schedule belongs to another scenario or cannot be followed.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package init(
    of schedule: Schedule,
    in scenario: Scenario,
    withAftermath: Bool = false,
    withPlaces: Bool = false
  ) throws(ScheduleError) {
    guard schedule.scenario == scenario.name else {
      throw .otherScenario(schedule: schedule.scenario, scenario: scenario.name)
    }
    let run = ScheduleRun(scenario, reduction: .none)
    run.record = StepRecorder()
    if withPlaces { run.notePlaces() }
    defer { run.close() }
    run.begin()
    defer { run.end() }
    try run.follow(schedule.choices)
    fingerprint = run.fingerprint
    if let recorded = schedule.fingerprint, recorded != Schedule.folded(run.fingerprint) {
      throw .otherRun
    }
    length = run.steps
    violation = run.violation
    isComplete = run.isAtRest
    if withAftermath { run.followDefaultChoices(upTo: 1_000) }
    steps = run.record?.steps ?? []
    if withPlaces, let record = run.record {
      steps = record.stepsWithPlaces(
        SourceLines(of: record.stacks, besides: SourceLines.roomsOfTheLab + scenario.besides)
      )
    }
  }
}

extension Schedule {
  /// The beginning of a schedule, from which on it takes the turn from nobody: without those choices at its end
  /// that a run makes by itself (`plainOption`).
  ///
  /// - Parameters:
  ///   - schedule: one of the scenario's.
  ///   - scenario: what it was found in.
  ///   - count: how many choices to keep in any case.
  /// - Throws: `ScheduleError` when it cannot be followed.
  init(beginningOf schedule: Schedule, in scenario: Scenario, atLeast count: Int)
    throws(ScheduleError)
  {
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    run.begin()
    defer { run.end() }
    var (next, needed) = (0, count)
    run.drive { run in
      guard next < schedule.choices.count, !run.isOver,
        let index = run.index(of: schedule.choices[next])
      else { return nil }
      next += 1
      if index != run.plainOption { needed = max(needed, next) }
      return index
    }
    guard next == schedule.choices.count else {
      throw .notPossible(
        step: next + 1,
        choice: schedule.choices[next],
        options: run.options.map(\.choice)
      )
    }
    self.init(scenario: schedule.scenario, choices: Array(schedule.choices.prefix(needed)))
  }
}

extension ScheduleRun {
  /// Makes these choices, one after the other.
  func follow(_ choices: [Choice]) throws(ScheduleError) {
    for choice in choices {
      guard let index = index(of: choice) else {
        throw .notPossible(step: steps + 1, choice: choice, options: options.map(\.choice))
      }
      take(index)
    }
  }

  /// Goes on without cancelling anybody until nothing can run, or for `limit` steps.
  func followDefaultChoices(upTo limit: Int) {
    var left = limit
    while !isAtRest, left > 0 {
      take(defaultOption)
      left -= 1
    }
  }
}
