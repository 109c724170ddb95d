extension Columns {
  /// Rows of cells on a line each, the cells two blanks apart, all but the last padded to their
  /// column.
  package static func rows(_ rows: [[String]]) -> String {
    let count = rows.map(\.count).max() ?? 0
    let widths = (0..<count).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      let padded = zip(row.dropLast(), widths).map { left($0, $1) + "  " }
      return padded.joined() + (row.last ?? "") + "\n"
    }.joined()
  }
}
