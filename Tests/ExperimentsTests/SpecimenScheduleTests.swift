import Basics
import Experiments
import Foundation
import Mechanisms
import TestSupport
import Testing

@testable import Exploration

/// The schedules that exploring a specimen prints: what a person replays and reads.
@Suite(.watched, .serialized) struct SpecimenScheduleTests {
  static let specimens = Catalogue.specimens.map(\.id)

  /// What a specimen's profile claims, and the scenario that is to prove it.
  struct Exposed {
    let scenario: ExplorationScenario
    let kind: Violation.Kind

    init(_ id: String) throws {
      let entry = try #require(Catalogue.entry(id))
      let exposure = try #require(entry.profile.exposure)
      scenario = ExplorationScenario(entry)
      kind = try #require(Violation.Kind(rawValue: exposure.violation))
    }

    func minimum() throws -> Minimum {
      let verdict = try Explorer()(scenario.scenario)
      return try Minimum(of: try #require(verdict.found), in: scenario.scenario)
    }
  }

  /// Runs a schedule again from its line alone, as a person would.
  private func replayed(_ line: String) async throws -> Replay {
    let scenario = try ExplorationScenario(ofSchedule: line).scenario
    return try await onOwnThread {
      try Replay(of: try Schedule(parsing: line), in: scenario)
    }
  }

  @Test(arguments: specimens)
  func `every schedule printed for it replays to the same violation, a hundred times of a hundred`(
    id: String
  ) async throws {
    let exposed = try Exposed(id)
    for strategy in ExplorationReport.Strategy.allCases {
      let report = try await exposed.scenario.explore(
        ExplorationPlan(strategy: strategy, schedules: 500, all: true)
      )
      let found = try #require(report.found)
      #expect(found.minimum.violation?.kind == exposed.kind.rawValue)
      #expect(found.minimum.isMinimal)
      for line in [found.schedule, found.minimum.schedule] {
        let first = try await replayed(line)
        #expect(first.violation?.kind == exposed.kind)
        #expect(first.violation?.message == first.steps.last?.violation?.message)
        for _ in 2...100 {
          let again = try await replayed(line)
          #expect(again.violation == first.violation)
          #expect(again.steps == first.steps)
        }
      }
    }
  }

  @Test(arguments: specimens)
  func `its smallest schedule can lose neither a pre-emption nor a step`(id: String) throws {
    let exposed = try Exposed(id)
    let minimum = try exposed.minimum()
    #expect(minimum.isMinimal)
    // Asked of a search that knows nothing of the minimizer's: no bound but the figures, no reduction.
    let run = ScheduleRun(minimum.scenario, reduction: .none)
    defer { run.close() }
    var fewest = (preemptions: Int.max, steps: Int.max)
    var search = DepthFirst()
    repeat {
      search.begin()
      run.begin()
      var preemptions = 0
      while !run.isOver, let index = search.choose(in: run) {
        if run.isPreemption(run.options[index]) { preemptions += 1 }
        run.take(index)
      }
      if run.violation?.kind == exposed.kind {
        if (preemptions, run.steps) < fewest { fewest = (preemptions, run.steps) }
      }
      run.end()
    } while search.finish(steps: run.steps)
    #expect(fewest == (minimum.preemptions, minimum.schedule.choices.count))
  }

  @Test(arguments: specimens)
  func `the order it is said to matter for does matter`(id: String) throws {
    let minimum = try Exposed(id).minimum()
    guard let race = minimum.race else {
      // A defect that shows on every order has no pair to tell.
      let verdict = try Explorer()(minimum.scenario)
      #expect(verdict.failed == verdict.schedules)
      return
    }
    let choices = minimum.replay.steps.map(\.choice)
    #expect(race.first < race.second && race.second <= choices.count)
    #expect(choices[race.first - 1].agent != choices[race.second - 1].agent)
  }

  @Test(arguments: specimens)
  func `the explorer's tip names its code, and where it is done right, by files that exist`(
    id: String
  ) throws {
    let explanation = try #require(Catalogue.entry(id)).profile.explanation
    let advice = try #require(explanation.components(separatedBy: "\n\n").last)
    let files = advice.split { " ;,".contains($0) }.filter { $0.hasPrefix("Sources/") }
      .map { $0.hasSuffix(".") ? $0.dropLast() : $0 }
    #expect(files.contains { $0.hasPrefix("Sources/Specimens/") })
    #expect(files.contains { $0.hasPrefix("Sources/Limiters/") })
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    for file in files {
      #expect(FileManager.default.fileExists(atPath: package.appending(path: String(file)).path))
    }
  }

  @Test func `a bound on overtaking is honoured: three may pass where three newcomers can`() throws
  {
    let barging = try #require(Catalogue.entry("specimen-barging"))
    var scenario = ExplorationScenario(barging)
    scenario.tasks = 3
    for (bound, isBroken) in [(0, true), (1, false)] {
      scenario.overtakingBound = bound
      let verdict = try Explorer()(scenario.scenario)
      #expect(verdict.coverage == .exhaustive)
      #expect((verdict.failures[.overtaken] != nil) == isBroken, "bound \(bound)")
      // The bound is asked instead of the order, not beside it.
      #expect(verdict.failures[.order] == nil)
    }
  }
}
