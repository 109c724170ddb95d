import TestSupport
import Testing

@testable import Exploration

/// Programs that are right or wrong, as it was said of each before it was explored.
@Suite(.inTurn, .watched) struct `Programs of which the answer is known` {
  private static let right = Judged.all.filter { $0.fails == nil }
  private static let wrong = Judged.all.filter { $0.fails != nil && $0.fails != .trap }
  private static let ended = Judged.all.filter { $0.fails == .trap }

  @Test(arguments: right.fewUnlessSearching { !$0.isLong })
  func `that are right are found to be, in all schedules that there are`(program: JudgedProgram)
    throws
  {
    let verdict = try explore(program.sentence, program.body)
    #expect(verdict.coverage == (program.spins ? .bounded : .exhaustive), "\(verdict)")
  }

  /// The smallest schedule is not looked for: that takes longer than all the rest.
  @Test(arguments: wrong.fewUnlessSearching { !$0.isLong })
  func `that are wrong are found to be, and how`(program: JudgedProgram) throws {
    let verdict = try exploreAll(
      program.sentence,
      preemptions: 2,
      reduction: .full,
      races: true,
      stopsAtViolation: true
    ) {
      try await program.body()
      return ""
    } outcome: { _ in
    }
    #expect(verdict.found?.violation.kind == program.fails, "\(verdict)")
  }

  /// What the runtime prints as it ends code is not to be taken for the tests'.
  @Test func `that would end the program are found to, and the program goes on`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      for program in Self.ended.fewUnlessSearching({ !$0.isLong }) {
        let failure = try failure(program.sentence, program.body)
        guard case .trap = failure.kind else { fatalError("\(failure)") }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(result?.exitStatus == .exitCode(0), "\(text)")
  }
}
