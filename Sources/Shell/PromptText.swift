internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

extension Session {
  /// What stands before the line a person types: the mechanism, the limit, the clock, and how many
  /// run and wait in the background; in a lesson, which one.
  package var prompt: String {
    if let game { return game.position.isOver ? "back or done> " : "choose> " }
    if let visit = classroom.visit { return "lesson \(visit.lesson.number)> " }
    let ascii = output.display.ascii
    guard let background else {
      return head(settings.mechanism, settings.limit, settings.resolvedClock) + "> "
    }
    let experiment = background.experiment
    let board = background.board
    let counts =
      board.isOver
      ? "all ended"
      : ascii
        ? "\(board.running) run, \(board.waiting) wait" : "\(board.running)▸ \(board.waiting)·"
    return head(experiment.mechanism, experiment.limit, experiment.resolvedClock) + " (\(counts))> "
  }

  private func head(_ entry: CatalogueEntry, _ limit: Int, _ clock: RunClock) -> String {
    let shown =
      switch entry.profile.limit {
      case .any: "\(output.display.ascii ? "-" : "·")\(limit)"
      case .one, .none: ""
      }
    return "\(entry.id)\(shown) \(clock.rawValue)"
  }

  /// What there is to tell about the background run that has not been told: that it has ended.
  package var news: String? {
    guard let background, background.virtual == nil, background.hasJustEnded else { return nil }
    let count = NumberText.count(background.run.plan.count, "task")
    return
      "\(background.experiment.mechanism.id): all \(count) have ended. 'wait' shows the result."
  }

  /// Whether something goes on by itself that the prompt tells about.
  package var isBackgroundLive: Bool { background != nil && background?.virtual == nil }
}
