// What a library product promises to other packages: its public declarations, one a line.
//
// Read from the sources, as `swift format` lays them out: the indentation says what stands in what. The
// names of types are as written, so an interface that reads the same may still mean another type.

/// The public declarations of a room.
struct PublicInterface {
  /// `Type: declaration`, sorted.
  let lines: [String]

  init(of files: [SourceFile]) { lines = files.flatMap(Self.declarations).sorted() }

  /// What `other` has and this has not.
  func missing(from other: [String]) -> [String] { other.filter { !lines.contains($0) } }

  private static func declarations(in file: SourceFile) -> [String] {
    var found: [String] = []
    /// The types that enclose a line, by indentation.
    var types: [(indentation: Int, name: String, hasPublicCases: Bool)] = []
    for (index, line) in file.lines.enumerated() {
      let words = line.split(separator: " ").map(String.init)
      let indentation = line.prefix { $0 == " " }.count
      let isPublic =
        words.contains("public") && !words[0].hasPrefix("//") && !words.contains("import")
      let isCase = words.first == "case" && types.last?.hasPublicCases == true
      if !words.isEmpty { types.removeAll { $0.indentation >= indentation } }
      if isPublic || (isCase && types.last?.indentation == indentation - 2) {
        let container = types.map(\.name).joined(separator: ".")
        let text = declaration(from: index, in: file.lines)
        found.append(container.isEmpty ? text : "\(container): \(text)")
      }
      let kinds = ["class", "struct", "enum", "extension", "actor", "protocol"]
      if let kind = words.firstIndex(where: kinds.contains), line.hasSuffix("{"),
        !words[0].hasPrefix("//"), kind + 1 < words.count
      {
        let name = words[kind + 1].prefix { $0.isLetter || $0.isNumber || $0 == "." }
        types.append((indentation, String(name), isPublic && words[kind] == "enum"))
      }
    }
    return found
  }

  /// The declaration that begins in line `start`, without its body, on one line.
  private static func declaration(from start: Int, in lines: [String]) -> String {
    var text = ""
    var depth = 0
    for line in lines[start...] {
      let part = line.drop { $0 == " " }
      let continues =
        depth > 0 || ["->", "where ", "async", "throws"].contains { part.hasPrefix($0) }
      if !text.isEmpty, !continues { break }
      text += text.isEmpty || text.hasSuffix("(") || part.hasPrefix(")") ? part : " " + part
      depth += part.count { $0 == "(" } - part.count { $0 == ")" }
      if depth == 0, part.contains("{") { break }
    }
    return String(text.prefix { $0 != "{" }).replacing(#/ +$/#, with: "")
  }
}
