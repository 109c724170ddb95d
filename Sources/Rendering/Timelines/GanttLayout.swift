import Mechanisms

/// How a run over time is laid out: the axis, what stands in the margin, and what a row and a curve look like.
struct GanttLayout {
  let format: TextFormat
  let axis: TimeAxis
  private let margin: Int

  /// On an axis to `end`, with room for the name of each of so many tasks.
  init(_ format: TextFormat, until end: Int64, tasks: Int) {
    self.format = format
    let isNarrow = format.width < 50
    let label = TaskID(1).label(amongst: tasks).count
    margin = isNarrow ? max(4, label) + 1 : max(8, label + 3)
    // One column is kept for what happens at the very end.
    axis = TimeAxis(end: end, room: format.width - margin - 1)
  }

  /// The columns beside the margin.
  var room: Int { format.width - margin }

  var axisLine: String {
    Columns.left("", margin) + format.style.paint(axis.line(width: room), .faint)
  }

  func label(_ name: String, isMarked: Bool = false) -> String {
    let indent = margin >= 8 ? "  " : ""
    guard isMarked else { return Columns.left(indent + name, margin) }
    let mark = indent.isEmpty ? format.glyphs.mark : "\(format.glyphs.mark) "
    return format.style.paint(
      // In a narrow window the mark takes the gap behind the name, which stays whole.
      Columns.left(String((mark + name).prefix(margin)), margin),
      .heading
    )
  }

  /// A line that points at moments.
  func line(marking moments: [Int64]) -> String {
    var cells = Array(repeating: Character(" "), count: axis.cells + 1)
    for moment in moments { cells[min(axis.cell(of: moment), axis.cells)] = "v" }
    return Columns.left("", margin) + Columns.trimmed(String(cells))
  }

  func row(of lane: Timeline.TaskLane) -> GlyphLine {
    var row = GlyphLine(axis: axis, glyphs: format.glyphs)
    let spans = lane.spans.map { (start: $0.start, end: $0.end, role: Style.Role($0.phase)) }
    var marks: [(time: Int64, role: Style.Role)] = []
    if let end = lane.life.end, let time = lane.life.ended { marks.append((time, Style.Role(end))) }
    row.draw(spans, marks: marks)
    return row
  }

  /// The cells that have begun at a moment.
  func cells(begunBy moment: Int64) -> Int { min(axis.cells, axis.cell(of: moment) + 1) }

  /// How many ran and waited, and the limit where it has changed, in each cell from the first; `most` is how many
  /// ever ran at once.
  func sparklines(running: [Int], most: Int, limit: [Int]?, waiting: [Int]) -> [String] {
    let isNarrow = margin < 8
    func row(_ name: String, _ values: [Int], most: Int? = nil, digits: Bool) -> String {
      Columns.left(name, margin)
        + Sparkline.line(
          values,
          most: most ?? values.max() ?? 0,
          room: room,
          digits: digits,
          glyphs: format.glyphs
        )
    }
    var lines = [row(isNarrow ? "run" : "running", running, most: most, digits: true)]
    if let limit { lines.append(row("limit", limit, digits: true)) }
    return lines + [row(isNarrow ? "wait" : "waiting", waiting, digits: false)]
  }
}
