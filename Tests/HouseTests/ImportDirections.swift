// Which room may look into which.
//
// Imports run one way, so that a room can be understood, tested and replaced with no more of the house
// in mind than stands on the right of its line. The table is the rule; the compiler cannot hold it,
// since a line in Package.swift is quickly added. To change the direction, change the table, in a commit
// of its own that says why.

/// The rule: for each room, the rooms it may import, and the packages of others.
struct ImportDirections {
  struct Room {
    /// Rooms of this package.
    var rooms: Set<String>
    /// Modules of other packages.
    var packages: Set<String> = []
    /// Modules of the toolchain and the system; nil for any.
    var system: Set<String>?
  }

  var table: [String: Room]

  static let house = ImportDirections(table: [
    // Others import it: it brings nothing along but the standard library.
    "Limiters": Room(rooms: [], system: ["Synchronization"]),
    // The files of `Limiters`, over other locks.
    "ExplorableLimiters": Room(rooms: ["ExplorableSynchronization"]),
    // Of `_Concurrency` what is no public interface yet: the executors of a process.
    "WorkStealing": Room(
      rooms: ["Basics"],
      system: ["Synchronization", "Glibc", "_Concurrency"]
    ),
    "CSQLite": Room(rooms: []),
    "RealWork": Room(
      rooms: ["Basics", "Limiters", "CSQLite"],
      packages: ["FlyingFox", "FlyingSocks"]
    ),
    "Basics": Room(rooms: []),
    "ExplorableSynchronization": Room(
      rooms: ["Basics", "CExplorable"],
      system: ["Synchronization"]
    ),
    "Exploration": Room(
      rooms: ["Basics", "CExplorable", "CExplorationOverlay", "ExplorableSynchronization"]
    ),
    "CExplorationOverlay": Room(rooms: []),
    // Tests of any package: no program may look into it, for it needs the test framework.
    "ExplorationTesting": Room(rooms: ["Basics", "CExplorable", "Exploration"]),
    "ExplorePlugin": Room(rooms: [], system: ["Foundation", "PackagePlugin"]),
    "LessonBook": Room(rooms: ["Basics"]),
    "CLibedit": Room(rooms: []),
    "CAllocations": Room(rooms: []),
    "CExplorable": Room(rooms: []),
    "CInterception": Room(rooms: ["CExplorable"]),
    "Specimens": Room(rooms: ["Basics", "ExplorableLimiters", "ExplorableSynchronization"]),
    "Mechanisms": Room(
      rooms: ["Basics", "Limiters", "Specimens"],
      packages: ["DequeModule"]
    ),
    "ExplorableMechanisms": Room(
      rooms: ["ExplorableLimiters", "Limiters", "Mechanisms"]
    ),
    "Experiments": Room(
      rooms: [
        "Limiters", "Specimens", "Mechanisms", "ExplorableMechanisms", "Exploration",
        "WorkStealing", "RealWork", "Basics",
      ],
      packages: ["DequeModule", "HeapModule", "Subprocess", "SystemPackage"]
    ),
    "Rendering": Room(
      rooms: ["Basics", "Exploration", "Experiments", "Mechanisms", "WorkStealing"]
    ),
    "Shell": Room(
      rooms: [
        "Experiments", "Exploration", "Rendering", "LessonBook", "Mechanisms", "Basics", "CLibedit",
      ]
    ),
    "Benchmarking": Room(
      rooms: [
        "Limiters", "Mechanisms", "Experiments", "Exploration", "ExplorableSynchronization",
        "RealWork", "WorkStealing", "Basics", "CAllocations",
      ],
      packages: ["ArgumentParser", "HeapModule", "Histogram"]
    ),
    "Grading": Room(
      rooms: [
        "Basics", "CAllocations", "Experiments", "Exploration", "ExplorableSynchronization",
        "LessonBook", "Rendering", "Mechanisms", "Limiters", "RealWork",
      ]
    ),
    "lab": Room(
      rooms: ["Experiments", "Shell", "Basics"],
      packages: ["ArgumentParser"]
    ),
    "bench": Room(rooms: ["Benchmarking"]),
  ])

  /// The imports of `files` that the table does not allow.
  func findings(in files: [SourceFile]) -> [Finding] {
    files.flatMap { file in
      guard let room = table[file.room] else {
        return [
          Finding(
            path: file.path,
            line: nil,
            message:
              "the room '\(file.room)' is not in the table of import directions; add it there"
          )
        ]
      }
      return file.lines.enumerated().compactMap { index, line -> Finding? in
        guard let module = Self.imported(by: line) else { return nil }
        guard let objection = objection(to: module, in: file.room, allowing: room) else {
          return nil
        }
        return Finding(path: file.path, line: index + 1, message: objection)
      }
    }
  }

  /// The dependencies that Package.swift declares and the table does not allow.
  func findings(inManifest manifest: SourceFile) -> [Finding] {
    Manifest(manifest).targets.filter { $0.kind != .tests }.flatMap { target in
      target.dependencies.compactMap { dependency in
        let room = table[target.name, default: Room(rooms: [])]
        guard !room.rooms.union(room.packages).contains(dependency.module) else { return nil }
        return Finding(
          path: manifest.path,
          line: dependency.line,
          message:
            "\(target.name) may not depend on \(dependency.module); \(allowed(for: target.name))"
        )
      }
    }
  }

  private func objection(to module: String, in name: String, allowing room: Room) -> String? {
    let packages = table.values.reduce(into: Set<String>()) { $0.formUnion($1.packages) }
    let isAllowed =
      if table[module] != nil {
        room.rooms.contains(module)
      } else if packages.contains(module) {
        room.packages.contains(module)
      } else {
        room.system?.contains(module) ?? true
      }
    return isAllowed ? nil : "\(name) may not import \(module); \(allowed(for: name))"
  }

  private func allowed(for name: String) -> String {
    guard let room = table[name] else { return "it is not in the table of import directions" }
    var parts = [
      room.rooms.isEmpty
        ? "it may import no other room" : "the rooms it may import are \(list(room.rooms))"
    ]
    if !room.packages.isEmpty { parts.append("of other packages, \(list(room.packages))") }
    if let system = room.system { parts.append("of the system's modules, only \(list(system))") }
    return parts.joined(separator: "; ")
  }

  private func list(_ names: Set<String>) -> String { names.sorted().joined(separator: ", ") }

  /// The module a line imports, if it is an import.
  ///
  /// Knows access levels and attributes (`package import`, `@testable import`, `@preconcurrency import`)
  /// and imports of single declarations (`import struct Foundation.URL`).
  static func imported(by line: String) -> String? {
    guard line.holds("import ") else { return nil }
    var words = line.split(separator: " ").map(String.init)
    let modifiers: Set = ["public", "package", "internal", "fileprivate", "private"]
    while let first = words.first, modifiers.contains(first) || first.hasPrefix("@") {
      words.removeFirst()
    }
    guard words.first == "import" else { return nil }
    words.removeFirst()
    let kinds: Set = ["typealias", "struct", "class", "enum", "protocol", "let", "var", "func"]
    if let first = words.first, kinds.contains(first) { words.removeFirst() }
    return words.first?.split(separator: ".").first.map(String.init)
  }
}
