internal import Exploration
internal import FoundationEssentials

/// The source files in which tasks stood during a schedule.
package struct CodeUnderStudy: Sendable, Codable {
  /// A line of them, numbered from 1.
  package struct Line: Hashable, Sendable, Codable, CustomStringConvertible {
    package var file: String
    package var number: Int

    /// As in the steps: `File.swift:12`.
    package var description: String { "\(file):\(number)" }

    init(_ place: SourcePlace) { (file, number) = (place.file, place.line) }
  }

  /// The lines of each file, by its name.
  private var files: [String: [String]] = [:]

  /// Reads the files that the steps name, as far as they are still where they were compiled.
  init(of records: [StepRecord]) {
    for place in Set(
      records.flatMap { $0.stands.compactMap(Self.line) + [$0.place].compactMap { $0 } }
    )
    where files[place.file] == nil {
      guard let text = try? String(contentsOfFile: place.path, encoding: .utf8) else { continue }
      files[place.file] = text.split(separator: "\n", omittingEmptySubsequences: false)
        .map(String.init)
    }
  }

  package var names: [String] { files.keys.sorted() }

  package func lines(of file: String) -> [String] { files[file] ?? [] }

  package func text(of line: Line) -> String? {
    let lines = lines(of: line.file)
    return lines.indices.contains(line.number - 1) ? lines[line.number - 1] : nil
  }

  /// The code of a line, and what its author says behind it of who stands there: `await note()  // having looked`.
  package func labelled(_ line: Line) -> (code: String, label: String?)? {
    guard let text = text(of: line) else { return nil }
    guard let comment = text.firstRange(of: " // ") else {
      return (String(text.trimmingPrefix { $0 == " " }), nil)
    }
    var code = text[..<comment.lowerBound].trimmingPrefix { $0 == " " }
    while code.last == " " { code.removeLast() }
    return (String(code), String(text[comment.upperBound...]))
  }

  /// The function that the line belongs to, as `wait()`.
  package func function(at line: Line) -> String? {
    let lines = lines(of: line.file)
    guard lines.indices.contains(line.number - 1) else { return nil }
    var margin = Int.max
    for text in lines[..<line.number].reversed() where !text.isEmpty {
      let indent = text.prefix { $0 == " " }.count
      guard indent < margin else { continue }
      if let match = text.firstMatch(of: /\bfunc (\w+)|\b((?:de)?init)\b/) {
        return match.output.1.map { "\($0)()" } ?? match.output.2.map(String.init)
      }
      // Less indented, it opens what those below it stand in; or it ends the parameters of what does.
      margin = text.dropFirst(indent).first == ")" ? indent + 1 : indent
    }
    return nil
  }

  /// The record with the names that the source has for what it does something to.
  func named(_ record: StepRecord) -> StepRecord {
    var record = record
    if let place = record.place, let operation = record.operation {
      record.objectName = text(of: Line(place))
        .flatMap { ObjectNames.name(in: $0, of: operation) }
    }
    return record
  }

  /// The line to show of where a task stands: the innermost of the code under study itself, else of the
  /// limiters that it is made of.
  static func line(_ stand: [SourcePlace]) -> SourcePlace? {
    for folder in ["/Specimens/", "/Learner/", "/Limiters/"] {
      if let place = stand.first(where: { $0.path.contains(folder) }) { return place }
    }
    return nil
  }
}
