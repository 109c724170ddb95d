import Experiments
import Exploration
import Mechanisms
import TestSupport
import Testing

/// What each specimen's profile says of its defect, checked by the explorer itself.
@Suite(.watched) struct `A specimen, explored` {
  static let ids = Catalogue.specimens.map(\.id)

  /// What else breaks where the defect shows.
  ///
  /// A body let in without a permit because it was cancelled may also overtake the one that has it.
  static let consequences: [String: Set<Violation.Kind>] = [
    "specimen-published-limiter": [.ranAfterCancel, .order]
  ]

  private struct Exposed {
    let scenario: Scenario
    /// Every schedule; inside synchronous code those of two pre-emptions.
    let explorer: Explorer
    let profiled: Violation.Kind
    let allowed: Set<Violation.Kind>

    init(_ id: String) throws {
      let entry = try #require(Catalogue.entry(id))
      let exposure = try #require(entry.profile.exposure)
      scenario = ExplorationScenario(entry).scenario
      explorer = Explorer(preemptions: exposure.inside ? 2 : nil)
      profiled = try #require(Violation.Kind(rawValue: exposure.violation))
      allowed = consequences[id, default: []].union([profiled])
    }
  }

  @Test(
    arguments: ids.fewUnlessSearching {
      $0 != "specimen-held-lock" && $0 != "specimen-published-limiter"
    }
  )
  func `breaks the promise its profile names, and no other, in some orders unless bodies throw`(
    id: String
  ) throws {
    let exposed = try Exposed(id)
    let verdict = try SpecimenScheduleTests.Exposed(id).verdict()
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found?.violation.kind == exposed.profiled)
    #expect(Set(verdict.failures.keys) == exposed.allowed)
    #expect(verdict.failed > 0)
    #expect((verdict.failed == verdict.schedules) == (id == "specimen-throwing-body"))
  }

  @Test(
    arguments: ids.fewUnlessSearching {
      $0 != "specimen-held-lock" && $0 != "specimen-no-last-look"
    }
  )
  func `is caught within 10000 schedules whatever the seed`(id: String) throws {
    let exposed = try Exposed(id)
    for seed in UInt64(1)...20 {
      for strategy in [Explorer.Strategy.random, .pct(depth: 3)] {
        let exploration = Explorer(
          strategy: strategy,
          schedules: 10_000,
          seed: seed,
          stopsAtViolation: true
        )
        let found = try #require(
          try exploration(exposed.scenario).found,
          "not found by \(strategy) with seed \(seed)"
        )
        #expect(exposed.allowed.contains(found.violation.kind))
      }
    }
  }

  @Test(arguments: ids)
  func `is sound without its trigger, or with a task less where an order of steps is enough`(
    id: String
  ) throws {
    let entry = try #require(Catalogue.entry(id))
    let exposure = try #require(entry.profile.exposure)
    var scenario = ExplorationScenario(entry)
    scenario.cancels = false
    scenario.fails = false
    if exposure.trigger == .order { scenario.tasks -= 1 }
    let verdict = try Exposed(id).explorer(scenario.scenario)
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found == nil)
  }
}
