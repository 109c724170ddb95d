import Foundation
import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct LessonLintTests {
  /// A package with one complete lesson, in a folder gone afterwards.
  private final class Package {
    let root = NSTemporaryDirectory() + "lint-" + UUID().uuidString

    init(lesson: String = Package.lesson, readMe: String = "[A gate](01-a-gate.md)\n") throws {
      try write("Lessons/01-a-gate.md", lesson)
      try write("Lessons/README.md", readMe)
      try write("Lessons/GLOSSARY.md", "# Glossary\n\n## Permit\n\nLets one in.\n")
      try write("Sources/Gate.swift", Self.source)
      try write("Results/README.md", "A pass costs 71 ns.\n")
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ path: String, _ text: String) throws {
      let whole = root + "/" + path
      try FileManager.default.createDirectory(
        atPath: (whole as NSString).deletingLastPathComponent,
        withIntermediateDirectories: true
      )
      try text.write(toFile: whole, atomically: true, encoding: .utf8)
    }

    func problems() throws -> [String] {
      let course = try Course(folder: root + "/Lessons")
      let lint = LessonLint(course, root: root) { command in
        ["run", "why"].contains { command.hasPrefix($0 + " ") } ? nil : "no such command"
      }
      return lint.problems().map(\.description)
    }

    static let source = """
      actor Gate {
        var permits = 2

        func enter() {
          permits -= 1
          print("in")
        }
      }
      """

    /// The sample, made complete, with short near misses for the exercise.
    static let lesson = SampleLesson.text
      .replacing(
        "## Exercise",
        with: """
          ## Change it
          <!-- step: change -->

          A pass costs 71 ns.
          <!-- figure: 71 ns in Results/README.md -->

          **Check:**

          - `makespan = 40ms`: one at a time

          <!-- fails: run 1 -->
          <!-- fails: run 2 -->
          <!-- fails: run 3 -->

          <details><summary>Hint 1</summary>One</details>
          <details><summary>Hint 2</summary>Two</details>
          <details><summary>Hint 3</summary>Three</details>
          <details><summary>Solution</summary>

          ```lab
          run 4 limiter limit=1
          ```

          </details>

          ## Exercise
          """
      )
      .replacing(
        "<details><summary>Near miss: no lock</summary>",
        with: """
          <details><summary>Near miss: a</summary>

          ```swift
          struct A {}
          ```

          </details>
          <details><summary>Near miss: b</summary>

          ```swift
          struct B {}
          ```

          </details>
          <details><summary>Near miss: no lock</summary>
          """
      )
  }

  @Test func `an answer that the learner chooses is found`() throws {
    let found = try Package(
      lesson: Package.lesson.replacing(
        "<!-- answer: makespan -->",
        with: "<!-- answer: for makespan <= 20ms: limit -->"
      )
    ).problems()
    #expect(found.count == 1)
    #expect(found.first?.contains("the answer is 'limit', which the learner chooses") == true)
  }

  @Test func `a lesson of the wall clock says so at its head`() throws {
    let claim = Package.lesson.replacing(
      "Two rounds of 10 ms.",
      with: "Two rounds of 10 ms.\n<!-- claim: run 4 limiter shows makespan < 1s -->"
    )
    #expect(try Package(lesson: claim).problems().first?.contains("does not say so") == true)
    let said = claim.replacing("1 minute, virtual time", with: "1 minute, wall clock")
    #expect(try Package(lesson: said).problems() == [])
    let unknown = said.replacing("run 4 limiter shows", with: "walk 4 shows")
    #expect(try Package(lesson: unknown).problems().first?.contains("no such command") == true)
  }

  @Test func `a complete lesson has no problem`() throws {
    #expect(try Package().problems() == [])
  }

  @Test(arguments: [
    ("permits -= 1", "permits -= 2", "from 'permits -= 2' on; copy it anew"),
    ("Sources/Gate.swift", "Sources/Door.swift", "there is no file 'Sources/Door.swift' to quote"),
    ("71 ns in", "72 ns in", "'72 ns' is not in Results/README.md"),
    ("71 ns.", "72 ns.", "'72 ns' is a measured figure; say where it is from"),
    ("71 ns in Results/README.md", "71 ns in Results/x.csv", "there is no file 'Results/x.csv'"),
    ("lab> why t4", "lab> wyh t4", "'wyh t4': no such command"),
    ("fails: run 1", "fails: rnu 1", "'rnu 1': no such command"),
    ("run 4 limiter limit=1", "rnu 4", "'rnu 4': no such command"),
    ("<!-- fails: run 1 -->\n", "", "2 runs that must not pass; name three near misses"),
    ("<details><summary>Hint 1</summary>One</details>\n", "", "2 hints; give three"),
    ("<!-- step: change -->", "", "a step without an id"),
    ("<!-- step: change -->", "<!-- step: own-gate -->", "has the id 'own-gate' too"),
    ("## The code", "## Code", "no section '## The code'"),
    ("**Predict** (duration): When does", "When does", "no prediction; ask one"),
    ("GLOSSARY.md#permit", "GLOSSARY.md#permits", "'#permits', but no heading of that name"),
    ("GLOSSARY.md#permit", "Glossary.md", "leads to 'Glossary.md', which is not there"),
    ("- A book", "- [A book](http://example.com)", "is not a secure address"),
    ("- A book", "- [A book](https://example)", "is not an address"),
    ("```console", "```text", "shows no run; add a ```console block"),
    ("<!-- quote: Sources/Gate.swift -->\n", "", "quotes no code"),
    ("struct Gate { let lock = 1 }", "", "the exercise has no solution"),
  ])
  func `a flaw is found, with file, line and remedy`(
    _ part: String,
    replacement: String,
    message: String
  ) throws {
    var text = Package.lesson.replacing(part, with: replacement)
    if replacement.isEmpty, part.hasPrefix("struct") {
      text = text.replacing("```swift\n\n```", with: "")
    }
    #expect(text != Package.lesson)
    let problems = try Package(lesson: text).problems()
    #expect(
      problems.contains { $0.hasPrefix("01-a-gate.md:") && $0.contains(message) },
      "\(problems)"
    )
  }

  @Test func `a lesson the map does not lead to is found`() throws {
    let problems = try Package(readMe: "Nothing.\n").problems()
    #expect(
      problems == ["README.md:1: does not lead to lesson 1; add [A gate](01-a-gate.md)"]
    )
  }

  @Test func `a gap in the numbering is found`() throws {
    let package = try Package(readMe: "[A gate](01-a-gate.md) [Other](03-other.md)\n")
    try package.write(
      "Lessons/03-other.md",
      Package.lesson.replacing("Lesson 1:", with: "Lesson 3:")
    )
    let problems = try package.problems()
    #expect(problems.count == 1)
    #expect(problems.first?.contains("lesson 3 is number 2 of the course") == true)
  }

  @Test func `a quote may leave lines out and be indented otherwise, no more`() {
    let original = ["a {", "  b", "  c {", "    d", "  }", "}"]
    func deviation(_ quote: String...) -> String? { LessonLint.firstDeviation(quote, in: original) }
    #expect(deviation("a {", "  b") == nil)
    #expect(deviation("c {", "  d", "}") == nil)
    #expect(deviation("a {", "// …", "}") == nil)
    #expect(deviation("b", "// …", "  d") == nil)
    #expect(deviation("c {", "d", "}") == "d")
    #expect(deviation("d", "// …", "b") == "b")
    #expect(deviation("b", "d") == "d")
    #expect(deviation("e") == "e")
  }

  @Test func `links are found, but not in code`() {
    #expect(LessonLint.targets(in: "[a](b.md) and [`c`](d.md#e)") == ["b.md", "d.md#e"])
    #expect(LessonLint.targets(in: "`[a](b.md)`") == [])
  }

  @Test func `a folder without lessons is refused by name`() throws {
    let error = #expect(throws: CourseError.self) { try Course(folder: "/nowhere") }
    #expect(error?.description == "there is no folder '/nowhere' to read lessons from")
    let package = try Package()
    _ = withExtendedLifetime(package) { package in
      #expect(throws: CourseError.self) { try Course(folder: package.root + "/Sources") }
    }
  }

  @Test func `a lesson is found by number, slug or title`() throws {
    let package = try Package()
    let course = try withExtendedLifetime(package) { try Course(folder: $0.root + "/Lessons") }
    for name in ["1", "01", "a-gate", "a-g", "A gate", "a g"] {
      #expect(course.lesson(name)?.slug == "a-gate", "\(name)")
    }
    #expect(course.lesson("2") == nil)
    #expect(course.lesson("gate") == nil)
  }
}
