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

  /// A sentence in lines of at most `width` columns, begun after `first` and continued after `indent`
  /// blanks.
  package static func wrap(
    _ text: String,
    width: Int,
    indent: Int = 0,
    first: String = ""
  ) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    for word in text.split(separator: " ", omittingEmptySubsequences: true) {
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append((lines.isEmpty ? first : margin) + word)
      }
    }
    return lines
  }
}
