internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// What stands before the line a person types: the mechanism, the limit, the clock, and how many
/// run and wait in the background; in a lesson, which one; while one plays the scheduler, what to do.
///
/// Can be read from any thread, time and again: the counts are those of the moment.
package struct PromptText: Sendable {
  /// What the person is in the middle of, where that is not the shell itself.
  private let occupation: String?
  private let backgrounds: BackgroundRuns
  private let settings: Settings
  private let format: TextFormat

  init(occupation: String?, backgrounds: BackgroundRuns, settings: Settings, format: TextFormat) {
    self.occupation = occupation
    self.backgrounds = backgrounds
    self.settings = settings
    self.format = format
  }

  package var text: String {
    if let occupation { return head(occupation, "") }
    guard let background = backgrounds.latest else {
      return head(name(settings.mechanism, settings.limit), settings.resolvedClock.rawValue)
    }
    let experiment = background.experiment
    let clock = experiment.resolvedClock.rawValue
    let others = backgrounds.isSeveral ? " +\(backgrounds.all.count - 1)" : ""
    return head(
      name(experiment.mechanism, background.limit),
      "\(clock) (\(counts(background)))\(others)"
    )
  }

  /// Whether the text changes by itself.
  package var isLive: Bool { backgrounds.all.contains { $0.virtual == nil } }

  /// That a run in the background has ended, or what its mechanism said, told once.
  package var news: String? {
    let ended = backgrounds.all.filter { $0.virtual == nil && $0.hasJustEnded }
    let lines = backgrounds.all.compactMap(\.notice) + ended.map(news)
    let wrapped = lines.flatMap { text in
      text.split(separator: "\n").flatMap { Columns.wrap(String($0), width: format.width) }
    }
    return wrapped.isEmpty ? nil : wrapped.joined(separator: "\n")
  }

  private func news(_ background: Background) -> String {
    let count = background.run.plan.count
    let tasks = count == 1 ? "its task has" : "all \(NumberText.grouped(count)) tasks have"
    guard backgrounds.isSeveral else {
      return "\(background.experiment.mechanism.id): \(tasks) ended. 'wait' shows the result."
    }
    let label = background.label
    return "\(label): \(tasks) ended. 'wait \(label)' shows the result."
  }

  private func head(_ name: String, _ rest: String) -> String {
    format.style.paint(name, .heading) + (rest.isEmpty ? "" : " " + rest) + "> "
  }

  private func name(_ entry: CatalogueEntry, _ limit: Int) -> String {
    switch entry.profile.limit {
    case .any: "\(entry.id)\(format.glyphs.isASCII ? "-" : "·")\(limit)"
    case .one, .none: entry.id
    }
  }

  private func counts(_ background: Background) -> String {
    let board = background.board
    if board.isOver { return "all ended" }
    return format.glyphs.isASCII
      ? "\(board.running) run, \(board.waiting) wait" : "\(board.running)▸ \(board.waiting)·"
  }
}

extension Session {
  package var prompt: PromptText {
    let asked =
      askedAbout.map { _ in "run it? (yes/no)" }
      ?? classroom.resetAsked.map { _ in "forget it? (yes/no)" }
    let game = game.map { $0.position.isOver ? "back or done" : "choose" }
    return PromptText(
      occupation: asked ?? game ?? classroom.visit.map { "lesson \($0.lesson.number)" },
      backgrounds: backgrounds,
      settings: settings,
      format: output.format
    )
  }
}
