import Synchronization
import TestSupport
import Testing

@testable import LessonBook

@Suite(.watched) struct ClaimTests {
  /// A lab whose run takes as long as the next of these, and then begins again.
  private final class Lab: LessonLab, LabConversation {
    private let makespans: [Int64]
    private let runs = Mutex<[String]>([])

    init(_ makespans: Int64...) { self.makespans = makespans }

    var commands: [String] { runs.withLock { $0 } }

    func begin() async -> any LabConversation { self }

    func run(_ command: String) async -> LabAnswer {
      let place = runs.withLock { runs in
        runs.append(command)
        return runs.count - 1
      }
      let run = MetricTable([
        "clock": .word(command.contains("virtual") ? "virtual" : "real"),
        "makespan": .duration(makespans[place % makespans.count] * 1_000_000),
        "peak_running": .count(2), "mechanism": .word("limiter"),
      ])
      return LabAnswer(output: [], evidence: [run])
    }

    func grade(_ exercise: Exercise, code: [String]) async -> any MetricSource { MetricTable([:]) }
  }

  private static let real = SampleLesson.text
    .replacing("1 minute, virtual time", with: "1 minute, wall clock")
    .replacing("```console", with: "<!-- real: makespan < 25ms -->\n```console")
    .replacing(
      "Two rounds of 10 ms.",
      with: """
        Two rounds of 10 ms.
        <!-- claim: for peak_running = 2: makespan < 22ms; peak_running = 2 -->
        So it is with a pool.
        <!-- claim: run 4 pool shows makespan > 10ms -->
        """
    )

  private func lesson(_ text: String = real) throws -> Lesson {
    let (lesson, problems) = SampleLesson.parse(text)
    try #require(problems.map(\.description) == [])
    return try #require(lesson)
  }

  // MARK: Reading

  @Test func `a claim is read with its commands, and shown to nobody`() throws {
    let claims = try lesson().sections[0].explanation.compactMap { block -> Claim? in
      if case .claim(let claim) = block.content { claim } else { nil }
    }
    #expect(claims.map(\.commands) == [[], ["run 4 pool"]])
    #expect(claims.map(\.checks.count) == [2, 1])
    var visit = LessonVisit(try lesson())
    _ = (visit.solution(), visit.solution())
    #expect(!LessonText(width: 80).text(visit.opening() + visit.solution()).contains("makespan <"))
  }

  @Test(arguments: [
    "", "soon", "run 4 pool shows", "for limit 3: makespan < 1s", "makespan < soon!",
  ])
  func `a claim that cannot be judged is refused`(_ text: String) {
    let problems = SampleLesson.parse(
      SampleLesson.text.replacing(
        "Two rounds of 10 ms.",
        with: "Two rounds of 10 ms.\n<!-- claim: \(text) -->"
      )
    ).problems
    #expect(problems.count == 1, "\(problems)")
  }

  @Test func `a claim without a sentence before it is refused`() {
    let problems = SampleLesson.parse(
      SampleLesson.text.replacing(
        "## The code\n",
        with: "## The code\n\n<!-- claim: makespan < 1s -->\n"
      )
    ).problems
    #expect(problems.map(\.message).first?.contains("a claim without a sentence") == true)
  }

  // MARK: Judging

  private func findings(_ lab: Lab, _ text: String = real) async throws -> [ClaimFinding] {
    let lesson = try lesson(text)
    var findings: [ClaimFinding] = []
    for part in lesson.partsWithClaims {
      findings += await Rehearsal(in: lab).findings(in: lesson, part: part)
    }
    return findings
  }

  @Test func `every claim of a lesson is found, each with what there was`() async throws {
    let lab = Lab(20)
    let findings = try await findings(lab)
    #expect(
      findings.map(\.claim) == [
        "makespan < 25ms", "for peak_running = 2: makespan < 22ms", "peak_running = 2",
        "makespan > 10ms", "makespan = 20ms", "for mechanism = limiter: peak_running = 2",
      ]
    )
    #expect(!findings.contains { !$0.isHeld })
    #expect(findings[0].value == .duration(20_000_000))
    #expect(lab.commands.contains("run 4 pool"))
  }

  @Test func `what runs in virtual time is no claim about the wall clock`() async throws {
    let virtual = try await findings(Lab(20), SampleLesson.text)
    #expect(virtual == [])
    let mixed = Self.real.replacing("```lab\nrun 4", with: "```lab\nvirtual 4")
    let findings = try await findings(Lab(20), mixed)
    #expect(findings.count == 4)
  }

  @Test func `a claim is judged by the newest run, not by the best`() async throws {
    let findings = try await findings(Lab(20, 30))
    #expect(findings.prefix(2).map(\.isHeld) == [false, false])
  }

  @Test func `a claim that no run is about does not hold`() async throws {
    let text = Self.real.replacing(
      "for peak_running = 2: makespan",
      with: "for peak_running = 7: makespan"
    )
    let finding = try await findings(Lab(20), text)[1]
    #expect(!finding.isHeld && finding.value == nil)
  }

  // MARK: Counting

  private func tally(_ held: Int, of runs: Int) -> ClaimTally? {
    let findings = (0..<runs).map { run in
      ClaimFinding(
        file: "01-a-gate.md",
        line: 7,
        claim: "makespan < 25ms",
        isHeld: run < held,
        value: .duration(Int64(run + 1) * 1_000_000)
      )
    }
    return ClaimTally.of(findings).first
  }

  @Test func `nineteen of twenty are enough, and eighteen are not`() throws {
    #expect(tally(20, of: 20)?.holds == true)
    #expect(tally(19, of: 20)?.holds == true)
    #expect(tally(18, of: 20)?.holds == false)
    #expect(tally(0, of: 1)?.holds == false)
  }

  @Test func `a tally says how often, where, what, and the median and range of what there was`() {
    #expect(
      tally(18, of: 20)?.description
        == "✗ 18 of 20  01-a-gate.md:7  makespan < 25ms · median 11 ms, 1 ms to 20 ms"
    )
    let words = [MetricValue.word("no"), .word("no"), .word("yes"), nil].map { value in
      ClaimFinding(
        file: "a",
        line: 1,
        claim: "event = no",
        isHeld: value == .word("no"),
        value: value
      )
    }
    #expect(
      ClaimTally.of(words).first?.description
        == "✗ 2 of 4  a:1  event = no · no 2 times, yes 1 times, nothing to judge 1 times"
    )
  }
}
