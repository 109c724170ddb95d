import Experiments
import Mechanisms
import TestSupport
import Testing

@testable import Exploration

/// Every mechanism that can be explored keeps its promises in every schedule of small cases.
@Suite(.watched, .serialized) struct MechanismExplorationTests {
  static let mechanisms = Catalogue.mechanisms.filter { $0.profile.clock == .any }.map(\.id)

  static func scenario(
    _ id: String,
    tasks: Int,
    limit: Int,
    cancels: Bool,
    fails: Bool = false
  ) throws -> Scenario {
    var scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    (scenario.tasks, scenario.limit) = (tasks, limit)
    (scenario.cancels, scenario.fails) = (cancels, fails)
    return scenario.scenario
  }

  /// One mechanism of one case, with the count of schedules that `explain explore` tells.
  struct Case: CustomTestStringConvertible {
    var id: String
    var explored: ExploredCase
    var schedules: Int
    var testDescription: String { "\(id) \(explored.keys)" }

    static let all = ExploredCase.all.flatMap { explored in
      explored.schedules.map { Case(id: $0.key, explored: explored, schedules: $0.value) }
    }
  }

  @Test(arguments: Case.all.filter { $0.explored.preemptions == nil })
  func `a mechanism keeps its promises in every schedule, whether its bodies fail or not`(
    small: Case
  ) throws {
    for fails in [false, true] {
      let scenario = try Self.scenario(
        small.id,
        tasks: small.explored.tasks,
        limit: small.explored.limit,
        cancels: small.explored.cancels,
        fails: fails
      )
      // There is room for no more, and still nothing is cut.
      var explorer = Explorer(schedules: small.schedules)
      explorer.instead = Explorer.Instead(depth: 3, schedules: 100, seed: 1)
      let verdict = try explorer(scenario)
      #expect(verdict.coverage == .exhaustive)
      #expect(verdict.draws == nil && verdict.found == nil)
      #expect((verdict.failed, verdict.givenUp, verdict.tasksLost) == (0, 0, 0))
      #expect(verdict.schedules == small.schedules)
    }
  }

  @Test(
    arguments: Case.all.filter { $0.explored.preemptions != nil }
      .fewUnlessSearching { $0.schedules < 1_000 }
  )
  func `a limiter keeps its promises where its tasks stop inside its code`(small: Case) throws {
    let explored = small.explored
    var scenario = ExplorationScenario(try #require(Catalogue.entry(small.id)))
    (scenario.tasks, scenario.limit) = (explored.tasks, explored.limit)
    scenario.cancels = explored.cancels
    scenario.inside = true
    #expect(ExplorationScenario(name: scenario.name)?.name == scenario.name)
    let between = try Explorer(preemptions: explored.preemptions)(
      Self.scenario(
        small.id,
        tasks: explored.tasks,
        limit: explored.limit,
        cancels: explored.cancels
      )
    )
    var explorer = Explorer(schedules: small.schedules, preemptions: explored.preemptions)
    explorer.instead = Explorer.Instead(depth: 3, schedules: 100, seed: 1)
    let verdict = try explorer(scenario.scenario)
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.draws == nil && verdict.found == nil)
    #expect((verdict.failed, verdict.givenUp, verdict.tasksLost) == (0, 0, 0))
    #expect(verdict.schedules == small.schedules)
    #expect(verdict.schedules > between.schedules)
  }

  @Test func `every mechanism that can be explored is, and inside its code where that goes`() {
    func ids(_ cases: [Case]) -> Set<String> { Set(cases.map(\.id)) }
    #expect(ids(Case.all) == Set(Self.mechanisms))
    #expect(
      ids(Case.all.filter { $0.explored.preemptions != nil })
        == Set(
          Self.mechanisms.filter {
            Catalogue.entry($0).map(ExplorationScenario.canStopInside) == true
          }
        )
    )
  }

  @Test(
    arguments: mechanisms.fewUnlessSearching { $0 == "limiter" || $0 == "actor-queue" },
    [1, 2]
  )
  func `the reduced search sees what the unreduced one sees`(id: String, limit: Int) throws {
    // Cancelling and failing at once has too many schedules to look at without reduction.
    for (cancels, fails) in [(false, false), (false, true), (true, false)] {
      let scenario = try Self.scenario(id, tasks: 2, limit: limit, cancels: cancels, fails: fails)
      let reduced = Sights(of: scenario, reduction: .full)
      let unreduced = Sights(of: scenario, reduction: cancels ? .wakingOnly : .none)
      #expect(reduced.histories == unreduced.histories)
      #expect(reduced.schedules < unreduced.schedules)
      print("\(scenario.name):", Self.counts(reduced, unreduced))
    }
  }

  private static func counts(_ reduced: Sights, _ unreduced: Sights) -> String {
    "\(reduced.schedules) schedules reduced, \(unreduced.schedules) unreduced"
  }

  /// Two that are cancelled have too many schedules to look at unreduced without a bound, under which the
  /// searches cannot be compared.
  @Test(
    .search,
    arguments: SpecimenScheduleTests.specimens.filter {
      !["specimen-held-lock", "specimen-published-limiter"].contains($0)
    }
  )
  func `the reduced search sees every violation of a specimen that the unreduced one sees`(
    id: String
  ) throws {
    let scenario = try SpecimenScheduleTests.Exposed(id).scenario.scenario
    let reduced = Sights(of: scenario, reduction: .full)
    let unreduced = Sights(of: scenario, reduction: scenario.cancellable ? .wakingOnly : .none)
    #expect(reduced.histories == unreduced.histories)
    #expect(reduced.schedules <= unreduced.schedules)
    print("\(scenario.name):", Self.counts(reduced, unreduced))
  }
}

extension Reduction {
  /// With waking apart from going on, and cancellations in between, there are too many schedules to
  /// look at one by one.
  fileprivate static let wakingOnly = Reduction(
    ordersFreshTasks: false,
    beginsCancelledAtOnce: false,
    goesOnWhenWoken: true
  )
}

/// Everything that tasks were seen to do, over all schedules of a scenario.
private struct Sights {
  /// One history a schedule, the tasks named in the order in which they appear, the violation last.
  var histories: Set<[String]> = []
  var schedules = 0

  init(of scenario: Scenario, reduction: Reduction) {
    let run = ScheduleRun(scenario, reduction: reduction)
    run.record = StepRecorder()
    defer { run.close() }
    var search = DepthFirst()
    repeat {
      search.begin()
      run.begin()
      while !run.isOver, let index = search.choose(in: run) { run.take(index) }
      schedules += 1
      let reports = run.record?.steps.flatMap(\.reports) ?? []
      histories.insert(Self.renamed(reports) + [run.violation?.kind.rawValue ?? "kept"])
      run.end()
    } while search.finish(steps: run.steps)
  }

  private static func renamed(_ reports: [StepRecord.Report]) -> [String] {
    var names: [Int: Int] = [:]
    return reports.map { report in
      let name = names[report.task] ?? names.count + 1
      names[report.task] = name
      return "\(name) \(report.observation)"
    }
  }
}
