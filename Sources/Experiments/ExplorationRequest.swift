internal import Basics
package import Exploration

// Exploring where it can do no harm.
//
// The code under study may stop its program, or never come back. So what runs it is a request: a value
// that another program can be given, with an answer that is a value too. What that program did last is
// in its journal, and becomes the verdict if no answer comes.

/// Something to find out about a scenario by running it.
package enum ExplorationRequest: Sendable, Codable {
  case explore(ExplorationScenario, ExplorationPlan)
  /// Runs a schedule and tells its steps, and those behind it if `aftermath` says so; with the lines tasks
  /// stand at, if `places` says so. What it left is brought to its end, if `ends` says so.
  case replay(String, aftermath: Bool, places: Bool, ends: Bool)
  /// Finds out what can happen behind a schedule, or behind what the default choices add to it.
  case look(at: String, goesOn: Bool, ends: [ScheduleGame.End], places: Bool)
  /// Looks for a schedule with few pre-emptions and of few steps that ends the program.
  case survive(ExplorationScenario, preemptions: Int, shorterThan: Int?, schedules: Int)

  /// Finds it out in this program.
  package func answer(_ control: ExplorationControl) async -> ExplorationAnswer {
    do {
      switch self {
      case .explore(let scenario, let plan):
        return .report(try await scenario.explore(plan, control))
      case .replay(let schedule, let aftermath, let places, _):
        let scenario = try ExplorationScenario(ofSchedule: schedule)
        return .story(
          try await scenario.replay(schedule, withAftermath: aftermath, withPlaces: places)
        )
      case .look(let schedule, let goesOn, let ends, let places):
        let scenario = try ExplorationScenario(ofSchedule: schedule)
        return .position(
          try await scenario.look(at: schedule, goesOn: goesOn, ends: ends, withPlaces: places)
        )
      case .survive(let scenario, let preemptions, let shorterThan, let schedules):
        let explored = scenario.scenario
        return await onOwnThread {
          var left = schedules
          let isFinished = explored.survives(
            preemptions: preemptions,
            shorterThan: shorterThan,
            allowance: &left,
            shouldStop: { control.shouldStop() }
          )
          return .survived(isFinished: isFinished, schedules: schedules - left)
        }
      }
    } catch {
      return .impossible(error)
    }
  }
}

/// What a request found out.
package enum ExplorationAnswer: Sendable, Codable {
  case report(ExplorationReport)
  case story(ExplorationReport.ScheduleDescription)
  case position(ScheduleGame.Position)
  /// The program is still there, after so many schedules, and whether these were all.
  case survived(isFinished: Bool, schedules: Int)
  case impossible(ExplorationFailure)
}

