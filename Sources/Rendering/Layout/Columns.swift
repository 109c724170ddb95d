/// Fitting texts into columns.
package enum Columns {
  /// `text` with blanks after it, up to `width` columns.
  package static func left(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// `text` with blanks before it, up to `width` columns.
  package static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// `line` without the blanks at its end.
  package static func trimmed(_ line: String) -> String {
    var line = Substring(line)
    while line.last == " " { line.removeLast() }
    return String(line)
  }

  /// `pieces` joined by `separator`, in lines of at most `width` columns where the pieces allow.
  package static func flow(_ pieces: [String], separator: String, width: Int) -> [String] {
    var lines: [String] = []
    for piece in pieces {
      if piece.count > width {
        lines += wrap(piece, width: width, indent: 2)
      } else if let last = lines.last, last.count + separator.count + piece.count <= width {
        lines[lines.count - 1] += separator + piece
      } else {
        lines.append(piece)
      }
    }
    return lines
  }

  /// A laid-out text whose lines are kept as they are where they fit, and broken at words where they do not; a
  /// text in a column goes on under its own column.
  package static func reflowed(_ text: String, width: Int) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      guard line.count > width else { return String(line) }
      let column = lastColumn(of: line, before: width - leastColumn)
      let head = String(line.prefix(column))
      let isMargin = head.allSatisfy { $0 == " " }
      return wrap(
        String(line.dropFirst(column)),
        width: width,
        indent: isMargin ? column + 2 : column,
        first: head
      )
      .joined(separator: "\n")
    }.joined(separator: "\n")
  }

  /// The least width that a column is worth going on in.
  private static let leastColumn = 24

  /// Where the last column begins that begins at `place` at the latest; where the margin ends if none does.
  ///
  /// A column begins behind two blanks or more.
  private static func lastColumn(of line: Substring, before place: Int) -> Int {
    var column = line.prefix { $0 == " " }.count
    var blanks = 0
    for (index, character) in line.enumerated() {
      if character != " ", blanks > 1, index <= place { column = max(column, index) }
      blanks = character == " " ? blanks + 1 : 0
    }
    return column
  }

  /// A text in lines of at most `width` columns, begun after `first` and continued after `indent` blanks; a
  /// line of the text begins a new one.
  package static func wrap(
    _ text: String,
    width: Int,
    indent: Int = 0,
    first: String = ""
  ) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    for part in text.split(separator: "\n", omittingEmptySubsequences: false) {
      var isBegun = false
      for word in part.split(separator: " ") {
        if isBegun, lines[lines.count - 1].count + 1 + word.count <= width {
          lines[lines.count - 1] += " " + word
        } else {
          lines.append((lines.isEmpty ? first : margin) + word)
          isBegun = true
        }
      }
      // An empty line parts two paragraphs; a text of nothing has none.
      if !isBegun, !lines.isEmpty { lines.append("") }
    }
    return lines
  }
}
