import Exploration
import Foundation
import TestSupport
import Testing

/// What a reduced search must find: all that a search finds which runs each schedule to its end.
@Suite(.inTurn, .watched) struct `Searches of unchanged code, reduced` {
  /// What a search has found: what the program came to, in all of its schedules, and which failures.
  struct Findings {
    var outcomes: Set<String>
    var verdict: Verdict

    init(
      of program: SmallProgram,
      preemptions: Int? = 2,
      schedules: Int = 20_000,
      _ reduction: Reduction
    ) throws {
      let noted = Outcomes()
      verdict = try exploreAll(
        "small program",
        preemptions: preemptions,
        schedules: schedules,
        reduction: reduction,
        races: false
      ) {
        noted.note(await program.body())
      }
      outcomes = noted.all.union(verdict.failures.keys.map { "a failure: \($0)" })
    }
  }

  /// Compares the searches, unless there are too many schedules to run each to its end.
  private func compare(_ program: SmallProgram, _ preemptions: Int?, schedules: Int = 20_000) throws
  {
    let unreduced = try Findings(
      of: program,
      preemptions: preemptions,
      schedules: schedules,
      .none
    )
    guard unreduced.verdict.schedules < schedules else { return }
    let reduced = try Findings(of: program, preemptions: preemptions, .merging)
    let count = reduced.verdict.schedules
    print(
      "\(program.name): \(count) schedules and \(reduced.verdict.merged) that were left, for "
        + "\(unreduced.verdict.schedules)"
    )
    #expect(reduced.outcomes == unreduced.outcomes, "\(program.name)")
    #expect(count <= unreduced.verdict.schedules, "\(program.name)")
    #expect(reduced.verdict.coverage == unreduced.verdict.coverage, "\(program.name)")
  }

  @Test(arguments: SmallProgram.all)
  func `what small programs come to is the same in a reduced search and in one that is not`(
    program: SmallProgram
  ) throws {
    for preemptions in program.preemptions { try compare(program, preemptions) }
  }

  @Test(arguments: [UInt64](1...200).fewUnlessLong(12))
  func `what programs come to that are drawn at random is the same in both`(seed: UInt64) throws {
    try compare(SmallProgram(drawnBy: seed), 2, schedules: longTestsRun ? 5_000 : 400)
  }

  @Test
  func `a search that took writes for looks would miss what these programs come to`() throws {
    var blind = Reduction.merging
    blind.overlooksWrites = true
    let name = "tickets, two for each"
    let program = try #require(SmallProgram.all.first { $0.name == name })
    let unreduced = try Findings(of: program, preemptions: nil, .none)
    let reduced = try Findings(of: program, preemptions: nil, blind)
    #expect(reduced.outcomes.isStrictSubset(of: unreduced.outcomes), "\(reduced.outcomes)")
  }

  @Test func `a verdict says that it is reduced, and without a reduction it is not`() throws {
    let program = try #require(SmallProgram.all.first { $0.name == "a lock, taken twice by each" })
    let reduced = try explore("reduced", reduction: true) { _ = await program.body() }
    let whole = try explore("whole") { _ = await program.body() }
    #expect(
      "\(reduced)"
        == "exhaustive, at most 2 pre-emptions: \(reduced.schedules) schedules, reduced "
        + "(\(reduced.merged) more were left where others stand for them), \(reduced.steps) steps"
    )
    #expect(reduced.merged > 0)
    #expect(whole.merged == 0)
    #expect(whole.schedules > reduced.schedules + reduced.merged)
    #expect("\(whole)".contains("\(whole.schedules) schedules, \(whole.steps) steps"))
  }
}
