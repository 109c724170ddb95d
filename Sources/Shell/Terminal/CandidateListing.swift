internal import Basics

/// The candidates of a completion laid out below the line: with their descriptions one a line, else
/// in columns, filled downwards as `ls` does.
enum CandidateListing {
  static func lines(for candidates: [Completion.Candidate], size: TerminalSize) -> [String] {
    // The line being edited must stay in sight, and a person does not read hundreds of names.
    let room = max(size.rows - 3, 1)
    let haveDescriptions = candidates.contains { $0.description != nil }
    return haveDescriptions
      ? oneALine(candidates, columns: size.columns, room: room)
      : inColumns(candidates.map(\.text), columns: size.columns, room: room)
  }

  private static func oneALine(
    _ candidates: [Completion.Candidate],
    columns: Int,
    room: Int
  ) -> [String] {
    let width = candidates.map { CellWidth.of($0.text) }.max() ?? 0
    let lines = candidates.map { candidate in
      let name = pad(candidate.text, to: width)
      let line = candidate.description.map { "\(name)  \($0)" } ?? candidate.text
      return CellWidth.truncate(line, to: columns - 1)
    }
    return fold(lines, room: room, hidden: { lines.count - $0 })
  }

  private static func inColumns(_ names: [String], columns: Int, room: Int) -> [String] {
    let width = (names.map { CellWidth.of($0) }.max() ?? 0) + 2
    let perLine = max((columns - 1) / width, 1)
    let rows = (names.count + perLine - 1) / perLine
    let lines = (0..<rows).map { row in
      let cells = stride(from: row, to: names.count, by: rows).map { names[$0] }
      let line = cells.dropLast().map { pad($0, to: width) }.joined() + (cells.last ?? "")
      return CellWidth.truncate(line, to: columns - 1)
    }
    return fold(lines, room: room) { shown in names.indices.count { $0 % rows >= shown } }
  }

  /// Too many lines end in one that says how many candidates are left out; `hidden` counts them for
  /// a number of lines shown.
  private static func fold(_ lines: [String], room: Int, hidden: (Int) -> Int) -> [String] {
    guard lines.count > room else { return lines }
    let shown = room - 1
    return Array(lines.prefix(shown)) + ["(\(hidden(shown)) more)"]
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(width - CellWidth.of(text), 0))
  }
}
