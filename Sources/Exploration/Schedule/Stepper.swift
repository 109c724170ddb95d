internal import Basics

/// A schedule made by hand: see what can happen next, choose, go back.
///
/// Nothing of the run is kept between calls but the choices made. Every question is answered by
/// running them again, which takes microseconds, and so what each option will do is not guessed: it is
/// tried. A stepper is a value; a copy is a fork.
package struct Stepper: Sendable {
  /// Something that can happen next, and what it will do.
  package struct Option: Hashable, Sendable {
    package var choice: Choice
    /// The step as it will be recorded if it is chosen; nil if it was not to be tried.
    package var outcome: StepRecord?
  }

  /// Somebody who cannot go on by itself.
  package struct Waiter: Hashable, Sendable {
    package var task: Int
    /// The step after which it has waited.
    package var since: Int
    package var isCancelled: Bool
  }

  package let scenario: Scenario
  /// The steps so far.
  package private(set) var steps: [StepRecord] = []
  /// What can happen next; empty when the schedule is over.
  package private(set) var options: [Option] = []
  package private(set) var waiters: [Waiter] = []
  /// The promise that is broken.
  package private(set) var violation: Violation?
  /// Whether nothing can run any more, or a promise is broken.
  package private(set) var isOver = false
  private var choices: [Choice] = []
  private var untried: Set<String> = []
  private var fingerprint: UInt64 = 0
  private let withPlaces: Bool

  /// Begins before the first step.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package init(_ scenario: Scenario) throws(ScheduleError) {
    self.scenario = scenario
    withPlaces = false
    try look()
  }

  /// Begins behind the last step of `schedule`.
  ///
  /// - Parameters:
  ///   - scenario: what is run.
  ///   - schedule: where to begin.
  ///   - untried: choices, as in schedules, that end the program if they are taken there.
  ///   - withPlaces: as for a `Replay`.
  /// - Throws: `ScheduleError` when it belongs to another scenario or cannot be followed.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package init(
    _ scenario: Scenario,
    at schedule: Schedule,
    without untried: Set<String> = [],
    withPlaces: Bool = false
  ) throws(ScheduleError) {
    _ = try Replay(of: schedule, in: scenario)
    self.scenario = scenario
    self.withPlaces = withPlaces
    self.untried = untried
    choices = schedule.choices
    try look()
  }

  /// The choices so far, to be replayed.
  package var schedule: Schedule {
    Schedule(scenario: scenario.name, fingerprint: fingerprint, choices: choices)
  }

  /// Lets the option of that place happen, counted from 0.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func choose(_ index: Int) throws(ScheduleError) {
    guard options.indices.contains(index) else {
      fatalError("there are \(options.count) options, not \(index + 1)")
    }
    choices.append(options[index].choice)
    try look()
  }

  /// Takes the last `count` steps back.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func back(_ count: Int = 1) throws(ScheduleError) {
    choices.removeLast(min(max(0, count), choices.count))
    try look()
  }

  /// Goes back to just behind step `number`, 0 being the beginning.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func go(to number: Int) throws(ScheduleError) {
    try back(choices.count - number)
  }

  /// Goes on by the default choices, cancelling nobody, until the schedule is over or for `limit` steps:
  /// the agent that ran last goes on, else the one that has been ready for longest.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func goOn(upTo limit: Int = 1_000) throws(ScheduleError) {
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    run.begin()
    try run.follow(choices)
    var left = limit
    while !run.isOver, left > 0 {
      let index = run.defaultOption
      choices.append(run.options[index].choice)
      run.take(index)
      left -= 1
    }
    run.end()
    try look()
  }

  /// Finds out where the choices lead and what each next one would do.
  private mutating func look() throws(ScheduleError) {
    let run = ScheduleRun(scenario, reduction: .none)
    run.record = StepRecorder()
    if withPlaces { run.notePlaces() }
    defer { run.close() }
    let next = try lookNow(run)
    var records = run.record.map { [$0] } ?? []
    options = []
    for choice in next {
      if untried.contains(choice.text) { continue }
      run.begin()
      defer { run.end() }
      try run.follow(choices + [choice])
      if let record = run.record { records.append(record) }
    }
    let lines = SourceLines(
      of: records.flatMap(\.stacks),
      besides: SourceLines.roomsOfTheLab + scenario.besides
    )
    var told = records.map { $0.stepsWithPlaces(lines) }
    steps = told.removeFirst()
    options = next.compactMap { choice in
      if untried.contains(choice.text) { return Option(choice: choice, outcome: nil) }
      return told.removeFirst().last.map { Option(choice: choice, outcome: $0) }
    }
  }

  /// Finds out where the choices lead; returns what can happen next.
  private mutating func lookNow(_ run: ScheduleRun) throws(ScheduleError) -> [Choice] {
    run.begin()
    defer { run.end() }
    try run.follow(choices)
    fingerprint = run.fingerprint
    steps = run.record?.steps ?? []
    violation = run.violation
    isOver = run.isOver
    let states = run.monitor.tasks
    waiters = states.indices.dropFirst()
      .filter { states[$0].phase == .waiting && run.isParked($0) }
      .map { task in
        Waiter(
          task: task,
          since: steps.last { $0.task == task && $0.choice.kind != .cancel }?.number ?? 0,
          isCancelled: states[task].isCancelled
        )
      }
    return run.isOver ? [] : run.options.map(\.choice)
  }
}
