internal import Experiments
internal import Mechanisms

/// The code of several tasks side by side, the line that each stands at marked; empty where there is no room.
package enum CodeColumns {
  private struct Column {
    var title: String
    var line: CodeUnderStudy.Line?
  }

  /// Whether so many columns are worth having in that width.
  package static func fit(_ count: Int, _ format: TextFormat) -> Bool {
    count > 1 && format.width >= 90 && format.width / count >= 44
  }

  /// Where the tasks stand in the game, each at what it will do next.
  static func text(at game: ScheduleGame, _ format: TextFormat) -> String {
    guard let last = game.steps.last else { return "" }
    let columns = last.states.indices.map { task in
      let name = TaskID(task + 1).label(amongst: last.states.count)
      let line = last.lines.indices.contains(task) ? last.lines[task] : nil
      let state =
        switch last.states[task] {
        case .absent: "has not begun"
        case .ended where line == nil: "has ended"
        case .waiting, .running, .ended: place(line, game.code)
        }
      return Column(title: "\(name)  \(state)", line: line)
    }
    return text(columns, game.code, format)
  }

  /// Where the two steps stand whose order matters, or all tasks at the end if there are none.
  static func text(at story: ExplorationReport.ScheduleDescription, _ format: TextFormat) -> String
  {
    let race = story.race.map { [story.steps[$0.first - 1], story.steps[$0.second - 1]] } ?? []
    guard let end = race.last ?? story.steps.prefix(story.length).last else { return "" }
    let columns = (1...story.tasks).map { task in
      let step = race.first { $0.task == task }
      // Code that names no places has no lines.
      func stand(in step: ExplorationReport.Step) -> CodeUnderStudy.Line? {
        step.lines.indices.contains(task - 1) ? step.lines[task - 1] : nil
      }
      let line = step.flatMap { $0.from ?? stand(in: $0) } ?? stand(in: end)
      let name = TaskID(task).label(amongst: story.tasks)
      let number = step.map { "step \($0.number), " } ?? ""
      return Column(title: "\(name)  \(number)\(place(line, story.code))", line: line)
    }
    return text(columns, story.code, format)
  }

  private static func place(_ line: CodeUnderStudy.Line?, _ code: CodeUnderStudy) -> String {
    guard let line else { return "" }
    return (code.function(at: line).map { "\($0)  " } ?? "") + line.file
  }

  private static func text(
    _ columns: [Column],
    _ code: CodeUnderStudy,
    _ format: TextFormat
  ) -> String {
    guard fit(columns.count, format), columns.contains(where: { $0.line != nil }) else { return "" }
    let width = (format.width + 2) / columns.count - 2
    let excerpts = columns.map { excerpt($0.line, code, width: width, format) }
    var text =
      "\n"
      + Columns.trimmed(
        columns.map { cell("  " + $0.title, width, format) }.joined(separator: "  ")
      ) + "\n"
    for row in 0..<(excerpts.map(\.count).max() ?? 0) {
      let cells = excerpts.map { lines -> String in
        guard lines.indices.contains(row) else { return String(repeating: " ", count: width) }
        let (told, isCurrent) = lines[row]
        return format.style.paint(cell(told, width, format), isCurrent ? .running : .faint)
      }
      text += Columns.trimmed(cells.joined(separator: "  ")) + "\n"
    }
    return text
  }

  private static func cell(_ text: String, _ width: Int, _ format: TextFormat) -> String {
    guard text.count > width else { return Columns.left(text, width) }
    let ellipsis = format.glyphs.ellipsis
    return Columns.left(text.prefix(width - ellipsis.count) + ellipsis, width)
  }

  /// The line and some around it, without comments, which say what the steps are to show.
  private static func excerpt(
    _ line: CodeUnderStudy.Line?,
    _ code: CodeUnderStudy,
    width: Int,
    _ format: TextFormat
  ) -> [(String, isCurrent: Bool)] {
    guard let line else { return [] }
    let lines = code.lines(of: line.file)
    let numbers = lines.indices.map { $0 + 1 }.filter { number in
      let text = lines[number - 1].drop { $0 == " " }
      return number == line.number || (!text.isEmpty && !text.hasPrefix("//"))
    }
    guard let place = numbers.firstIndex(of: line.number) else { return [] }
    let shown = numbers[max(0, place - 3)..<min(numbers.count, place + 4)]
    let margin = shown.map { number in lines[number - 1].prefix { $0 == " " }.count }.min() ?? 0
    let digits = "\(shown.last ?? 0)".count
    return shown.map { number in
      let isCurrent = number == line.number
      let mark = isCurrent ? format.glyphs.mark : " "
      let label = Columns.right("\(number)", digits)
      return ("\(mark) \(label)  \(lines[number - 1].dropFirst(margin))", isCurrent)
    }
  }
}
