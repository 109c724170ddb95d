internal import Basics
package import Exploration

// Exploring where it can do no harm.
//
// The code under study may stop its program, or never come back. So what runs it is an errand: a value
// that another program can be given, with an answer that is a value too. What that program did last is
// in its journal, and becomes the verdict if no answer comes.

/// Something to find out about a scenario by running it.
package enum ExplorationErrand: Sendable, Codable {
  case explore(ExplorationScenario, ExplorationPlan)
  /// Runs a schedule and tells its steps, and those behind it if `aftermath` says so.
  case replay(String, aftermath: Bool)
  /// Finds out what can happen behind a schedule, or behind what the default choices add to it.
  case look(at: String, goesOn: Bool, ends: [ScheduleGame.End])

  /// Finds it out in this program.
  package func answer(_ control: ExplorationControl) async -> ExplorationAnswer {
    do {
      switch self {
      case .explore(let scenario, let plan):
        return .report(try await scenario.explore(plan, control))
      case .replay(let schedule, let aftermath):
        let scenario = try ExplorationScenario(ofSchedule: schedule)
        return .story(try await scenario.replay(schedule, withAftermath: aftermath))
      case .look(let schedule, let goesOn, let ends):
        let scenario = try ExplorationScenario(ofSchedule: schedule)
        return .position(try await scenario.look(at: schedule, goesOn: goesOn, ends: ends))
      }
    } catch {
      return .impossible(error)
    }
  }
}

/// What an errand found out.
package enum ExplorationAnswer: Sendable, Codable {
  case report(ExplorationReport)
  case story(ExplorationReport.ScheduleDescription)
  case position(ScheduleGame.Position)
  case impossible(ExplorationFailure)
}

/// Where errands are done: in this program, or in one of their own.
package struct ExplorationPlace: Sendable {
  /// How an errand ended.
  package enum Ending: Sendable {
    case answered(ExplorationAnswer)
    /// The program ended or was ended before it answered, in the middle of this schedule.
    case broken(ExplorationReport.Broken, ScheduleJournal)
  }

  package typealias Errand =
    @Sendable (ExplorationErrand, ExplorationControl) async throws(ExplorationFailure) -> Ending

  private let send: Errand

  package init(_ send: @escaping Errand) { self.send = send }

  /// In this program, which a trap in the code under study ends.
  package static let here = ExplorationPlace { errand, control in
    .answered(await errand.answer(control))
  }

  package func explore(
    _ scenario: ExplorationScenario,
    _ plan: ExplorationPlan,
    _ control: ExplorationControl = ExplorationControl()
  ) async throws(ExplorationFailure) -> ExplorationReport {
    let start = ContinuousClock.now
    switch try await send(.explore(scenario, plan), control) {
    case .answered(.report(let report)): return report
    case .broken(let broken, let journal):
      guard let schedule = journal.schedule else { throw Self.nothingRan(broken) }
      let story = try await story(of: schedule, endingWith: broken)
      return scenario.report(
        endedBy: broken,
        story,
        plan,
        schedules: journal.schedules,
        steps: journal.steps,
        elapsed: ContinuousClock.now - start
      )
    case .answered(let answer): throw Self.refusal(answer)
    }
  }

  package func replay(_ schedule: String) async throws(ExplorationFailure)
    -> ExplorationReport.ScheduleDescription
  {
    switch try await send(.replay(schedule, aftermath: true), ExplorationControl()) {
    case .answered(.story(let story)): return story
    case .broken(let broken, let journal):
      guard let schedule = journal.schedule else { throw Self.nothingRan(broken) }
      return try await story(of: schedule, endingWith: broken)
    case .answered(let answer): throw Self.refusal(answer)
    }
  }

  /// What can happen behind a schedule.
  ///
  /// What of it ends the program is found out by trying.
  func look(at schedule: Schedule, goesOn: Bool) async throws(ExplorationFailure)
    -> ScheduleGame.Position
  {
    var ends: [ScheduleGame.End] = []
    while true {
      let errand = ExplorationErrand.look(at: "\(schedule)", goesOn: goesOn, ends: ends)
      switch try await send(errand, ExplorationControl()) {
      case .answered(.position(let position)): return position
      case .broken(let broken, let journal):
        guard let reached = journal.schedule, let choice = reached.choices.last else {
          throw Self.nothingRan(broken)
        }
        if goesOn || reached.choices.count <= schedule.choices.count {
          // The schedule itself leads there, or what was added to it.
          let story = try await story(of: reached, endingWith: broken)
          return ScheduleGame.Position(endedBy: broken, story)
        }
        ends.append(ScheduleGame.End(choice: choice.text, broken: broken))
      case .answered(let answer): throw Self.refusal(answer)
      }
    }
  }

  /// The steps of a schedule whose last one ended the program.
  private func story(
    of schedule: Schedule,
    endingWith broken: ExplorationReport.Broken
  ) async throws(ExplorationFailure) -> ExplorationReport.ScheduleDescription {
    var before = schedule
    let last = before.choices.popLast()
    var story: ExplorationReport.ScheduleDescription
    switch try await send(.replay("\(before)", aftermath: false), ExplorationControl()) {
    case .answered(.story(let told)): story = told
    case .answered(let answer): throw Self.refusal(answer)
    case .broken:
      throw ExplorationFailure(
        description: "\(broken.kind): \(broken.message), in the middle of \(schedule); run again, "
          + "the same choices ended elsewhere: the code reads a clock, random numbers or state that "
          + "outlives a schedule"
      )
    }
    let states = story.steps.last?.states ?? Array(repeating: .absent, count: story.tasks)
    if let last {
      story.steps.append(
        ExplorationReport.Step(
          number: story.steps.count + 1,
          actor: StepRecord.actor(of: last),
          description: (last.kind == .cancel ? "a task is cancelled, which " : "")
            + (broken.kind == Violation.Kind.trap.rawValue
              ? "stops the program" : "does not come to the end of its step"),
          states: states,
          running: story.steps.last?.running ?? 0,
          waiting: story.steps.last?.waiting ?? 0,
          broke: broken.message,
          isUneventful: false
        )
      )
    }
    story.length = story.steps.count
    story.violation = broken
    story.schedule = "\(schedule)"
    return story
  }

  private static func nothingRan(_ broken: ExplorationReport.Broken) -> ExplorationFailure {
    ExplorationFailure(
      description: "the program that explores ended before its first schedule: \(broken.message)"
    )
  }

  private static func refusal(_ answer: ExplorationAnswer) -> ExplorationFailure {
    if case .impossible(let failure) = answer { return failure }
    return ExplorationFailure(description: "the program that explores answered something else")
  }
}
