// A new mechanism is one file and one line. These find the file without its line.

enum CatalogueChecks {
  /// Adapters that `Catalogue.swift` does not list, with the line to add.
  static func missing(from catalogue: SourceFile, among files: [SourceFile]) -> [Finding] {
    files.compactMap { file in
      guard file.room == "Mechanisms", file.name.hasSuffix("Mechanism"), file.name != "Mechanism"
      else { return nil }
      let list = file.folders.first == "Specimens" ? "specimens" : "mechanisms"
      let line = "CatalogueEntry(\(file.name).self),"
      // A list of one stands without its comma.
      let found = lines(of: list, in: catalogue)
      guard !found.contains(line), !found.contains(String(line.dropLast())) else { return nil }
      return Finding(
        path: file.path,
        line: nil,
        message: "is not in the catalogue; add to Catalogue.\(list) in \(catalogue.path):  \(line)"
      )
    }
  }

  /// Specimens that no adapter carries tasks through: nothing could run or explore them.
  ///
  /// A specimen is a file of the room `Specimens` whose head names a defect. It may be carried by way of another.
  static func withoutAdapter(among files: [SourceFile]) -> [Finding] {
    let adapters = files.filter { $0.room == "Mechanisms" && $0.folders == ["Specimens"] }
    let specimens = files.filter { $0.room == "Specimens" && $0.lines.contains(where: isDefect) }
    var carried: Set<String> = []
    var users = adapters
    while true {
      let found = specimens.filter { specimen in
        !carried.contains(specimen.name) && users.contains { mentions(specimen.name, in: $0) }
      }
      if found.isEmpty { break }
      carried.formUnion(found.map(\.name))
      users = found
    }
    return specimens.filter { !carried.contains($0.name) }.map { specimen in
      Finding(
        path: specimen.path,
        line: nil,
        message: "no adapter carries tasks through it; add "
          + "Sources/Mechanisms/Specimens/\(specimen.name)Mechanism.swift"
      )
    }
  }

  private static func isDefect(_ line: String) -> Bool {
    line.hasPrefix("//") && line.contains("DEFECT:")
  }

  private static func mentions(_ type: String, in file: SourceFile) -> Bool {
    file.lines.contains { line in
      !line.trimmingPrefix(while: { $0 == " " }).hasPrefix("//")
        && line.split(whereSeparator: { !$0.isLetter && !$0.isNumber }).contains { $0 == type }
    }
  }

  /// The lines of one of the catalogue's lists, without indentation.
  private static func lines(of list: String, in catalogue: SourceFile) -> [String] {
    let body = catalogue.lines.drop { !$0.contains("static let \(list):") }.dropFirst()
    return body.prefix { !$0.hasPrefix("  ]") }.map {
      String($0.trimmingPrefix(while: { $0 == " " }))
    }
  }
}
