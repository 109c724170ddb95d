import Basics
import Experiments
import Foundation
import Mechanisms
import Synchronization
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
    /// As many pre-emptions as are looked at; nil for any number.
    let preemptions: Int?

    init(_ id: String) throws {
      let entry = try #require(Catalogue.entry(id))
      let exposure = try #require(entry.profile.exposure)
      scenario = ExplorationScenario(entry)
      kind = try #require(Violation.Kind(rawValue: exposure.violation))
      preemptions = exposure.inside ? 2 : nil
    }

    /// What looking at every schedule finds: once for all tests, which ask different things of it.
    func verdict() throws -> Verdict {
      try SpecimenScheduleTests.known(scenario.mechanism.id, in: SpecimenScheduleTests.verdicts) {
        try Explorer(preemptions: preemptions)(scenario.scenario)
      }
    }

    /// What that is when made smaller.
    func minimum() throws -> Minimum {
      try SpecimenScheduleTests.known(scenario.mechanism.id, in: SpecimenScheduleTests.minima) {
        try Minimum(of: try #require(try verdict().found), in: scenario.scenario)
      }
    }
  }

  private static let verdicts = Memory<Verdict>()
  private static let minima = Memory<Minimum>()

  private final class Memory<Value: Sendable>: Sendable {
    let values = Mutex<[String: Value]>([:])
  }

  /// What was found out before, or is found out now; two tests that ask at once may both do so.
  private static func known<Value>(
    _ id: String,
    in memory: Memory<Value>,
    _ find: () throws -> Value
  ) throws -> Value {
    if let value = memory.values.withLock({ $0[id] }) { return value }
    let value = try find()
    memory.values.withLock { $0[id] = value }
    return value
  }

  /// Runs a schedule again from its line alone, as a person would.
  private func replayed(_ line: String) async throws -> Replay {
    let scenario = try ExplorationScenario(ofSchedule: line).scenario
    return try await onOwnThread {
      try Replay(of: try Schedule(parsing: line), in: scenario)
    }
  }

  @Test(arguments: specimens.fewUnlessLong(3))
  func `every schedule printed for it replays to the same violation, a hundred times of a hundred`(
    id: String
  ) async throws {
    let exposed = try Exposed(id)
    for strategy in ExplorationReport.Strategy.allCases {
      let report = try await exposed.scenario.explore(
        ExplorationPlan(
          strategy: strategy,
          schedules: 500,
          all: true,
          preemptions: exposed.preemptions
        )
      )
      let found = try #require(report.found)
      #expect(found.minimum.violation?.kind == exposed.kind.rawValue)
      #expect(found.minimum.isMinimal)
      for line in [found.schedule, found.minimum.schedule] {
        let first = try await replayed(line)
        #expect(first.violation?.kind == exposed.kind)
        #expect(first.violation?.message == first.steps.last?.violation?.message)
        // A quarter of them for each strategy's schedule as found and as made smaller.
        for _ in 2...25 {
          let again = try await replayed(line)
          #expect(again.violation == first.violation)
          #expect(again.steps == first.steps)
        }
      }
    }
  }

  @Test(.search)
  func `a thread that sleeps while it chooses what comes next is not called blocked`()
    async throws
  {
    let scenario = try Exposed("specimen-two-locks").scenario.scenario
    let hasEscaped = await onOwnThread {
      let run = ScheduleRun(scenario, reduction: .none)
      defer { run.close() }
      let isFirst = Once()
      run.points = {
        // Longer than a job may sleep that nobody explored can wake.
        if isFirst.come() { _ = ThreadSemaphore().wait(atMost: 4_000_000_000) }
        return []
      }
      run.begin()
      run.followDefaultChoices(upTo: 1_000)
      run.end()
      return run.executor.escaped
    }
    #expect(!hasEscaped)
  }

  private final class Once: Sendable {
    private let hasCome = Atomic(false)
    func come() -> Bool { !hasCome.exchange(true, ordering: .relaxed) }
  }

  @Test(arguments: specimens.fewUnlessSearching { $0 != "specimen-held-lock" })
  func `its smallest schedule can lose neither a pre-emption nor a step`(id: String) throws {
    let exposed = try Exposed(id)
    let minimum = try exposed.minimum()
    #expect(minimum.isMinimal)
    // Asked of a search that knows nothing of the minimizer's: no reduction, and no bound but the figures,
    // beyond which no schedule is followed.
    let run = ScheduleRun(minimum.scenario, reduction: .none)
    defer { run.close() }
    var fewest = (preemptions: Int.max, steps: Int.max)
    var search = DepthFirst(preemptions: exposed.preemptions)
    repeat {
      search.begin()
      run.begin()
      var preemptions = 0
      while !run.isOver, let index = search.choose(in: run) {
        if run.isPreemption(run.options[index]) { preemptions += 1 }
        run.take(index)
        if (preemptions, run.steps) > (minimum.preemptions, minimum.schedule.choices.count) {
          break
        }
      }
      if run.violation?.kind == exposed.kind {
        if (preemptions, run.steps) < fewest { fewest = (preemptions, run.steps) }
      }
      run.end()
    } while search.finish(steps: run.steps)
    #expect(fewest == (minimum.preemptions, minimum.schedule.choices.count))
  }

  @Test(arguments: specimens.fewUnlessSearching { $0 != "specimen-held-lock" })
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
    #expect(
      files.contains { $0.hasPrefix("Sources/Limiters/") || $0.hasPrefix("Sources/WorkStealing/") }
    )
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    for file in files {
      #expect(FileManager.default.fileExists(atPath: package.appending(path: String(file)).path))
    }
  }

  @Test func `a step inside synchronous code names the line of its operation`() async throws {
    let exposed = try Exposed("specimen-two-locks")
    let plan = ExplorationPlan(preemptions: exposed.preemptions)
    let found = try #require(try await exposed.scenario.explore(plan).found)
    let steps = found.minimum.steps.filter { $0.description.contains("takes lock") }
    #expect(steps.count > 3)
    for step in steps {
      let place = /takes lock \d+ \(\w+\) at (?:TwoLocksLimiter|Condition)\.swift:\d+/
      #expect(step.description.contains(place), "\(step.description)")
    }
    let again = try await exposed.scenario.replay(found.minimum.schedule)
    #expect(again.steps.map(\.description) == found.minimum.steps.map(\.description))
  }

  @Test(arguments: [
    ("specimen-check-then-act", false, [1, 2, 1], "t01"),
    // t01 has the element, and t02 waits for it, when t02 is cancelled.
    ("pool", true, Array(repeating: 1, count: 11) + [3, 1, 2], "the cancelling of t02"),
  ])
  func `a step says whom it pre-empts: a task, or a cancellation that stands in its handler`(
    id: String,
    cancels: Bool,
    places: [Int],
    name: String
  ) async throws {
    var scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    (scenario.tasks, scenario.limit, scenario.inside) = (2, 1, true)
    scenario.cancels = cancels
    var game = try await ScheduleGame(scenario)
    for place in places { game = try await game.choosing(place - 1) }
    #expect(game.steps.last?.preempted == name, "\(game.steps.map(\.words))")
    #expect(game.steps.count == places.count, "what is cleared away is no step")
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
