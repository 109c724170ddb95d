internal import Basics
internal import Exploration

/// Playing the scheduler: a schedule made by hand, step by step.
///
/// A value: a copy is a fork.
package struct ScheduleGame: Sendable {
  /// Something that can happen next.
  package struct Option: Hashable, Sendable {
    package var actor: String
    /// What it will do, if chosen.
    package var description: String
  }

  package let scenario: ExplorationScenario
  private var stepper: Stepper

  /// Begins before the first step.
  package init(_ scenario: ExplorationScenario) async throws(ExplorationFailure) {
    self.scenario = scenario
    let explored = scenario.scenario
    do {
      stepper = try await onOwnThread { () throws(ScheduleError) in try Stepper(explored) }
    } catch { throw ExplorationFailure(description: "\(error)") }
  }

  /// What can happen next; empty when the schedule is over.
  package var options: [Option] {
    stepper.options.map { Option(actor: $0.outcome.actor, description: $0.outcome.description) }
  }

  /// Who waits for others, and since which step.
  package var waiters: [(task: Int, since: Int, isCancelled: Bool)] {
    stepper.waiters.map { ($0.task, $0.since, $0.isCancelled) }
  }

  /// The steps so far.
  package var steps: [ExplorationReport.Step] {
    ExplorationReport.Step.all(stepper.steps, tasks: scenario.tasks)
  }

  package var isOver: Bool { stepper.isOver }

  /// The kind of promise that is broken, and what was broken in words.
  package var violation: (kind: String, message: String)? {
    stepper.violation.map { ($0.kind.rawValue, $0.message) }
  }

  /// The line that replays the steps so far.
  package var schedule: String { "\(stepper.schedule)" }

  /// Lets the option of that place happen, counted from 0.
  package func choosing(_ index: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await changed { stepper throws(ScheduleError) in try stepper.choose(index) }
  }

  /// Takes the last steps back.
  package func goingBack(_ count: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await changed { stepper throws(ScheduleError) in try stepper.back(count) }
  }

  /// Goes back to just behind that step, 0 being the beginning.
  package func going(to step: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await changed { stepper throws(ScheduleError) in try stepper.go(to: step) }
  }

  /// Goes on by the default choices until the schedule is over.
  package func goingOn() async throws(ExplorationFailure) -> ScheduleGame {
    try await changed { stepper throws(ScheduleError) in try stepper.goOn() }
  }

  private func changed(
    _ change: @escaping @Sendable (inout Stepper) throws(ScheduleError) -> Void
  ) async throws(ExplorationFailure) -> ScheduleGame {
    var game = self
    let before = stepper
    do {
      game.stepper = try await onOwnThread { () throws(ScheduleError) in
        var stepper = before
        try change(&stepper)
        return stepper
      }
    } catch { throw ExplorationFailure(description: "\(error)") }
    return game
  }
}
