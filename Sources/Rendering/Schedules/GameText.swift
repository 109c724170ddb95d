package import Experiments
internal import Mechanisms

/// A position in the game of playing the scheduler, as text.
package enum GameText {
  /// What happened last, what can happen next, who waits; at the end, what it came to.
  package static func position(_ game: ScheduleGame, best: Int?, _ format: TextFormat) -> String {
    let steps = game.steps
    var text = ""
    if let last = steps.last {
      text += paragraph("step \(last.number)   \(last.actor)  \(last.words)", format)
    }
    if game.isOver { return text + ending(game, steps.count, best: best, format) }
    let title = "step \(steps.count + 1)"
    for (index, option) in game.options.enumerated() {
      let head = index == 0 ? title + "   can happen: " : ""
      let margin = title.count + 15
      let choice = "[\(index + 1)] \(option.actor)  \(option.description)"
      let lines = Columns.wrap(choice, width: max(20, format.width - margin))
      for (number, line) in lines.enumerated() {
        text += Columns.left(number == 0 ? head : "", margin) + line + "\n"
      }
    }
    let names = waiting(game)
    let waiting = names.isEmpty ? "nobody" : names.joined(separator: "; ")
    let margin = Columns.left("", title.count + 3)
    let limit = game.scenario.effectiveLimit.map { " of \($0)" } ?? ""
    return text + "\(margin)running:    \(steps.last?.running ?? 0)\(limit)\n"
      + "\(margin)waits:      \(waiting)\n" + CodeColumns.text(at: game, format)
  }

  /// Who waits, whether it has parked or has still to do so, and since which step.
  private static func waiting(_ game: ScheduleGame) -> [String] {
    (1...max(1, game.scenario.tasks)).compactMap { task in
      let parked = game.waiters.first { $0.task == task }
      let isWaiting = { (step: ExplorationReport.Step) in
        step.states.indices.contains(task - 1) && step.states[task - 1] == .waiting
      }
      guard parked != nil || game.steps.last.map(isWaiting) == true else { return nil }
      let since = game.steps.last { !isWaiting($0) }.map { $0.number + 1 } ?? 1
      return TaskID(task).label(amongst: game.scenario.tasks)
        + " since step \(parked?.since ?? since)"
        + (parked?.isCancelled == true ? ", cancelled" : "")
    }
  }

  private static func ending(
    _ game: ScheduleGame,
    _ count: Int,
    best: Int?,
    _ format: TextFormat
  ) -> String {
    guard let broken = game.violation else {
      return paragraph(
        "\(format.glyphs.good) everything has ended and every promise is kept. 'back' or 'goto 0' tries another way.",
        format
      )
    }
    let steps = NumberText.count(count, "step")
    var text = "\(format.glyphs.bad) \(broken.kind) in \(steps): \(broken.message)."
    if let best {
      text += " The explorer's best, with as few pre-emptions as possible, has \(best)."
      if count == best { text += " You matched it." }
      if count < best { text += " You beat it." }
    }
    return paragraph(text, format) + "replay \(game.schedule)\n"
  }

  /// The steps so far.
  package static func steps(_ game: ScheduleGame, _ format: TextFormat) -> String {
    let steps = game.steps
    if steps.isEmpty { return "no step yet\n" }
    let tasks = game.scenario.tasks
    if let columns = StepColumns.text(
      steps,
      tasks: tasks,
      limit: game.scenario.effectiveLimit,
      format
    ) {
      return columns
    }
    let digits = "\(steps.count)".count
    let actors = steps.map(\.actor.count).max() ?? 0
    return steps.map { step in
      let number = Columns.left("\(step.number)", digits)
      let head = "  \(number)  \(Columns.left(step.actor, actors))  "
      let margin = head.count
      // Who reads down a column is not to meet the end of a text there.
      return Columns.wrap(
        step.words,
        width: max(margin + 20, format.width),
        indent: margin,
        first: head
      )
      .map { $0 + "\n" }.joined()
    }.joined()
  }

  /// The position as one JSON object on a line.
  package static func json(_ game: ScheduleGame) -> String {
    JSONObject.line([
      ("step", .number(game.steps.count)), ("choices", .number(game.options.count)),
      ("over", .string(game.isOver ? "yes" : "no")),
      ("violation", game.violation.map { .string($0.kind) } ?? .null),
      ("schedule", .string(game.schedule)),
      (
        "lines",
        .array((game.steps.last?.lines ?? []).map { $0.map { .string("\($0)") } ?? .null })
      ),
    ])
  }

  private static func paragraph(_ text: String, _ format: TextFormat) -> String {
    Columns.wrap(text, width: format.width, indent: 2).map { $0 + "\n" }.joined()
  }
}
