@testable import Exploration

/// What a search has found: what the program came to, in all of its schedules, and which failures.
///
/// What a schedule comes to that was left before, where another stands for it, does not count: else it would not show
/// that it was left wrongly.
struct SearchFindings {
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
      races: false,
      program.body,
      outcome: noted.note
    )
    outcomes = noted.all.union(verdict.failures.keys.map { "a failure: \($0)" })
  }
}
