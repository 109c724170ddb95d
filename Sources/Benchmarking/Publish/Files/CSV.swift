/// Comma-separated values as RFC 4180 writes them.
///
/// Written by hand because SwiftCSV does not quote a cell that holds a line break, which the reasons of
/// an invalid trial may. The reader stands beside the writer, so that a test compares the two.
package enum CSV {
  /// One record with its line end.
  package static func line(_ cells: [String]) -> String {
    cells.map(quoted).joined(separator: ",") + "\r\n"
  }

  /// The whole text: a header and the records.
  package static func text(header: [String], _ records: [[String]]) -> String {
    line(header) + records.map(line).joined()
  }

  private static func quoted(_ cell: String) -> String {
    // Unicode treats CR LF as one character, so look at the bytes: a comma, a quote, CR, LF.
    let needsQuotes = cell.utf8.contains { $0 == 0x2C || $0 == 0x22 || $0 == 0x0D || $0 == 0x0A }
    guard needsQuotes else { return cell }
    // Nor is a quote with a combining mark the character that a quote alone is.
    var quoted = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in cell.unicodeScalars {
      quoted.append(scalar)
      if scalar == "\"" { quoted.append(scalar) }
    }
    quoted.append("\"")
    return String(quoted)
  }

  /// Reads such a text back into its records, the header first.
  ///
  /// Bare LF line ends are read as well, for files that went through an editor.
  package static func records(_ text: String) -> [[String]] {
    var records: [[String]] = []
    var cells: [String] = []
    var cell = String.UnicodeScalarView()
    var isQuoted = false
    var scalars = text.unicodeScalars.makeIterator()
    var next = scalars.next()

    func endCell() {
      cells.append(String(cell))
      cell = String.UnicodeScalarView()
    }
    while let scalar = next {
      next = scalars.next()
      switch scalar {
      case "\"" where isQuoted && next == "\"":
        cell.append("\"")
        next = scalars.next()
      case "\"":
        isQuoted.toggle()
      case "," where !isQuoted:
        endCell()
      case "\r" where !isQuoted && next == "\n":
        break
      case "\n" where !isQuoted:
        endCell()
        records.append(cells)
        cells = []
      default:
        cell.append(scalar)
      }
    }
    if !cell.isEmpty || !cells.isEmpty {
      endCell()
      records.append(cells)
    }
    return records
  }
}

extension CSV {
  /// A number in the shortest form that reads back as the same number; whole ones without a point.
  package static func number(_ value: Double?) -> String {
    guard let value, value.isFinite else { return "" }
    return Int64(exactly: value).map(String.init) ?? String(value)
  }

  package static func number(_ value: (some BinaryInteger)?) -> String {
    value.map { String($0) } ?? ""
  }
}
