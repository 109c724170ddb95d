// Declarations that nothing names a second time.

enum DeadCode {
  /// What protocols, the compiler or the argument parser call by name.
  private static let calledByOthers: Set = [
    "callAsFunction", "minimumResolution", "validate", "main", "checkIsolated",
    "isIsolatingCurrentContext",
    // FlyingFox's and Foundation's.
    "logDebug", "logInfo", "logWarning", "logError", "logCritical", "urlSession",
    "addEvents", "removeEvents", "getNotifications",
  ]

  /// The declarations in `sources` whose names stand nowhere else in them or in `users`.
  ///
  /// It compares words, not meanings: a dead method that shares its name with a live one is missed.
  /// Nothing alive is reported but what is declared `public` or `override`, and those are left out.
  static func findings(in sources: [SourceFile], usedBy users: [SourceFile]) -> [Finding] {
    var words: [Substring: Int] = [:]
    var declared: [(name: Substring, file: SourceFile, line: Int)] = []
    for file in sources + users {
      for line in file.lines where !line.trimmingPrefix(while: { $0 == " " }).hasPrefix("//") {
        for word in line.split(whereSeparator: { !$0.isLetter && !$0.isNumber && $0 != "_" }) {
          words[word, default: 0] += 1
        }
      }
    }
    for file in sources {
      for (index, line) in file.lines.enumerated() {
        guard let name = declaration(in: line),
          index == 0 || !file.lines[index - 1].hasPrefix("@main")
        else { continue }
        declared.append((name, file, index + 1))
      }
    }
    let declarations = Dictionary(grouping: declared, by: \.name)
    return declared.filter {
      words[$0.name, default: 0] <= declarations[$0.name, default: []].count
    }
    .map {
      Finding(
        path: $0.file.path,
        line: $0.line,
        message: "nothing uses \($0.name); remove it"
      )
    }
  }

  /// The name that a line declares, unless others may call it from where this test cannot see.
  private static func declaration(in line: String) -> Substring? {
    let modifiers: Set<Substring> = [
      "package", "internal", "fileprivate", "private", "static", "final", "mutating",
      "nonmutating", "nonisolated", "lazy", "weak", "indirect", "consuming", "borrowing",
      "private(set)", "package(set)", "nonisolated(nonsending)", "nonisolated(unsafe)",
    ]
    let kinds: Set<Substring> = [
      "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias",
    ]
    var words = line.split(separator: " ")[...]
    while let first = words.first, modifiers.contains(first) || first.hasPrefix("@") {
      words.removeFirst()
    }
    guard let kind = words.popFirst(), kinds.contains(kind), let rest = words.first else {
      return nil
    }
    let name = rest.trimmingPrefix("`").prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return name.isEmpty || name == "_" || calledByOthers.contains(String(name)) ? nil : name
  }
}
