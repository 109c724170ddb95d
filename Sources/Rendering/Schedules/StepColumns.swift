internal import Experiments
internal import Mechanisms

/// The steps of a schedule with a column for each task, where there is room.
enum StepColumns {
  /// The least width that a column is worth having.
  private static let leastColumn = 28

  /// The schedule, the pair whose order matters marked; nil where it does not fit.
  static func text(_ story: ExplorationReport.ScheduleDescription, _ format: TextFormat) -> String?
  {
    text(story.steps, tasks: story.tasks, limit: story.limit, format, of: story)
  }

  /// Steps so far; nil where they do not fit.
  static func text(
    _ steps: [ExplorationReport.Step],
    tasks: Int,
    limit: Int?,
    _ format: TextFormat,
    of story: ExplorationReport.ScheduleDescription? = nil
  ) -> String? {
    let length = story?.length ?? steps.count
    let rows = ExplorationText.rows(steps, length: length)
    let digits = rows.map(\.numbers.count).max() ?? 1
    let queues = queues(of: steps, tasks: tasks)
    let figures = limit.map { "running of \($0)" } ?? "running"
    let line = max(4, queues.joined().map(\.count).max() ?? 0)
    let margin = digits + 6
    let room = (format.width - margin - figures.count - line - 4) / max(1, tasks)
    guard CodeColumns.fit(tasks, format), room >= leastColumn else { return nil }
    let names = (1...tasks).map { TaskID($0).label(amongst: tasks) }
    func row(_ head: String, _ cells: [String], _ running: String, _ queue: String) -> String {
      let columns = cells.map { Columns.left($0, room) }.joined()
      let text = Columns.left(head, margin) + columns + "  " + Columns.left(running, figures.count)
      return Columns.trimmed(text + "  " + queue)
    }
    var text = row("", names, figures, "line") + "\n"
    for each in rows {
      let step = each.step
      if each.first == length + 1 { text += "  and then\n" }
      let race = story?.race.map { [$0.first, $0.second] } ?? []
      let isMarked = race.contains { (each.first...step.number).contains($0) }
      let number = Columns.right(each.numbers, digits)
      let head = "\(isMarked ? format.glyphs.mark : " ") \(number)  "
      for (place, moment) in step.moments.enumerated() {
        let told = Columns.wrap(
          place == 0 ? words(moment, of: step) : moment.words,
          width: room - 2,
          indent: 2
        )
        for (index, words) in (told.isEmpty ? [""] : told).enumerated() {
          let cells = names.indices.map {
            step.task == $0 + 1 || (step.task == 0 && $0 == 0) ? words : ""
          }
          let isFirst = index == 0
          let line = row(
            isFirst && place == 0 ? "  " + head : "",
            cells,
            isFirst ? "\(moment.running)" : "",
            isFirst ? queues[step.number - 1][place] : ""
          )
          text += format.style.paint(line, moment.broke == nil ? .ordinary : .bad) + "\n"
        }
        text += ExplorationText.broken(moment, format)
      }
    }
    return text
  }

  /// What the step does at first, and the line it goes on from; of a task that comes to another line, that one.
  private static func words(
    _ moment: ExplorationReport.Moment,
    of step: ExplorationReport.Step
  ) -> String {
    let words = (step.task == 0 ? "\(step.actor) " : "") + moment.words
    // Of several moments the last tells of arrivals.
    if step.within.isEmpty, !step.arrivals.isEmpty {
      return step.arrivals.count == 1 ? words + " (\(step.arrivals[0]))" : words
    }
    guard let from = step.from, !words.contains(" at \(from)") else { return words }
    return words + " (\(from))"
  }

  /// Who waits after each moment of each step, in the order in which they began to.
  private static func queues(of steps: [ExplorationReport.Step], tasks: Int) -> [[String]] {
    var queue: [Int] = []
    return steps.map { step in
      step.moments.map { moment in
        let states = moment.states
        queue.removeAll { states[$0] != .waiting }
        queue += states.indices.filter { states[$0] == .waiting && !queue.contains($0) }
        return queue.map { TaskID($0 + 1).label(amongst: tasks) }.joined(separator: " ")
      }
    }
  }
}
