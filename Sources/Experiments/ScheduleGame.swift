internal import Basics
internal import Exploration

/// Playing the scheduler: a schedule made by hand, step by step.
///
/// A value: a copy is a fork.
package struct ScheduleGame: Sendable {
  /// Something that can happen next.
  package struct Option: Hashable, Sendable, Codable {
    package var actor: String
    /// What it will do, if chosen.
    package var description: String
    /// As in schedules.
    var choice: String
    /// How it ends the program, if it does.
    var broken: ExplorationReport.Broken?
  }

  /// Somebody who cannot go on by itself.
  package struct Waiter: Hashable, Sendable, Codable {
    package var task: Int
    /// The step after which it has waited.
    package var since: Int
    package var isCancelled: Bool
  }

  /// A choice that ends the program.
  package struct End: Hashable, Sendable, Codable {
    var choice: String
    var broken: ExplorationReport.Broken
  }

  /// Where the game stands.
  package struct Position: Sendable, Codable {
    /// What can happen next; empty when the schedule is over.
    package var options: [Option] = []
    package var waiters: [Waiter] = []
    /// The steps so far.
    package var steps: [ExplorationReport.Step]
    package var isOver: Bool
    package var violation: ExplorationReport.Broken?
    /// The line that replays the steps so far.
    package var schedule: String
    /// The code that the steps' lines are of.
    package var code: CodeUnderStudy

    init(endedBy broken: ExplorationReport.Broken, _ story: ExplorationReport.ScheduleDescription) {
      steps = story.steps
      isOver = true
      violation = broken
      schedule = story.schedule
      code = story.code
    }

    fileprivate init(_ stepper: Stepper, tasks: Int, _ ends: [End]) {
      let code = CodeUnderStudy(of: stepper.steps + stepper.options.compactMap(\.outcome))
      self.code = code
      options = stepper.options.map { option in
        let text = option.choice.text
        let end = ends.first { $0.choice == text }
        // As it will be told once it has happened, with the line that a task comes to: two choices may look the same
        // otherwise.
        let told = option.outcome.flatMap { outcome in
          ExplorationReport.Step.all(stepper.steps + [outcome], tasks: tasks, code).last
        }
        return Option(
          actor: told?.actor ?? StepRecord.actor(of: option.choice),
          description: told?.description ?? "ends the program",
          choice: text,
          broken: end?.broken
        )
      }
      waiters = stepper.waiters.map {
        Waiter(task: $0.task, since: $0.since, isCancelled: $0.isCancelled)
      }
      steps = ExplorationReport.Step.all(stepper.steps, tasks: tasks, code)
      isOver = stepper.isOver
      violation = stepper.violation.map(ExplorationReport.Broken.init)
      schedule = "\(stepper.schedule)"
    }
  }

  package let scenario: ExplorationScenario
  private let place: ExplorationPlace
  private let withPlaces: Bool
  package private(set) var position: Position
  private var choices: [Choice] = []

  /// Begins before the first step; with the lines that tasks stand at, if that is wanted.
  package init(
    _ scenario: ExplorationScenario,
    in place: ExplorationPlace = .here,
    withPlaces: Bool = false
  ) async throws(ExplorationFailure) {
    self.scenario = scenario
    self.place = place
    self.withPlaces = withPlaces
    position = try await place.look(
      at: Schedule(scenario: scenario.name, choices: []),
      goesOn: false,
      withPlaces: withPlaces
    )
  }

  package var options: [Option] { position.options }
  package var waiters: [Waiter] { position.waiters }
  package var steps: [ExplorationReport.Step] { position.steps }
  package var isOver: Bool { position.isOver }
  package var violation: ExplorationReport.Broken? { position.violation }
  package var schedule: String { position.schedule }
  package var code: CodeUnderStudy { position.code }

  /// Lets the option of that place happen, counted from 0.
  package func choosing(_ index: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await at(choices + [try choice(options[index].choice)])
  }

  /// Takes the last steps back.
  package func goingBack(_ count: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await at(choices.dropLast(max(0, count)))
  }

  /// Goes back to just behind that step, 0 being the beginning.
  package func going(to step: Int) async throws(ExplorationFailure) -> ScheduleGame {
    try await at(choices.prefix(max(0, step)))
  }

  /// Goes on by the default choices until the schedule is over.
  package func goingOn() async throws(ExplorationFailure) -> ScheduleGame {
    try await at(choices[...], goesOn: true)
  }

  /// The steps so far and what follows by the default choices, with the lines that tasks stand at.
  package func story() async throws(ExplorationFailure) -> ExplorationReport.ScheduleDescription {
    try await place.replay(schedule, withPlaces: true)
  }

  private func at(
    _ choices: some Collection<Choice>,
    goesOn: Bool = false
  ) async throws(ExplorationFailure) -> ScheduleGame {
    var game = self
    game.position = try await place.look(
      at: Schedule(scenario: scenario.name, choices: Array(choices)),
      goesOn: goesOn,
      withPlaces: withPlaces
    )
    game.choices = try Self.parsed(game.position.schedule).choices
    return game
  }

  private func choice(_ text: String) throws(ExplorationFailure) -> Choice {
    guard let choice = try Self.parsed("v3:\(scenario.name):-:\(text)").choices.first else {
      throw ExplorationFailure(description: "'\(text)' is no choice")
    }
    return choice
  }

  private static func parsed(_ schedule: String) throws(ExplorationFailure) -> Schedule {
    do { return try Schedule(parsing: schedule) } catch {
      throw ExplorationFailure(description: "\(error)")
    }
  }
}

extension ExplorationScenario {
  /// What can happen behind a schedule; what `ends` the program is not tried.
  func look(
    at schedule: String,
    goesOn: Bool,
    ends: [ScheduleGame.End],
    withPlaces: Bool
  ) async throws(ExplorationFailure) -> ScheduleGame.Position {
    let (explored, tasks) = (scenario, tasks)
    do {
      return try await onOwnThread { () throws(ScheduleError) in
        var stepper = try Stepper(
          explored,
          at: try Schedule(parsing: schedule),
          without: Set(ends.map(\.choice)),
          withPlaces: withPlaces
        )
        if goesOn { try stepper.goOn() }
        return ScheduleGame.Position(stepper, tasks: tasks, ends)
      }
    } catch { throw ExplorationFailure(description: "\(error)") }
  }
}
