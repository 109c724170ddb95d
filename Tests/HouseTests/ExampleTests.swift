import TestSupport
import Testing

@Suite(.watched) struct `The examples in the documentation of Limiters` {
  /// The examples of a file, each as its lines without their indentation.
  private static func examples(in file: SourceFile) -> [[String]] {
    var found: [[String]] = []
    var current: [String]?
    for line in file.lines {
      var text = line.drop { $0 == " " }
      if file.path.hasSuffix(".swift") {
        guard text.hasPrefix("///") else { continue }
        text = text.dropFirst(3).drop { $0 == " " }
      }
      if text == "```swift" {
        current = []
      } else if text == "```", let example = current {
        found.append(example)
        current = nil
      } else {
        current?.append(String(text))
      }
    }
    return found
  }

  @Test func `are run by a test, word for word`() throws {
    let tests = try SourceTree.files(in: "Tests/LimitersTests", withExtensions: ["swift"])
    let run = try #require(tests.first { $0.path.hasSuffix("/ExampleTests.swift") })
    let lines = run.lines.map { String($0.drop { $0 == " " }) }
    let files = try SourceTree.files(in: "Sources/Limiters", withExtensions: ["swift", "md"])
    #expect(files.contains { $0.path.hasSuffix("/Limiters.md") })
    var count = 0
    for file in files {
      for example in Self.examples(in: file) {
        count += 1
        let isRun = lines.indices.contains { lines[$0...].starts(with: example) }
        #expect(isRun, "\(file.path): no test runs \(example.joined(separator: " ⏎ "))")
      }
    }
    #expect(count > 30, "examples are found")
  }

  @Test func `stand at each operation`() throws {
    /// What the language asks for, and is called by it.
    let conformances = [
      "func ==", "func ===", "func !==", "func hash(", "func makeAsyncIterator(", "next(isolation",
    ]
    var count = 0
    for file in try SourceTree.files(in: "Sources/Limiters", withExtensions: ["swift"]) {
      let lines = file.lines.map { String($0.drop { $0 == " " }) }
      for (index, line) in lines.enumerated()
      where line.hasPrefix("public ") && line.contains(" func ") {
        if conformances.contains(where: line.contains) { continue }
        let documentation = lines[..<index].reversed().prefix {
          $0.hasPrefix("///") || $0.hasPrefix("@") || $0.hasPrefix("#")
        }
        count += 1
        #expect(documentation.contains("/// ```swift"), "\(file.path): \(line)")
      }
    }
    #expect(count > 50, "operations are found: \(count)")
  }

  @Test func `of a limiter in thirty lines is explored, word for word`() throws {
    let files = try SourceTree.files(in: "Sources/Limiters", withExtensions: ["md"])
    let page = try #require(files.first { $0.path.hasSuffix("/ALimiterInThirtyLines.md") })
    let example = try #require(Self.examples(in: page).first)
    #expect((25...35).contains(example.count { !$0.isEmpty }), "\(example.count)")
    let tests = try SourceTree.files(in: "Tests/ExplorableLimitersTests", withExtensions: ["swift"])
    let explored = try #require(tests.first { $0.path.hasSuffix("/SmallLimiter.swift") })
    let lines = explored.lines.map { String($0.drop { $0 == " " }) }
    #expect(lines.indices.contains { lines[$0...].starts(with: example) })
  }
}
