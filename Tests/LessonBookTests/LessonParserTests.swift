import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct LessonParserTests {
  private static func line(of start: String) -> Int {
    let lines = SampleLesson.text.split(separator: "\n", omittingEmptySubsequences: false)
    return 1 + (lines.firstIndex { $0.hasPrefix(start) } ?? -1)
  }

  @Test func `a lesson is read from plain Markdown`() throws {
    let (parsed, problems) = SampleLesson.parse()
    #expect(problems.isEmpty, "\(problems)")
    let lesson = try #require(parsed)
    #expect(lesson.number == 1)
    #expect(lesson.slug == "a-gate")
    #expect(lesson.title == "A gate")
    #expect(lesson.question == "How long do four tasks take through a gate of two?")
    #expect(lesson.time == "1 minute, virtual time")
    #expect(lesson.introduction.count == 1)
    #expect(
      lesson.sections.map(\.id) == [
        "four-through-two", "the-code", "own-gate", "where-to-read-more",
      ]
    )
    #expect(lesson.steps.map(\.id) == ["four-through-two", "own-gate"])
  }

  @Test func `a step has its prediction, checks, near misses, hints and solution`() throws {
    let step = try #require(SampleLesson.parse().lesson).sections[0]
    #expect(step.title == "Experiment: four through two")
    #expect(step.prediction?.question == "When does the last one end?")
    #expect(step.prediction?.form == .duration)
    #expect(step.checks.map(\.expectation.text) == ["makespan = 20ms", "peak_running = 2"])
    #expect(step.checks[1].conditions.map(\.text) == ["mechanism = limiter"])
    #expect(step.checks[1].sentence == "never more than two at once")
    #expect(step.nearMisses.map(\.commands.count) == [1, 1, 2])
    #expect(step.hints.count == 3)
    #expect(step.solution.commands.map(\.commands) == [["run 4 limiter limit=2"]])
    #expect(
      step.explanation == [.paragraph("Two rounds of 10 ms.", line: Self.line(of: "Two rounds of"))]
    )
  }

  @Test func `a transcript is commands and what they printed`() throws {
    let transcript = try #require(SampleLesson.parse().lesson?.transcripts.first)
    #expect(
      transcript.exchanges == [
        Transcript.Exchange(command: "run 4 limiter limit=2", output: ["makespan 20 ms"]),
        Transcript.Exchange(command: "why t4", output: ["t4 waited 10 ms"]),
      ]
    )
    #expect(transcript.isExact)
    let lines = SampleLesson.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[transcript.line - 1] == "lab> run 4 limiter limit=2")
  }

  @Test func `an exercise has a start, a solution and near misses`() throws {
    let exercise = try #require(SampleLesson.parse().lesson?.sections[2].exercise)
    #expect(exercise.harness == "limiter")
    #expect(exercise.start == ["struct Gate {}"])
    #expect(exercise.solution == ["struct Gate { let lock = 1 }"])
    #expect(exercise.nearMisses.map(\.code) == [["struct Gate { var n = 1 }"]])
  }

  @Test func `a real transcript carries what it must show`() throws {
    let text = SampleLesson.text.replacing(
      "```console",
      with: "<!-- real: peak_running = 2; for limit = 2: makespan > 19ms -->\n```console"
    )
    let transcript = try #require(SampleLesson.parse(text).lesson?.transcripts.first)
    #expect(!transcript.isExact)
    #expect(
      transcript.predicates.map(\.expectation.text) == ["peak_running = 2", "makespan > 19ms"]
    )
  }

  @Test(arguments: [
    ("**Predict** (duration): When", "**Predict** When", "a prediction is written"),
    ("(duration)", "(guess)", "'guess' is no kind of answer"),
    ("<!-- answer: makespan -->", "<!-- answer: \"3 apples\" -->", "is not an answer to be given"),
    ("<!-- answer: makespan -->", "", "a prediction without an answer"),
    ("<!-- answer: makespan -->", "<!-- answer: Make Span -->", "is not the name of a figure"),
    ("- `makespan = 20ms`: four", "- makespan is 20 ms, four", "a check is written"),
    ("`makespan = 20ms`", "`makespan is 20ms`", "compares nothing"),
    ("<!-- step: four-through-two -->", "<!-- stpe: four -->", "no such comment as 'stpe:'"),
    ("**Question:** How", "How", "no question"),
    ("**Time:** 1 minute", "1 minute", "no time"),
    ("# Lesson 1: A gate", "# A gate", "the first line must be '# Lesson 1: '"),
    ("lab> run 4 limiter limit=2\nmakespan", "makespan", "a transcript begins with 'lab> '"),
    (
      "```swift\nfunc enter() {\n  permits -= 1\n  // …\n}\n```", "Nothing.",
      "a quote without code"
    ),
    ("\n</details>\n<details><summary>Solution", "\n<details><summary>Solution", "never closed"),
    ("<summary>Hint 1</summary>How", "How", "a fold starts with"),
  ])
  func `a mistake is a problem that says what would be right`(
    _ part: String,
    replacement: String,
    message: String
  ) {
    let text = SampleLesson.text.replacing(part, with: replacement, maxReplacements: 1)
    #expect(text != SampleLesson.text)
    let problems = SampleLesson.parse(text).problems
    #expect(problems.contains { $0.message.contains(message) }, "\(problems)")
  }

  @Test(arguments: ["lesson.md", "1-gate.md", "01.md", "01-.md", "01-Gate.md", "01-gate.txt"])
  func `a file whose name is not a lesson's is refused`(_ name: String) {
    let (lesson, problems) = SampleLesson.parse(file: name)
    #expect(lesson == nil)
    #expect(problems.map(\.message) == ["a lesson's file is named like 01-what-a-limit-is.md"])
  }

  @Test func `any prefix of a lesson is read without a crash`() {
    var text = SampleLesson.text
    while !text.isEmpty {
      _ = SampleLesson.parse(text)
      text.removeLast(min(7, text.count))
    }
  }

  @Test func `a problem names its line`() throws {
    let text = SampleLesson.text.replacing("`makespan = 20ms`", with: "`makespan`")
    let problem = try #require(SampleLesson.parse(text).problems.first)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[problem.line - 1].hasPrefix("- `makespan`:"))
    #expect(problem.description.hasPrefix("01-a-gate.md:\(problem.line): 'makespan' compares"))
  }
}
