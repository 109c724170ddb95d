/// Rows of texts under headings, laid out in columns.
///
/// Where the lines are too short for all columns, the least important are left out; where even those of
/// rank 0 do not fit, each row becomes a paragraph of `heading value` pieces. Nothing is ever cut in
/// the middle, which packages for tables do when a line is too short.
struct TextTable {
  struct Column {
    var heading: String
    /// Numbers are set to the right, names to the left.
    var alignsRight = true
    /// Where the lines are too short, columns of the largest number go first; those of 0 stay.
    var rank: Int
  }

  var columns: [Column]
  var rows: [[String]]

  func lines(_ format: TextFormat) -> [String] {
    var kept = Array(columns.indices)
    while width(of: kept, gap: 1) > format.width {
      let droppable = kept.filter { columns[$0].rank > 0 }
      guard let least = droppable.max(by: { columns[$0].rank < columns[$1].rank })
      else {
        return paragraphs(format)
      }
      kept.removeAll { $0 == least }
    }
    let gap = width(of: kept, gap: 2) > format.width ? " " : "  "
    let widths = kept.map(width(of:))
    func line(_ texts: [String]) -> String {
      let cells = zip(kept, widths).map { column, width in
        columns[column].alignsRight
          ? Columns.right(texts[column], width) : Columns.left(texts[column], width)
      }
      return Columns.trimmed(cells.joined(separator: gap))
    }
    return [format.style.paint(line(columns.map(\.heading)), .faint)] + rows.map(line)
  }

  func text(_ format: TextFormat) -> String { lines(format).joined(separator: "\n") + "\n" }

  private func paragraphs(_ format: TextFormat) -> [String] {
    rows.flatMap { row in
      let pieces = zip(columns, row).dropFirst().filter { !$1.isEmpty }.map {
        "\($0.heading) \($1)"
      }
      let rest = Columns.flow(pieces, separator: ", ", width: format.width - 2).map { "  " + $0 }
      return [format.style.paint(row[0], .heading)] + rest
    }
  }

  private func width(of column: Int) -> Int {
    rows.reduce(columns[column].heading.count) { max($0, $1[column].count) }
  }

  private func width(of kept: [Int], gap: Int) -> Int {
    kept.reduce(gap * (kept.count - 1)) { $0 + width(of: $1) }
  }
}

/// Horizontal bars.
enum Bar {
  /// A bar of at most `width` columns for `value` of `top`; anything above 0 is to be seen.
  static func text(_ value: Double, of top: Double, width: Int, _ glyphs: GlyphSet) -> String {
    guard top > 0, value > 0, width > 0 else { return "" }
    let share = min(1, value / top) * Double(width)
    guard !glyphs.partialBars.isEmpty else {
      return String(repeating: glyphs.running, count: max(1, Int(share.rounded())))
    }
    let steps = glyphs.partialBars.count + 1
    let eighths = max(1, Int((share * Double(steps)).rounded()))
    let bar = String(repeating: glyphs.running, count: eighths / steps)
    return eighths % steps == 0 ? bar : bar + String(glyphs.partialBars[eighths % steps - 1])
  }
}
