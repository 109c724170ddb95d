import Exploration
import Mechanisms
import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct ExplorationScenarioTests {
  private static func scenario(_ id: String) throws -> ExplorationScenario {
    ExplorationScenario(try #require(Catalogue.entry(id)))
  }

  @Test(arguments: (Catalogue.mechanisms + Catalogue.specimens).map(\.id))
  func `a scenario is built again from its name`(id: String) throws {
    for bound in [nil, 0, 3] {
      for (cancels, fails) in [(false, false), (false, true), (true, false), (true, true)] {
        var scenario = try Self.scenario(id)
        (scenario.tasks, scenario.limit) = (12, 34)
        (scenario.cancels, scenario.fails, scenario.overtakingBound) = (cancels, fails, bound)
        let again = try #require(ExplorationScenario(name: scenario.name))
        #expect(again.name == scenario.name)
        #expect(again.mechanism.id == id)
        #expect((again.tasks, again.limit) == (12, 34))
        #expect((again.cancels, again.fails) == (cancels, fails))
        #expect(again.overtakingBound == bound)
        // The name in schedules is the scenario's.
        #expect(again.scenario.name == scenario.name)
      }
    }
  }

  @Test func `every part of a scenario shows in its name`() throws {
    var scenario = try Self.scenario("limiter")
    #expect(scenario.name == "limiter-2-1-any")
    scenario.fails = true
    #expect(scenario.name == "limiter-2-1-any-fail")
    scenario.overtakingBound = 2
    #expect(scenario.name == "limiter-2-1-any-fail-bound2")
    scenario.cancels = false
    #expect(scenario.name == "limiter-2-1-none-fail-bound2")
  }

  @Test(
    arguments: [
      "", "limiter", "limiter-2-1", "limiter-2-any", "limiter-two-1-any", "limiter-0-1-any",
      "limiter-2-0-any", "limiter-2-1-some", "limitr-2-1-any", "limiter-2-1-any-fails",
      "limiter-2-1-any-bound", "limiter-2-1-any-boundx", "limiter-2-1-any-bound1-fail",
      "limiter--2-1-any", "limiter-2-1-any-bound-1",
    ]
  )
  func `what names no scenario is refused`(name: String) {
    #expect(ExplorationScenario(name: name) == nil)
  }

  @Test func `a schedule of another scenario is refused with both named`() async throws {
    let limiter = try Self.scenario("limiter")
    await #expect {
      _ = try await limiter.replay("v3:pool-2-1-any:0:1,2")
    } throws: { error in
      "\(error)".contains("'pool-2-1-any'") && "\(error)".contains("'limiter-2-1-any'")
    }
  }

  @Test func `a schedule that the code cannot follow is refused with the step and what can happen`()
    async throws
  {
    let limiter = try Self.scenario("limiter")
    await #expect {
      _ = try await limiter.replay("v3:limiter-2-1-any:0:1*99")
    } throws: { error in
      let text = "\(error)"
      return text.contains("is '1', but what can happen there is 2") && text.contains("step ")
    }
  }

  @Test(
    arguments: [
      ("v3:limitr-2-1-any:0:1", "no scenario is named 'limitr-2-1-any'"),
      ("v9:limiter-2-1-any:1", "version 'v9'"), ("limiter-2-1-any:1", "is not a schedule"),
      ("v3:limiter-2-1-any:0:1,q", "'q' is not a step"),
    ]
  )
  func `a schedule that cannot be read is refused with what is wrong in it`(
    schedule: String,
    complaint: String
  ) {
    #expect {
      _ = try ExplorationScenario(ofSchedule: schedule)
    } throws: { error in
      "\(error)".contains(complaint)
    }
  }

  @Test func `a specimen is explored with what exposes it unless told`() throws {
    let barging = try Self.scenario("specimen-barging")
    #expect((barging.tasks, barging.limit, barging.cancels, barging.fails) == (3, 1, false, false))
    let throwing = try Self.scenario("specimen-throwing-body")
    #expect(throwing.fails)
    let published = try Self.scenario("specimen-published-limiter")
    #expect(published.cancels)
  }

  @Test(arguments: Catalogue.mechanisms.filter { $0.profile.clock == .real }.map(\.id))
  func `what owns its threads is not explored, and says why`(id: String) throws {
    let scenario = try Self.scenario(id)
    #expect {
      try scenario.check()
    } throws: { error in
      "\(error)".contains("Only virtual time can be explored")
    }
  }

  @Test func `that leads elsewhere by the same steps has diverged, whatever it stumbled over`() {
    let errors: [ScheduleError] = [
      .diverged(scenario: "limiter"), .otherRun,
      .notPossible(step: 8, choice: Choice(.turn, 1), options: []),
    ]
    for error in errors {
      let failure = ExplorationFailure(ofExploration: error, of: "limiter")
      #expect(failure.isDivergence)
      #expect(failure.description.hasPrefix("the same choices led 'limiter' to different runs"))
    }
    let failure = ExplorationFailure(ofExploration: ScheduleError.notASchedule("x"), of: "limiter")
    #expect(!failure.isDivergence)
  }
}
