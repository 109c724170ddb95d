internal import Basics
package import Experiments
internal import Exploration
internal import Mechanisms

/// A schedule as a page for the browser.
package enum SchedulePage {
  /// The whole file.
  package static func html(
    _ story: ExplorationReport.ScheduleDescription,
    of scenario: ExplorationScenario
  ) -> String {
    let verdict = story.violation.map { "\($0.kind) in \(story.length) steps: \($0.message)" }
    let limit = story.limit.map { "limit \($0)" } ?? "no limit"
    var page = StepsPage(
      title: "\(scenario.mechanism.id): \(verdict ?? "every promise is kept")",
      lead:
        "\(NumberText.count(story.tasks, "task")), \(limit). Each step is one that the scheduler could "
        + "take. Go through them with the slider or the arrow keys.",
      tasks: (1...max(1, story.tasks)).map { TaskID($0).label(amongst: story.tasks) },
      steps: steps(of: story),
      length: story.length
    )
    page.files = story.code.names.map { StepsPage.File(name: $0, lines: story.code.lines(of: $0)) }
    page.race = story.race.map { ($0.first, $0.second) }
    page.limit = story.limit
    page.opensAtFailure = story.violation != nil
    page.foot =
      "<p>Play it: <code>step \(scenario.mechanism.id)</code>. Run it again: "
      + "<code>replay \(XMLText.escaped(story.schedule))</code></p>"
    return page.html
  }

  private static func steps(of story: ExplorationReport.ScheduleDescription) -> [StepsPage.Step] {
    // The page stops at each moment of a step; until the last of them tasks are told to stand where they stood.
    var stood: [CodeUnderStudy.Line?] = []
    return story.steps.flatMap { step in
      let moments = step.moments.enumerated().map { index, moment in
        var shown = StepsPage.Step(
          number: step.number,
          who: step.actor,
          what: moment.words,
          states: moment.states.map(name),
          lines: (index == step.moments.count - 1 ? step.lines : stood).map { line in
            line.map { StepsPage.Line(file: $0.file, number: $0.number) }
          }
        )
        shown.running = moment.running
        shown.broke = moment.broke
        return shown
      }
      stood = step.lines
      return moments
    }
  }

  private static func name(of state: ExplorationReport.TaskState) -> String {
    switch state {
    case .absent: ""
    case .waiting: "waiting"
    case .running: "running"
    case .ended(.finished): "finished"
    case .ended(.failed): "failed"
    case .ended(.cancelled): "cancelled"
    }
  }
}
