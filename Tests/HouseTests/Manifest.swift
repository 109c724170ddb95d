/// What Package.swift declares with its `room(…)`, `program(…)` and `tests(…)`.
struct Manifest {
  struct Target {
    enum Kind: String { case room, program, tests }
    var kind: Kind
    var name: String
    var dependencies: [Dependency]

    /// Where its files are.
    var folder: String { (kind == .tests ? "Tests/" : "Sources/") + name }
  }

  struct Dependency {
    /// The module: for a constant such as `heap`, the product that it stands for.
    var module: String
    var line: Int
  }

  var path: String
  var targets: [Target]
  /// What can be run, and so be depended on without being imported.
  var programs: Set<String>

  init(_ file: SourceFile) {
    path = file.path
    let text = file.lines.joined(separator: "\n")
    let products = Dictionary(
      text.matches(of: /let (\w+) = external\(\s*"([^"]+)"/)
        .map { (String($0.output.1), String($0.output.2)) },
      uniquingKeysWith: { first, _ in first }
    )
    targets = file.lines.indices.compactMap { start in
      let code = file.lines[start].trimmingPrefix { $0 == " " }
      guard let parenthesis = code.firstIndex(of: "("),
        let kind = Target.Kind(rawValue: String(code[..<parenthesis]))
      else { return nil }
      var arguments = Self.arguments(of: file.lines, from: start)[...]
      guard let name = arguments.popFirst()?.quoted else { return nil }
      let dependencies = arguments.compactMap { argument in
        (argument.quoted ?? products[argument.text]).map {
          Dependency(module: $0, line: argument.line)
        }
      }
      return Target(kind: kind, name: name, dependencies: dependencies)
    }
    let spelledOut = text.matches(of: /executableTarget\(\s*name: "([^"]+)"/)
    programs = Set(targets.filter { $0.kind == .program }.map(\.name))
      .union(spelledOut.map { String($0.output.1) })
  }

  /// The dependencies that no file of their target imports.
  func unused(amongst files: [SourceFile]) -> [Finding] {
    targets.flatMap { target -> [Finding] in
      // A room of a name with Explorable links to the files of the other room.
      let original = target.folder.replacing("/Explorable", with: "/")
      let imported = Set(
        files.filter { file in
          [target.folder, original].contains { file.path.hasPrefix($0 + "/") }
        }
        .flatMap { $0.lines.compactMap(ImportDirections.imported) }
      )
      return target.dependencies.compactMap { dependency -> Finding? in
        guard !imported.contains(dependency.module), !programs.contains(dependency.module)
        else { return nil }
        return Finding(
          path: path,
          line: dependency.line,
          message: "\(target.name) imports \(dependency.module) nowhere; do not declare it"
        )
      }
    }
  }

  private struct Argument {
    var text: String
    var line: Int
    var quoted: String? { text.wholeMatch(of: /"([^"]*)"/).map { String($0.output.1) } }
  }

  /// What stands between the first parenthesis of a line and the one that closes it, at its commas.
  private static func arguments(of lines: [String], from start: Int) -> [Argument] {
    var arguments: [Argument] = []
    var argument = Argument(text: "", line: start + 1)
    var depth = 0
    var isQuoted = false
    for index in start..<lines.count {
      let comment = lines[index].firstRange(of: "//")?.lowerBound ?? lines[index].endIndex
      for character in lines[index][..<comment] {
        if character == "\"" { isQuoted.toggle() }
        let opens = !isQuoted && "([{".contains(character)
        let closes = !isQuoted && ")]}".contains(character)
        if closes { depth -= 1 }
        if (closes && depth == 0) || (character == "," && depth == 1 && !isQuoted) {
          if !argument.text.isEmpty { arguments.append(argument) }
          argument = Argument(text: "", line: index + 1)
          if closes { return arguments }
        } else if depth > 0, isQuoted || character != " " {
          if argument.text.isEmpty { argument.line = index + 1 }
          argument.text.append(character)
        }
        if opens { depth += 1 }
      }
    }
    return arguments
  }
}