/// Where requests are carried out: in this program, or in one of their own.
package struct ExplorationPlace: Sendable {
  /// How a request ended.
  package enum Ending: Sendable {
    case answered(ExplorationAnswer)
    /// The program ended or was ended before it answered, in the middle of this schedule.
    case broken(ExplorationReport.Broken, ScheduleJournal)
  }

  package typealias Send =
    @Sendable (ExplorationRequest, ExplorationControl) async throws(ExplorationFailure) -> Ending

  private let send: Send

  package init(_ send: @escaping Send) { self.send = send }

  /// In this program, which a trap in the code under study ends.
  package static let here = ExplorationPlace { request, control in
    .answered(await request.answer(control))
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
      let found = End(schedule: schedule, broken: broken, isOver: journal.isOver)
      let minimum = try await minimum(of: found, control)
      var story = try await story(
        of: minimum.schedule,
        endingWith: minimum.broken,
        isOver: minimum.isOver,
        withPlaces: plan.withPlaces
      )
      story.isMinimal = minimum.isMinimal
      return try ExplorationScenario(ofSchedule: "\(schedule)").report(
        of: "\(schedule)",
        endedBy: story.violation ?? broken,
        story,
        plan,
        schedules: journal.schedules,
        steps: journal.steps,
        elapsed: ContinuousClock.now - start
      )
    case .answered(let answer): throw Self.refusal(answer)
    }
  }

  package func replay(
    _ schedule: String,
    withPlaces: Bool = false
  ) async throws(ExplorationFailure) -> ExplorationReport.ScheduleDescription {
    let request = ExplorationRequest.replay(
      schedule,
      aftermath: true,
      places: withPlaces,
      ends: true
    )
    switch try await send(request, ExplorationControl()) {
    case .answered(.story(let story)): return story
    case .broken(let broken, let journal):
      guard let schedule = journal.schedule else { throw Self.nothingRan(broken) }
      return try await story(
        of: schedule,
        endingWith: broken,
        isOver: journal.isOver,
        withPlaces: withPlaces
      )
    case .answered(let answer): throw Self.refusal(answer)
    }
  }

  /// What can happen next after a schedule.
  ///
  /// Which choices end the program is found by trying them: each time one has ended it, the program is started anew.
  func look(
    at schedule: Schedule,
    goesOn: Bool,
    withPlaces: Bool
  ) async throws(ExplorationFailure) -> ScheduleGame.Position {
    var ends: [ScheduleGame.End] = []
    while true {
      let request = ExplorationRequest.look(
        at: "\(schedule)",
        goesOn: goesOn,
        ends: ends,
        places: withPlaces
      )
      switch try await send(request, ExplorationControl()) {
      case .answered(.position(let position)): return position
      case .broken(let broken, let journal):
        guard let reached = journal.schedule, let choice = reached.choices.last else {
          throw Self.nothingRan(broken)
        }
        if goesOn || reached.choices.count <= schedule.choices.count {
          // The schedule itself leads there, or what was added to it.
          let story = try await story(
            of: reached,
            endingWith: broken,
            isOver: journal.isOver,
            withPlaces: withPlaces
          )
          return ScheduleGame.Position(endedBy: broken, story)
        }
        ends.append(ScheduleGame.End(choice: choice.text, broken: broken))
      case .answered(let answer): throw Self.refusal(answer)
      }
    }
  }

  /// A schedule that ended the program.
  private struct End {
    var schedule: Schedule
    var broken: ExplorationReport.Broken
    /// Whether the schedule was over, and what it left was being brought to its end.
    var isOver: Bool
    /// Whether no smaller one ends it.
    var isMinimal = false
  }

  /// The smallest schedule that ends the program, searched for as `Minimum` searches for others.
  ///
  /// Each that is found ends the program that searches, so the next one looks for shorter ones only. A
  /// program whose step does not end takes ten seconds to be sure of: such a schedule stays as it is.
  private func minimum(
    of found: End,
    _ control: ExplorationControl
  ) async throws(ExplorationFailure) -> End {
    let trap = Violation.Kind.trap.rawValue
    guard found.broken.kind == trap else { return found }
    let scenario = try ExplorationScenario(ofSchedule: "\(found.schedule)")
    let before = try await story(
      of: found.schedule,
      endingWith: found.broken,
      isOver: found.isOver,
      withPlaces: false
    )
    guard before.violation?.kind == trap else { return found }
    var left = 20_000
    // The last step is not among the counted ones and may be a pre-emption too.
    for preemptions in 0...(before.preemptions + 1) {
      for tasks in 1...scenario.tasks {
        var smaller = scenario
        smaller.tasks = tasks
        var best: End?
        search: while !control.shouldStop() {
          let request = ExplorationRequest.survive(
            smaller,
            preemptions: preemptions,
            shorterThan: best?.schedule.choices.count,
            schedules: left
          )
          switch try await send(request, control) {
          case .broken(let broken, let journal):
            guard broken.kind == trap, let schedule = journal.schedule else { return best ?? found }
            best = End(schedule: schedule, broken: broken, isOver: journal.isOver)
            left -= journal.schedules
          case .answered(.survived(let isFinished, let schedules)):
            left -= schedules
            if !isFinished { return best ?? found }
            best?.isMinimal = true
            break search
          case .answered(let answer): throw Self.refusal(answer)
          }
        }
        if let best { return best }
        if control.shouldStop() { return found }
      }
    }
    return found
  }

  /// The steps of a schedule whose last one ended the program, or what was done behind it.
  private func story(
    of schedule: Schedule,
    endingWith broken: ExplorationReport.Broken,
    isOver: Bool,
    withPlaces: Bool
  ) async throws(ExplorationFailure) -> ExplorationReport.ScheduleDescription {
    var before = schedule
    let last = isOver ? nil : before.choices.popLast()
    var story: ExplorationReport.ScheduleDescription
    let request = ExplorationRequest.replay(
      "\(before)",
      aftermath: false,
      places: withPlaces,
      ends: false
    )
    switch try await send(request, ExplorationControl()) {
    case .answered(.story(let told)): story = told
    case .answered(let answer): throw Self.refusal(answer)
    case .broken:
      throw ExplorationFailure(
        description: "\(broken.kind): \(broken.message), in the middle of \(schedule); run again, "
          + "the same choices ended elsewhere: the code reads a clock, random numbers or state that "
          + "outlives a schedule"
      )
    }
    // The schedule itself broke a promise; the program ended only as the rest was cleared away.
    if isOver, story.violation != nil { return story }
    let states = story.steps.last?.states ?? Array(repeating: .absent, count: story.tasks)
    let what =
      switch (last?.kind, broken.kind == Violation.Kind.trap.rawValue) {
      case (.cancel?, true): "a task is cancelled, which stops the program"
      case (.cancel?, false): "a task is cancelled, which does not come to its end"
      case (.some, true): "stops the program"
      case (.some, false): "does not come to the end of its step"
      case (nil, let stops):
        "the tasks are gone, and the last reference to what they used: that "
          + (stops ? "stops the program" : "does not come to its end")
      }
    story.steps.append(
      ExplorationReport.Step(
        number: story.steps.count + 1,
        actor: last.map(StepRecord.actor) ?? "·",
        description: what,
        states: states,
        running: story.steps.last?.running ?? 0,
        waiting: story.steps.last?.waiting ?? 0,
        broke: broken.message,
        isUneventful: false,
        lines: story.steps.last?.lines ?? [],
        task: last.map { $0.kind == .limit ? 0 : Int($0.agent) } ?? 0
      )
    )
    story.length = story.steps.count
    if last?.kind == .cancel { story.cancellations += 1 }
    // What broke a promise before has its verdict.
    story.violation = story.violation ?? broken
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
