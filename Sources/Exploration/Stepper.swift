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
    /// The step as it will be recorded if it is chosen.
    package var outcome: StepRecord
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

  /// Begins before the first step.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package init(_ scenario: Scenario) {
    self.scenario = scenario
    look()
  }

  /// Begins behind the last step of `schedule`.
  ///
  /// - Throws: `ScheduleError` when it belongs to another scenario or cannot be followed.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package init(_ scenario: Scenario, at schedule: Schedule) throws(ScheduleError) {
    _ = try Replay(of: schedule, in: scenario)
    self.scenario = scenario
    choices = schedule.choices
    look()
  }

  /// The choices so far, to be replayed.
  package var schedule: Schedule { Schedule(fingerprint: scenario.name, choices: choices) }

  /// Lets the option of that place happen, counted from 0.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func choose(_ index: Int) {
    precondition(
      options.indices.contains(index),
      "there are \(options.count) options, not \(index + 1)"
    )
    choices.append(options[index].choice)
    look()
  }

  /// Takes the last `count` steps back.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func back(_ count: Int = 1) {
    choices.removeLast(min(max(0, count), choices.count))
    look()
  }

  /// Goes back to just behind step `number`, 0 being the beginning.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func go(to number: Int) { back(choices.count - number) }

  /// Goes on by the default choices, cancelling nobody, until the schedule is over or for `limit` steps: who ran last
  /// goes on, else who has been ready for longest.
  @available(*, noasync, message: "runs the scenario on the calling thread; use onOwnThread")
  package mutating func goOn(upTo limit: Int = 1_000) {
    let run = ScheduleRun(scenario, reduction: .none)
    defer { run.close() }
    run.begin()
    run.follow(choices)
    var left = limit
    while !run.isOver, left > 0 {
      let index = run.defaultOption
      choices.append(run.options[index].choice)
      run.take(index)
      left -= 1
    }
    run.end()
    look()
  }

  /// Finds out where the choices lead and what each next one would do.
  private mutating func look() {
    let run = ScheduleRun(scenario, reduction: .none)
    run.record = StepRecorder()
    defer { run.close() }
    run.begin()
    run.follow(choices)
    steps = run.record?.steps ?? []
    violation = run.violation
    isOver = run.isOver
    let next = run.isOver ? [] : run.options.map(\.choice)
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
    run.end()
    options = next.compactMap { choice in
      run.begin()
      run.follow(choices + [choice])
      defer { run.end() }
      return run.record?.steps.last.map { Option(choice: choice, outcome: $0) }
    }
  }
}

extension ScheduleRun {
  /// Makes choices that are known to be possible.
  fileprivate func follow(_ choices: [Choice]) {
    for choice in choices {
      guard let index = index(of: choice) else {
        preconditionFailure(
          "'\(choice.text)' was possible once and is no more: the same choices led "
            + "'\(scenario.name)' to different runs"
        )
      }
      take(index)
    }
  }
}
