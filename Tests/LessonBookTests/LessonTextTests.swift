import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct LessonTextTests {
  @Test func `a section as a learner sees it`() throws {
    let lesson = try #require(SampleLesson.parse().lesson)
    let text = LessonText(width: 60).text(LessonVisit(lesson).opening())
    #expect(
      text == """

        Lesson 1: A gate

        How long do four tasks take through a gate of two?

        1 minute, virtual time

        A permit lets one task in. See the glossary.

        Experiment: four through two (1 of 4)

        Four tasks of 10 ms, two permits.

            run 4 limiter limit=2
            why t4

        When does the last one end?
        Your guess: a duration, such as 15ms, or Enter to skip.

        """
    )
  }

  @Test func `emphasis is without its signs, and code keeps its own`() {
    let text = LessonText(width: 60)
    #expect(
      text.plain("a *permit*, *so called*, **must** be `a * b * c`")
        == "a permit, so called, must be `a * b * c`"
    )
    #expect(text.plain("3 * 4 * 5, 2*") == "3 * 4 * 5, 2*")
    #expect(text.text([.met("the *same*")]) == "✓ the same\n")
    #expect(text.text([.question("Is it *so*?", form: "yes")]).contains("\nIs it so?\n"))
  }

  @Test func `a link has its address, unless one comes there by a number or a word`() {
    let text = LessonText(width: 80)
    #expect(
      text.plain(
        "[thirty lines](../Sources/Limiters/Thirty.md), [Gate.swift](../Sources/Gate.swift)."
      )
        == "thirty lines (Sources/Limiters/Thirty.md), Sources/Gate.swift."
    )
    #expect(text.plain("[On Monday](MONDAY.md)") == "On Monday (Lessons/MONDAY.md)")
    #expect(text.plain("[a book](https://example.com)") == "a book (https://example.com)")
    #expect(
      text.plain("[lesson 9](09-nine.md), [hand-off](GLOSSARY.md#hand-off), [waiting](#waiting)")
        == "lesson 9, hand-off, waiting"
    )
  }

  @Test func `a path that does not fit beside its sentence has a line of its own, unbroken`() {
    let path = "/home/somebody/My Projects/exercises/MyDoor.swift"
    let passages = [Passage.file("Your file:", path: path)]
    #expect(LessonText(width: 60).text(passages) == "\nYour file: \(path)\n")
    #expect(LessonText(width: 59).text(passages) == "\nYour file:\n\(path)\n")
    #expect(LessonText(width: 30).text(passages) == "\nYour file:\n\(path)\n")
  }

  @Test func `code that does not fit goes on below, and a comment as a comment`() {
    let lines = [
      "func f() {", "  // Holds the thread this task runs on",
      "  wait()  // until somebody signals it",
      "  /// A doc comment is one again", "  let sum = first + second + third + fourth", "}",
    ]
    let blocks = [LessonBlock(.code("swift", lines), line: 1)]
    #expect(
      LessonText(width: 30).text([.text(blocks)]) == """

            func f() {
              // Holds the thread this
              // task runs on
              // until somebody
              // signals it
              wait()
              /// A doc comment is one
              /// again
              let sum = first + second
                  + third + fourth
            }

        """
    )
  }

  @Test func `nothing is wider than the screen but code`() throws {
    let lesson = try #require(SampleLesson.parse().lesson)
    for width in [12, 20, 40, 80] {
      let text = LessonText(width: width).text(LessonVisit(lesson).opening())
      for line in text.split(separator: "\n") where !line.hasPrefix("    ") {
        let longestWord = line.split(separator: " ").map(\.count).max() ?? 0
        #expect(line.count <= max(width, longestWord), "\(line)")
      }
    }
  }

  @Test func `checks are marked by signs, not by colour alone`() {
    let passages = [Passage.met("it holds"), .missed("it does not", because: "3, not 4")]
    #expect(LessonText(width: 60).text(passages) == "✓ it holds\n✗ it does not\n    3, not 4\n")
    #expect(
      LessonText(width: 60, ascii: true).text(passages)
        == "ok  it holds\nno  it does not\n    3, not 4\n"
    )
    #expect(LessonText(width: 60, colour: true).text(passages).contains("\u{1B}[32m✓ it holds"))
  }

  @Test func `plain text is ASCII where only ASCII can be shown`() {
    let text = LessonText(width: 60, ascii: true).plain("**L = λW** – “so” ≥ 3… [a](01-b.md) é")
    #expect(text == "L = lambdaW - \"so\" >= 3... a ?")
  }

  @Test func `a table has columns where they fit and lines where not`() {
    let table = [
      LessonBlock(.text(.table(["| a | bb |", "| --- | --- |", "| ccc | d |"])), line: 1)
    ]
    #expect(LessonText(width: 40).text([.text(table)]) == "\na    bb\nccc  d\n")
    #expect(LessonText(width: 6).text([.text(table)]) == "\na\nbb\n\nccc\nd\n")
  }
}
