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

  struct Case: CustomTestStringConvertible {
    var tasks: Int
    var limit: Int
    var cancels: Bool
    var testDescription: String {
      "\(tasks) tasks, limit \(limit)\(cancels ? ", any cancelled" : "")"
    }
  }

  static let cases = [
    Case(tasks: 2, limit: 1, cancels: true), Case(tasks: 3, limit: 1, cancels: false),
    Case(tasks: 3, limit: 2, cancels: false),
  ]

  @Test(arguments: mechanisms, cases)
  func `a mechanism keeps its promises in every schedule, whether its bodies fail or not`(
    id: String,
    small: Case
  ) throws {
    for fails in [false, true] {
      let scenario = try Self.scenario(
        id,
        tasks: small.tasks,
        limit: small.limit,
        cancels: small.cancels,
        fails: fails
      )
      let verdict = try Explorer()(scenario)
      #expect(verdict.coverage == .exhaustive)
      #expect(verdict.found == nil)
      #expect((verdict.failed, verdict.givenUp, verdict.tasksLost) == (0, 0, 0))
      #expect(verdict.schedules > 1)
    }
  }

  // With cancellations too, CI explores the same in the built lab, alone on the machine: whether an agent
  // sleeps in the runtime is told by time, which the other tests take from it.
  @Test(
    arguments: mechanisms.filter {
      Catalogue.entry($0).map(ExplorationScenario.canStopInside) == true
    },
    [(2, false, 2), (3, false, 2)]
  )
  func `a limiter keeps its promises where its tasks stop inside its code`(
    id: String,
    small: (tasks: Int, cancels: Bool, preemptions: Int)
  ) throws {
    var scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    (scenario.tasks, scenario.limit, scenario.cancels) = (small.tasks, 1, small.cancels)
    scenario.inside = true
    #expect(ExplorationScenario(name: scenario.name)?.name == scenario.name)
    let between = try Explorer(preemptions: small.preemptions)(
      Self.scenario(id, tasks: small.tasks, limit: 1, cancels: small.cancels)
    )
    let verdict = try Explorer(preemptions: small.preemptions)(scenario.scenario)
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found == nil)
    #expect((verdict.failed, verdict.givenUp, verdict.tasksLost) == (0, 0, 0))
    #expect(verdict.schedules > between.schedules)
  }

  @Test(arguments: mechanisms, [1, 2])
  func `the reduced search sees what the unreduced one sees`(id: String, limit: Int) throws {
    for cancels in [false, true] {
      for fails in [false, true] {
        let scenario = try Self.scenario(
          id,
          tasks: 2,
          limit: limit,
          cancels: cancels,
          fails: fails
        )
        let reduced = Sights(of: scenario, reduction: .full)
        let unreduced = Sights(of: scenario, reduction: cancels ? .wakingOnly : .none)
        #expect(reduced.histories == unreduced.histories)
        #expect(reduced.schedules < unreduced.schedules)
      }
    }
  }

  @Test(arguments: SpecimenScheduleTests.specimens)
  func `the reduced search sees every violation of a specimen that the unreduced one sees`(
    id: String
  ) throws {
    let scenario = try SpecimenScheduleTests.Exposed(id).scenario.scenario
    let reduced = Sights(of: scenario, reduction: .full)
    let unreduced = Sights(of: scenario, reduction: scenario.cancellable ? .wakingOnly : .none)
    #expect(reduced.histories == unreduced.histories)
    #expect(reduced.schedules <= unreduced.schedules)
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
