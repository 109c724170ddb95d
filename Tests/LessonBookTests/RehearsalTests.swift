import Synchronization
import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct RehearsalTests {
  /// A lab that knows a few commands: limit and number of tasks make the makespan.
  private struct Lab: LessonLab {
    var makespanPerRound: Int64 = 10_000_000
    /// How many runs of the wall clock are slow, before the others are not; nil in virtual time.
    var slow: Slow?

    func begin() async -> any LabConversation { Conversation(lab: self) }
  }

  private final class Slow: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Whether the next run is.
    func isNext() -> Bool {
      left.withLock {
        $0 -= 1
        return $0 >= 0
      }
    }
  }

  private struct Conversation: LabConversation {
    let lab: Lab

    func run(_ command: String) async -> LabAnswer {
      if command == "why t4" { return LabAnswer(output: ["t4 waited 10 ms"], evidence: []) }
      let words = command.split(separator: " ")
      let limit = Int(command.last.map(String.init) ?? "") ?? 1
      let tasks = words.count > 1 ? Int(words[1]) ?? 0 : 0
      let rounds = (tasks + limit - 1) / limit
      let isSlow = lab.slow?.isNext() == true
      let makespan = Int64(rounds) * lab.makespanPerRound * (isSlow ? 2 : 1)
      let run = MetricTable([
        "mechanism": .word("limiter"), "makespan": .duration(makespan),
        "peak_running": .count(min(limit, tasks)),
        "clock": .word(lab.slow == nil ? "virtual" : "real"),
      ])
      return LabAnswer(output: ["makespan \(MetricValue.duration(makespan))"], evidence: [run])
    }

    func grade(_ exercise: Exercise, code: [String]) async -> any MetricSource {
      let text = code.joined()
      if text.contains("flaw") { return MetricTable(["builds": .word("no")]) }
      return MetricTable(["passed": .word(text.contains("lock") ? "yes" : "no")])
    }
  }

  private func problems(
    replacing part: String = "",
    with replacement: String = "",
    answer: String = "for makespan = 15ms..25ms: makespan",
    lab: Lab = Lab()
  ) async throws -> [String] {
    let text =
      part.isEmpty ? SampleLesson.text : SampleLesson.text.replacing(part, with: replacement)
    // The third near miss of the sample needs a lab that knows work=.
    let lesson = try #require(
      SampleLesson.parse(
        text.replacing("; run 2 limiter limit=1 work=1ms", with: "3")
          .replacing("<!-- answer: makespan -->", with: "<!-- answer: \(answer) -->")
      ).lesson
    )
    return await Rehearsal(in: lab).problems(of: lesson).map(\.description)
  }

  @Test func `a lesson that holds has no problem`() async throws {
    #expect(try await problems() == [])
  }

  @Test
  func `a transcript may leave lines out, and has the others in the order in which they come`() {
    func offset(_ recorded: [String], _ now: [String]) -> Int? {
      Rehearsal.difference(recorded, now, "run")?.offset
    }
    let now = ["first", "second", "third", "last"]
    #expect(offset(["first", "…", "last"], now) == nil)
    #expect(offset(["…", "third", "…"], now) == nil)
    #expect(offset(["first", "…"], ["first"]) == nil)
    #expect(offset(["first", "…", "second", "last"], now) == 3)
    #expect(offset(["first", "…", "fourth"], now) == 2)
    #expect(offset(["…", "third"], now) == 2)
    #expect(offset(["…", "third", "second"], now) == 2)
    #expect(offset(["first"], now) == 1)
    #expect(offset(["first", "second"], ["first"]) == 1)
  }

  @Test func `a transcript that differs is found at its line`() async throws {
    let found = try await problems(
      replacing: "lab> why t4\nt4 waited 10 ms",
      with: "lab> why t4\nx"
    )
    #expect(found.count == 1)
    #expect(
      found.first?.contains("'why t4' now prints 't4 waited 10 ms' where the lesson has 'x'")
        == true
    )
    let short = try await problems(replacing: "\nt4 waited 10 ms", with: "")
    #expect(short.first?.contains("where the lesson has nothing more") == true)
  }

  @Test func `a real transcript may differ as long as it shows what it says`() async throws {
    let real = "<!-- real: makespan = 15ms..25ms -->\n```console"
    #expect(
      try await problems(replacing: "makespan 20 ms", with: "makespan 21 ms").count == 1
    )
    let text = SampleLesson.text.replacing("makespan 20 ms", with: "makespan 21 ms")
      .replacing("```console", with: real)
    let lesson = try #require(SampleLesson.parse(text).lesson)
    let rehearsal = Rehearsal(in: Lab())
    #expect(await rehearsal.problems(of: lesson, parts: .transcripts) == [])
    let slow = Rehearsal(in: Lab(makespanPerRound: 13_000_000))
    let found = await slow.problems(of: lesson, parts: .transcripts)
    #expect(found.count == 1)
    #expect(found.first?.message.contains("makespan is 26 ms, expected from 15 ms") == true)
  }

  @Test(arguments: [(0, 0), (1, 0), (2, 0), (3, 1)])
  func `a transcript of the wall clock is a problem when it fails three times in a row`(
    slow: Int,
    problems: Int
  ) async throws {
    let text = SampleLesson.text.replacing(
      "```console",
      with: "<!-- real: makespan = 15ms..25ms -->\n```console"
    )
    let lesson = try #require(SampleLesson.parse(text).lesson)
    let rehearsal = Rehearsal(in: Lab(slow: Slow(slow)))
    #expect(await rehearsal.problems(of: lesson, parts: .transcripts).count == problems)
  }

  @Test(arguments: [(0, true), (1, true), (2, true), (3, false)])
  func `a solution on the wall clock is a problem when it fails three times in a row`(
    slow: Int,
    passes: Bool
  ) async throws {
    let lesson = try #require(SampleLesson.parse(SampleLesson.text).lesson)
    let found = await Rehearsal(in: Lab(slow: Slow(slow))).problems(of: lesson, parts: .steps)
    #expect(found.contains { $0.message.contains("the solution does not pass") } != passes)
  }

  @Test func `a solution that does not pass is found`() async throws {
    let found = try await problems(
      replacing: "```lab\nrun 4 limiter limit=2",
      with: "```lab\nrun 4 limiter limit=1"
    )
    #expect(found.count == 2)
    #expect(found.first?.contains("the solution does not pass makespan = 20ms") == true)
  }

  @Test func `a near miss that passes is found`() async throws {
    let found = try await problems(
      replacing: "<!-- fails: run 4 limiter limit=3 -->",
      with: "<!-- fails: run 3 limiter limit=2 -->"
    )
    #expect(found.count == 1)
    #expect(found.first?.contains("'run 3 limiter limit=2' passes the check, but must not") == true)
  }

  @Test func `a question that other commands answer otherwise is found`() async throws {
    let found = try await problems(answer: "makespan")
    #expect(found.count == 1)
    #expect(
      found.first?.contains(
        "is answered by 20 ms after the solution, and by 30 ms after these commands"
      )
        == true
    )
    let shown = try await problems(
      replacing: "lab> why t4\nt4 waited 10 ms",
      with: "lab> run 8 limiter limit=2\nmakespan 40 ms",
      answer: "for makespan >= 20ms and peak_running = 2: makespan"
    )
    #expect(shown.contains { $0.contains("by 40 ms after these commands") })
  }

  @Test func `an exercise whose start or near miss passes, or whose solution fails, is found`()
    async throws
  {
    let start = try await problems(replacing: "struct Gate {}", with: "struct Gate { lock }")
    #expect(start.first?.contains("'the starting file' passes the check") == true)
    let near = try await problems(replacing: "{ var n = 1 }", with: "{ var lock = 1 }")
    #expect(near.first?.contains("'Near miss: no lock' passes the check") == true)
    let unbuilt = try await problems(replacing: "{ var n = 1 }", with: "{ flaw }")
    #expect(unbuilt.first?.contains("'Near miss: no lock' does not build") == true)
    let solution = try await problems(replacing: "{ let lock = 1 }", with: "{ }")
    #expect(solution.first?.contains("the solution does not pass passed = yes") == true)
  }

  @Test func `recording renews what was printed and nothing else`() async throws {
    let stale = SampleLesson.text.replacing("makespan 20 ms", with: "makespan 99 ms\nand more")
    let lesson = try #require(SampleLesson.parse(stale).lesson)
    let rehearsal = Rehearsal(in: Lab())
    #expect(
      await rehearsal.record(lesson, text: stale, includingReal: false) == SampleLesson.text
    )
  }

  @Test func `recording leaves real transcripts alone unless asked, and fills empty ones`()
    async throws
  {
    let real = "<!-- real: makespan > 1ms -->\n```console"
    let stale = SampleLesson.text.replacing("makespan 20 ms", with: "makespan 99 ms")
      .replacing("```console", with: real)
    let lesson = try #require(SampleLesson.parse(stale).lesson)
    let rehearsal = Rehearsal(in: Lab())
    #expect(await rehearsal.record(lesson, text: stale, includingReal: false) == stale)
    let renewed = await rehearsal.record(lesson, text: stale, includingReal: true)
    #expect(renewed == SampleLesson.text.replacing("```console", with: real))
    let empty = renewed.replacing("makespan 20 ms\n", with: "").replacing(
      "t4 waited 10 ms\n",
      with: ""
    )
    let bare = try #require(SampleLesson.parse(empty).lesson)
    #expect(await rehearsal.record(bare, text: empty, includingReal: false) == renewed)
  }
}
