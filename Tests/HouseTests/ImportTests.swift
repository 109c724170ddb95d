import TestSupport
import Testing

@Suite(.watched) struct `The imports of the house` {
  @Test func `run in one direction`() throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    try #require(files.count > 20)
    for finding in ImportDirections.house.findings(in: files) { Issue.record("\(finding)") }
  }

  @Test func `run in the same direction in the manifest`() throws {
    let manifest = try SourceTree.file("Package.swift")
    for finding in ImportDirections.house.findings(inManifest: manifest) {
      Issue.record("\(finding)")
    }
  }

  @Test func `are declared in the manifest only where there are any`() throws {
    let manifest = Manifest(try SourceTree.file("Package.swift"))
    try #require(manifest.targets.count > 30)
    var files = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    files += try SourceTree.files(in: "Tests", withExtensions: ["swift"])
    for finding in manifest.unused(amongst: files) { Issue.record("\(finding)") }
  }

  @Test func `have no circle in their table`() {
    var left = ImportDirections.house.table.mapValues(\.rooms)
    while let leaf = left.first(where: { $0.value.isEmpty })?.key {
      left[leaf] = nil
      for room in left.keys { left[room]?.remove(leaf) }
    }
    #expect(left.isEmpty, "these import each other: \(left.keys.sorted())")
  }

  // MARK: - The checker, checked

  private static func findings(_ path: String, _ text: String) -> [String] {
    ImportDirections.house.findings(in: [SourceFile(path: path, text: text)]).map(\.description)
  }

  @Test func `are found out when they run the wrong way, with the line and what is allowed`() {
    let findings = Self.findings(
      "Sources/LessonBook/Bad.swift",
      "// a comment\nimport Foundation\n\npackage import Mechanisms\n"
    )
    #expect(
      findings == [
        "Sources/LessonBook/Bad.swift:4: LessonBook may not import Mechanisms; "
          + "the rooms it may import are Basics"
      ]
    )
  }

  @Test func `are found out in the limiters whatever they are, but for Synchronization`() {
    let findings = Self.findings(
      "Sources/Limiters/Bad.swift",
      "internal import Synchronization\nimport struct Foundation.URL\n@testable import LessonBook"
    )
    #expect(findings.count == 2)
    #expect(findings.first?.hasPrefix("Sources/Limiters/Bad.swift:2: ") == true)
    #expect(findings.last?.hasPrefix("Sources/Limiters/Bad.swift:3: ") == true)
  }

  @Test func `are found out when they bring in a package that belongs to another room`() {
    #expect(Self.findings("Sources/Shell/Bad.swift", "import ArgumentParser").count == 1)
    #expect(Self.findings("Sources/lab/Good.swift", "import ArgumentParser").isEmpty)
  }

  @Test func `are found out when nobody said what a room may import`() {
    #expect(Self.findings("Sources/Attic/Bad.swift", "import Limiters").count == 1)
  }

  @Test func `are read with any modifier, and nothing else is taken for one`() {
    #expect(ImportDirections.imported(by: "import LessonBook") == "LessonBook")
    #expect(ImportDirections.imported(by: "package import LessonBook") == "LessonBook")
    #expect(
      ImportDirections.imported(by: "@preconcurrency internal import LessonBook") == "LessonBook"
    )
    #expect(ImportDirections.imported(by: "  import func Glibc.read") == "Glibc")
    #expect(ImportDirections.imported(by: "// import LessonBook") == nil)
    #expect(ImportDirections.imported(by: "let important = 1") == nil)
  }

  @Test func `are found out in the manifest, on one line or on several`() {
    let manifest = SourceFile(
      path: "Package.swift",
      text: """
        func room(_ name: String, _ dependencies: Target.Dependency...) -> Target {}
        room("Limiters", "LessonBook"),
        room("LessonBook"),
        room(
          "Shell",
          "Experiments",
          "RealWork"
        ),
        program("lab", "Shell", "Experiments", argumentParser),
        tests("ShellTests", "RealWork"),
        """
    )
    let findings = ImportDirections.house.findings(inManifest: manifest)
    #expect(findings.map(\.line) == [2, 7])
    #expect(findings.first?.message.contains("Limiters may not depend on LessonBook") == true)
    #expect(findings.last?.message.contains("Shell may not depend on RealWork") == true)
  }

  @Test func `are found missing when the manifest declares what no file imports`() {
    let manifest = SourceFile(
      path: "Package.swift",
      text: """
        let heap = external(
          "HeapModule", from: "swift-collections")
        room("LessonBook"),
        room(
          "Shell",  // imports neither "Limiters"
          "LessonBook",
          "RealWork",
          heap, resources: [.copy("page")]
        ),
        program("lab", "Shell"),
        .executableTarget(
          name: "echo", dependencies: []),
        tests("ShellTests", "Shell", "LessonBook", "lab", "echo"),
        """
    )
    let files = [
      SourceFile(path: "Sources/Shell/A.swift", text: "package import LessonBook"),
      SourceFile(path: "Sources/ShellToo/A.swift", text: "import RealWork\nimport HeapModule"),
      SourceFile(path: "Sources/lab/A.swift", text: "import Shell"),
      SourceFile(path: "Tests/ShellTests/A.swift", text: "@testable import Shell"),
    ]
    let findings = Manifest(manifest).unused(amongst: files)
    #expect(
      findings.map(\.description) == [
        "Package.swift:7: Shell imports RealWork nowhere; do not declare it",
        "Package.swift:8: Shell imports HeapModule nowhere; do not declare it",
        "Package.swift:13: ShellTests imports LessonBook nowhere; do not declare it",
      ]
    )
  }
}
