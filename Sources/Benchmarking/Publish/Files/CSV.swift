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
    let needsQuotes = cell.utf8.contains(where: isSpecial)
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
    var text = text
    return text.withUTF8(records)
  }

  /// Goes through the bytes: what separates is ASCII, and no part of another character.
  private static func records(_ bytes: UnsafeBufferPointer<UInt8>) -> [[String]] {
    var records: [[String]] = []
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var index = 0

    func endCell() {
      cells.append(String(decoding: cell, as: UTF8.self))
      cell.removeAll(keepingCapacity: true)
    }
    while index < bytes.count {
      let next = index + 1 < bytes.count ? bytes[index + 1] : 0
      switch bytes[index] {
      case quote where isQuoted && next == quote:
        cell.append(quote)
        index += 1
      case quote:
        isQuoted.toggle()
      case comma where !isQuoted:
        endCell()
      case carriageReturn where !isQuoted && next == lineFeed:
        break
      case lineFeed where !isQuoted:
        endCell()
        records.append(cells)
        cells = []
      default:
        let begin = index
        while index + 1 < bytes.count, !isSpecial(bytes[index + 1]) { index += 1 }
        cell.append(contentsOf: bytes[begin...index])
      }
      index += 1
    }
    if !cell.isEmpty || !cells.isEmpty {
      endCell()
      records.append(cells)
    }
    return records
  }

  private static let comma: UInt8 = 0x2C
  private static let quote: UInt8 = 0x22
  private static let carriageReturn: UInt8 = 0x0D
  private static let lineFeed: UInt8 = 0x0A

  private static func isSpecial(_ byte: UInt8) -> Bool {
    byte <= comma
      && (byte == comma || byte == quote || byte == carriageReturn || byte == lineFeed)
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
