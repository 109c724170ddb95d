import TestSupport
import Testing

@Suite(.watched) struct `The sources` {
  @Test func `prove every way round the compiler's checks`() throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift"])
    for file in files {
      for finding in SourceChecks.unprovenEscapes(in: file) { Issue.record("\(finding)") }
    }
  }

  @Test func `leave no note of work not done`() throws {
    var files = try SourceTree.files(in: "Sources", withExtensions: ["swift", "c", "h"])
    files += try SourceTree.files(in: "Tests", withExtensions: ["swift"])
    files.append(try SourceTree.file("Package.swift"))
    for file in files {
      for finding in SourceChecks.leftovers(in: file) { Issue.record("\(finding)") }
    }
  }

  @Test func `stand in rooms that the table of import directions knows`() throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift", "modulemap", "c"])
    let rooms = Set(files.map(\.room))
    #expect(rooms.subtracting(ImportDirections.house.table.keys) == [])
  }

  // A preference that is nil costs as much as one that is not: what is shipped and what is measured must not
  // pay for it.
  @Test func `start tasks on an executor that may be nil in two places`() throws {
    let files = try ["Sources/Limiters", "Sources/Benchmarking"].flatMap {
      try SourceTree.files(in: $0, withExtensions: ["swift"])
    }
    let places = files.filter { $0.text.contains("executorPreference:") }.map(\.path)
    #expect(
      places == [
        "Sources/Limiters/DetachedTask.swift",
        "Sources/Benchmarking/Measure/Loops/StartVisit.swift",
      ]
    )
  }

  // What is read in one program must be found, and can be typed, in the other.
  @Test func `write figures in one family: us and commas, and read µs in one place`() throws {
    let files = try SourceTree.files(in: "Sources", withExtensions: ["swift", "js"])
    let others = files.filter { $0.text.contains("µs") || $0.text.contains("\\u{202F}") }
    #expect(others.map(\.path) == ["Sources/Basics/UnitSyntax.swift"])
  }

  // MARK: - The checkers, checked

  private static func escapes(_ text: String) -> [Int?] {
    SourceChecks.unprovenEscapes(in: SourceFile(path: "Sources/A/B.swift", text: text)).map(\.line)
  }

  @Test func `with an unproven escape are found out`() {
    #expect(Self.escapes("final class Box: @unchecked Sendable {\n  var value = 0\n}") == [1])
    #expect(Self.escapes("nonisolated(unsafe) var count = 0") == [1])
    #expect(Self.escapes("await withUnsafeContinuation { park($0) }") == [1])
  }

  @Test func `with a comment about something else are found out`() {
    #expect(Self.escapes("/// A box.\nfinal class Box: @unchecked Sendable {}") == [2])
    #expect(
      Self.escapes("/// Under the lock.\nlet lock = 1\n\nnonisolated(unsafe) var count = 0") == [4]
    )
  }

  @Test func `with a proof above, above the declaration or first in the braces pass`() {
    #expect(
      Self.escapes("/// Safe: under its lock.\nfinal class Box: @unchecked Sendable {}").isEmpty
    )
    #expect(
      Self.escapes(
        """
        /// Safe: `value` is only touched under the lock.
        final class Box:
          Base,
          @unchecked Sendable
        {
        """
      ).isEmpty
    )
    #expect(
      Self.escapes(
        """
        await withUnsafeContinuation { continuation in
          // Resumed exactly once.
          park(continuation)
        }
        """
      ).isEmpty
    )
  }

  @Test func `that only speak of an escape pass`() {
    #expect(Self.escapes("// Not @unchecked Sendable, on purpose").isEmpty)
  }

  @Test func `with a note of work not done are found out`() {
    let mark = "TO" + "DO"
    let file = SourceFile(
      path: "Sources/A/B.swift",
      text: "let a = 1\n// \(mark): more\nlet \(mark)s = 2"
    )
    let findings = SourceChecks.leftovers(in: file)
    #expect(findings.map(\.line) == [2])
    #expect(findings.first?.message.contains(mark) == true)
  }
}

@Suite(.watched) struct `The top level` {
  /// What stands there, beside files whose name begins with a dot.
  private static let agreed: Set = [
    "Package.swift", "Sources", "Tests", "Lessons", "Results", "README.md",
  ]
  /// What the package manager writes and version control leaves out.
  private static let ignored: Set = ["Package.resolved"]

  private static func strangers(among names: [String]) -> [String] {
    names.filter { !$0.hasPrefix(".") && !agreed.contains($0) && !ignored.contains($0) }
  }

  @Test
  func `holds what was agreed and nothing else, Results being there once something was measured`()
    throws
  {
    let names = try SourceTree.topLevel()
    #expect(Self.strangers(among: names) == [])
    #expect(Set(names).isSuperset(of: Self.agreed.subtracting(["Results"])))
  }

  @Test func `shows a stranger`() {
    #expect(
      Self.strangers(among: [".git", "Package.swift", "Package.resolved", "notes.txt"]) == [
        "notes.txt"
      ]
    )
  }
}
