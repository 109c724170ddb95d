import Basics
import TestSupport
import Testing

@testable import Exploration

/// What a search in order goes over to where it is too large.
@Suite(.watched, .serialized) struct `A search that is too large` {
  /// Tasks that share nothing and take `steps` steps each; if asked for, a promise is broken where the last begins
  /// first, which the search in order comes to at last.
  private func strangers(_ tasks: Int, steps: Int, isFlawed: Bool = false) -> Scenario {
    var scenario = Scenario("strangers", tasks: tasks) { context in
      let begun = Begun()
      return ScenarioInstance(body: { task in
        if isFlawed, task == tasks, begun.isEmpty {
          context.note(.requirement, "the last begins first")
        }
        begun.isEmpty = false
        for _ in 1..<steps { try? await context.pause() }
      })
    }
    scenario.symmetric = false
    return scenario
  }

  /// Touched by one task at a time, as all of a schedule is.
  private final class Begun: @unchecked Sendable {
    var isEmpty = true
  }

  private func explorer(
    _ schedules: Int,
    instead: Explorer.Instead? = Explorer.Instead(depth: 3, schedules: 10_000, seed: 1)
  ) -> Explorer {
    var explorer = Explorer(schedules: schedules)
    explorer.instead = instead
    explorer.stopsAtViolation = true
    return explorer
  }

  @Test func `goes over to as many drawn schedules as it was told`() throws {
    let wanted = Explorer.Instead(depth: 2, schedules: 300, seed: 7)
    let verdict = try explorer(4_000, instead: wanted)(strangers(4, steps: 4))
    let draws = try #require(verdict.draws)
    // A twentieth.
    #expect(draws.inOrder == 200)
    #expect((draws.wanted, draws.drawn, draws.room) == (300, 300, 4_000))
    #expect(verdict.schedules == 500)
    #expect(verdict.coverage == .bounded)
    #expect(draws.estimate > 40_000 && verdict.estimate == draws.estimate)
    // Four agents of seven steps each.
    #expect((draws.agents, draws.steps) == (4, 28))
    #expect(draws.chance == 1.0 / (4 * 28))
  }

  @Test func `goes on in order where it is told to, and says about how many there are`() throws {
    let verdict = try explorer(1_000, instead: nil)(strangers(4, steps: 4))
    #expect(verdict.draws == nil)
    #expect((verdict.schedules, verdict.coverage) == (1_000, .bounded))
    #expect(try #require(verdict.estimate) > 40_000)
  }

  @Test func `is not one that fits to the last schedule`() throws {
    for (tasks, steps, schedules) in [(2, 5, 252), (3, 3, 1_680), (4, 2, 2_520)] {
      var exact = explorer(schedules)
      exact.reduction = .wakingOnly
      let verdict = try exact(strangers(tasks, steps: steps))
      #expect((verdict.schedules, verdict.coverage) == (schedules, .exhaustive))
      #expect(verdict.draws == nil && verdict.estimate == nil)
    }
  }

  @Test func `draws no more than its limits have room for`() throws {
    let verdict = try explorer(600)(strangers(4, steps: 4))
    #expect(verdict.schedules == 600)
    #expect(verdict.draws?.inOrder == 100)
    #expect(verdict.draws?.wanted == 500)
    var bySteps = explorer(.max)
    bySteps.mostSteps = 28 * 3_000
    let short = try #require(try bySteps(strangers(4, steps: 4)).draws)
    #expect((short.inOrder, short.wanted) == (150, 2_850))
  }

  @Test(arguments: [3, nil] as [Int?])
  func `is found wrong by what is drawn, where the search in order does not come in time`(
    depth: Int?
  ) throws {
    let scenario = strangers(4, steps: 4, isFlawed: true)
    let inOrder = try explorer(3_000, instead: nil)(scenario)
    #expect(inOrder.found == nil && inOrder.schedules == 3_000)
    let drawing = explorer(3_000, instead: Explorer.Instead(depth: depth, schedules: 500, seed: 1))
    let verdict = try drawing(scenario)
    let found = try #require(verdict.found)
    #expect(verdict.draws?.inOrder == 150)
    #expect(try #require(verdict.firstFailureAt) > 150)
    // As any other it can be run again, and made small.
    #expect(try Replay(of: found.schedule, in: scenario).violation?.kind == .requirement)
    let least = try Minimum(of: found, in: scenario, allowance: 100)
    #expect(least.violation.kind == .requirement)
    #expect(least.replay.length <= found.schedule.choices.count)
    let again = try drawing(scenario)
    #expect((again.found, again.schedules) == (verdict.found, verdict.schedules))
  }

  @Test func `says what it did, what it left and what PCT promises`() throws {
    let scenario = strangers(4, steps: 4)
    let verdict = try explorer(4_000, instead: .init(depth: 2, schedules: 300, seed: 7))(scenario)
    let draws = try #require(verdict.draws)
    let about = Draws.about(draws.estimate)
    #expect(
      draws.announcement
        == "about \(about) schedules, of which 4,000 fit in the limit; after 200 in order it goes over to 300 drawn by "
        + "PCT (depth 2, seed 7)"
    )
    let phrases = NotAsked(verdict, of: scenario, preemptions: nil, longest: 10_000).phrases
    #expect(
      phrases.prefix(2) == [
        "the rest of about \(about) schedules (an estimate), of which 4,000 fit in the limit: 200 were searched in "
          + "order, then 300 drawn by PCT (depth 2, seed 7)",
        "a defect that none of these show: one that needs 2 orders of two steps is shown by each that PCT draws with "
          + "a chance of 1 in 120 or more, with 4 tasks and 28 steps, and by 300 with one of 93 % or more",
      ]
    )
    let random = try explorer(4_000, instead: .init(depth: nil, schedules: 50, seed: 7))(scenario)
    #expect(random.draws?.chance == nil)
    #expect(
      NotAsked(random, of: scenario, preemptions: nil, longest: 10_000).phrases.first?
        .hasSuffix("200 were searched in order, then 50 drawn by chance (seed 7)") == true
    )
  }

  @Test func `is noted where another program can read it`() throws {
    let folder = try ScratchFolder("draws-tests-")
    let file = folder.path + "/journal"
    let journal = try #require(ScheduleJournal(file: file))
    #expect(journal.draws == nil)
    for depth in [3, nil] as [Int?] {
      let draws = Draws(
        depth: depth,
        seed: 7,
        wanted: 500,
        inOrder: 150,
        estimate: 2.5e9,
        room: 3_000
      )
      journal.note(draws)
      #expect(try #require(ScheduleJournal(file: file)).draws == draws)
    }
  }
}
