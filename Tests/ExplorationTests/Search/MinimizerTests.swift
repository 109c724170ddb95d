import TestSupport
import Testing

@testable import Exploration

@Suite(.watched, .serialized) struct MinimizerTests {
  /// Flaws, and how many tasks their minimum needs when searched with three.
  static let cases: [(Flaw, Bool)] = [
    (.checksThenActs, false), (.checksThenParks, false), (.keepsPermitOnError, false),
    (.barges, false),
    (.resumesTwice, true), (.admitsCancelled, true), (.losesPermitToCancelled, true),
  ]

  @Test(arguments: cases)
  func `the minimum is what looking at every schedule gives`(flaw: Flaw, cancellable: Bool) throws {
    let tasks = cancellable ? 2 : 3
    let scenario = Scenario.semaphore(flaw, tasks: tasks, limit: 1, cancellable: cancellable)
    let found = try #require(try Explorer()(scenario).found)
    let minimum = try Minimum(of: found, in: scenario)
    #expect(minimum.isMinimal)
    let best = try #require(Self.best(in: scenario))
    #expect([minimum.preemptions, minimum.scenario.tasks, minimum.schedule.choices.count] == best)
  }

  /// The least pre-emptions, then tasks, then steps, amongst all schedules of all numbers of tasks
  /// that break a promise, counted without the machinery under test.
  private static func best(in scenario: Scenario) -> [Int]? {
    var best: [Int]?
    for tasks in 1...scenario.tasks {
      var smaller = scenario
      smaller.tasks = tasks
      let run = ScheduleRun(smaller, reduction: .none)
      run.record = StepRecorder()
      defer { run.close() }
      var search = DepthFirst()
      repeat {
        search.begin()
        run.begin()
        while !run.isOver, let index = search.choose(in: run) { run.take(index) }
        if run.violation != nil {
          let preemptions = run.record?.steps.count { $0.isPreemption } ?? 0
          let measure = [preemptions, tasks, run.steps]
          if best.map({ measure.lexicographicallyPrecedes($0) }) ?? true { best = measure }
        }
        run.end()
      } while search.finish(steps: run.steps)
    }
    return best
  }

  @Test(arguments: cases)
  func `a found schedule and its minimum lead to the same violation every time`(
    flaw: Flaw,
    cancellable: Bool
  ) throws {
    let scenario = Scenario.semaphore(flaw, tasks: 3, limit: 1, cancellable: cancellable)
    for strategy in [Explorer.Strategy.exhaustive, .random, .pct(depth: 3)] {
      var exploration = Explorer(strategy: strategy, schedules: 10_000)
      exploration.stopsAtViolation = true
      let found = try #require(try exploration(scenario).found)
      let minimum = try Minimum(of: found, in: scenario)
      for _ in 0..<100 {
        let line = try Schedule(parsing: found.schedule.description)
        #expect(try Replay(of: line, in: scenario).violation == found.violation)
        let least = try Schedule(parsing: minimum.schedule.description)
        #expect(try Replay(of: least, in: minimum.scenario).violation == minimum.violation)
      }
    }
  }

  @Test func `a violation is told step by step, with the pair that matters`() throws {
    let scenario = Scenario.semaphore(.admitsCancelled, tasks: 3, limit: 1, cancellable: true)
    let found = try #require(try Explorer()(scenario).found)
    let minimum = try Minimum(of: found, in: scenario)
    let told = minimum.replay.steps.map {
      "\($0.number) \($0.actor) \($0.description) \($0.running)/\($0.waiting)"
        + ($0.violation.map { " ► \($0.message)" } ?? "")
    }
    #expect(
      told == [
        "1 t01 arrives; is admitted; its body runs 1/0",
        "2 t02 arrives; waits 1/1",
        "3 · t02 is cancelled 1/1",
        "4 t02 is admitted; its body runs; departs, cancelled in service 1/0 ► 2 running, limit 1",
        "5 t01 its time has come: it wakes 1/0", "6 t01 departs 0/0",
      ]
    )
    #expect(minimum.replay.length == 4)
    #expect(minimum.race?.first == 3)
    #expect(minimum.race?.second == 6)
  }

  @Test
  func
    `without time the found schedule is returned, and its pair is looked for in a time of its own`()
    throws
  {
    let scenario = Scenario.semaphore(.barges, tasks: 3, limit: 1, cancellable: false)
    let found = try #require(try Explorer()(scenario).found)
    let minimum = try Minimum(
      of: found,
      in: scenario,
      shouldStop: { true },
      shouldLeavePair: { false }
    )
    #expect(!minimum.isMinimal)
    #expect(minimum.schedule == found.schedule)
    #expect(minimum.race != nil)
    let neither = try Minimum(of: found, in: scenario, shouldStop: { true })
    #expect(neither.race == nil)
  }

  @Test func `without allowance the found schedule is returned and not called minimal`() throws {
    let scenario = Scenario.semaphore(.barges, tasks: 3, limit: 1, cancellable: false)
    let found = try #require(try Explorer()(scenario).found)
    let minimum = try Minimum(of: found, in: scenario, allowance: 1)
    #expect(!minimum.isMinimal)
    #expect(minimum.schedule == found.schedule)
    #expect(minimum.violation == found.violation)
  }
}
