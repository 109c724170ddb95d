import Basics
import Limiters
import Synchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched, .serialized) struct ExplorerTests {
  /// Tasks that share nothing and take `steps` steps each.
  private func strangers(_ tasks: Int, steps: Int) -> Scenario {
    Scenario("strangers", tasks: tasks) {
      context in
      ScenarioInstance(body: { _ in for _ in 1..<steps { try? await context.pause() } })
    }
  }

  @Test(
    arguments: [
      // (a + b)! / (a! b!), and so on: all ways to merge sequences.
      (tasks: 1, steps: 4, merges: 1), (2, 1, 2), (2, 3, 20), (2, 5, 252), (3, 2, 90), (3, 3, 1680),
      (4, 2, 2520),
    ]
  )
  func `with waking tied to going on, every merge of the tasks' steps is a schedule`(
    tasks: Int,
    steps: Int,
    merges: Int
  ) throws {
    let verdict = try Explorer(reduction: .wakingOnly)(strangers(tasks, steps: steps))
    #expect(verdict.schedules == merges)
    // Waking is a step of its own.
    #expect(verdict.steps == merges * tasks * (2 * steps - 1))
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found == nil)
  }

  @Test func `an exploration asks in the middle of a schedule whether to stop, and ends there`()
    throws
  {
    let long = strangers(60, steps: 20)
    let stopped = try Explorer(strategy: .random, schedules: 300)(long) { _ in true }
    #expect(stopped.wasInterrupted)
    #expect(stopped.coverage == .bounded)
    #expect(stopped.schedules == 0)
    #expect(stopped.steps < 60)
    var asked = 0
    let whole = try Explorer(strategy: .random, schedules: 40)(long) { _ in
      asked += 1
      return false
    }
    #expect(whole.schedules == 40)
    #expect(asked > 0 && asked <= 1 + Int(whole.elapsed / Asking.interval))
  }

  @Test func `a journal has room for the longest schedule of any exploration`() {
    #expect(ScheduleJournal.mostChoices >= max(Explorer().longest, Inquiry.longest))
  }

  @Test func `with identical tasks only one order of their beginnings is looked at`() throws {
    let verdict = try Explorer()(strangers(3, steps: 3))
    #expect(verdict.schedules == 1680 / 6)
    var different = strangers(3, steps: 3)
    different.symmetric = false
    #expect(try Explorer()(different).schedules == 1680)
  }

  /// The cases in which a design must be clean: tasks, limit, whether cancelling is a choice.
  static let smallCases = [(2, 1, true), (3, 1, false), (3, 2, false)]

  @Test(arguments: RealLimiter.allCases, smallCases)
  func `the limiters keep their promises in every schedule of small cases`(
    limiter: RealLimiter,
    small: (tasks: Int, limit: Int, cancellable: Bool)
  ) throws {
    let verdict = try Explorer()(limiter.scenario(small.tasks, small.limit, small.cancellable))
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found == nil)
    #expect(verdict.failed == 0)
    #expect(verdict.tasksLost == 0)
  }

  @Test(
    arguments: [
      (Flaw.none, nil, 3, true), (.checksThenActs, .overAdmission, 2, false),
      (.checksThenParks, .lostWakeUp, 2, false), (.keepsPermitOnError, .permitLeak, 1, false),
      (.barges, .order, 3, false), (.resumesTwice, .doubleResume, 2, true),
      (.admitsCancelled, .overAdmission, 2, true), (.losesPermitToCancelled, .permitLeak, 2, true),
    ] as [(Flaw, Violation.Kind?, Int, Bool)]
  )
  func `each flaw is found by every strategy, and none where there is none`(
    flaw: Flaw,
    kind: Violation.Kind?,
    tasks: Int,
    cancellable: Bool
  ) throws {
    let scenario = Scenario.semaphore(flaw, tasks: tasks, limit: 1, cancellable: cancellable)
    let exhaustive = try Explorer()(scenario)
    #expect(exhaustive.coverage == .exhaustive)
    guard let kind else {
      #expect(exhaustive.found == nil)
      return
    }
    #expect(exhaustive.failures[kind] != nil, "\(exhaustive.failures)")
    for seed in 1...20 as ClosedRange<UInt64> {
      for strategy in [Explorer.Strategy.random, .pct(depth: 3)] {
        var exploration = Explorer(strategy: strategy, schedules: 10_000, seed: seed)
        exploration.stopsAtViolation = true
        let verdict = try exploration(scenario)
        #expect(verdict.found != nil, "\(strategy), seed \(seed)")
        #expect(verdict.coverage == .bounded)
      }
    }
  }

  @Test(arguments: Flaw.allCases.fewUnlessSearching { $0 != .checksThenActs })
  func `the reduced search finds what the unreduced one finds`(flaw: Flaw) {
    for (tasks, limit, cancellable) in [(2, 1, false), (2, 1, true), (3, 1, false), (3, 2, false)] {
      let scenario = Scenario.semaphore(flaw, tasks: tasks, limit: limit, cancellable: cancellable)
      let reduced = Summary(of: scenario, reduction: .full)
      let unreduced = Summary(of: scenario, reduction: tasks > 2 ? .wakingOnly : .none)
      #expect(reduced.violations == unreduced.violations)
      #expect(reduced.clean == unreduced.clean)
      #expect(reduced.schedules < unreduced.schedules || tasks == 1)
    }
  }

  @Test(arguments: RealLimiter.allCases, smallCases)
  func `the reduced search agrees with the unreduced one on the limiters`(
    limiter: RealLimiter,
    small: (tasks: Int, limit: Int, cancellable: Bool)
  ) {
    let scenario = limiter.scenario(small.tasks, small.limit, small.cancellable)
    let reduced = Summary(of: scenario, reduction: .full)
    let unreduced = Summary(of: scenario, reduction: small.tasks > 2 ? .wakingOnly : .none)
    #expect(reduced.violations == [])
    #expect(unreduced.violations == [])
    #expect(reduced.clean == unreduced.clean)
    #expect(reduced.schedules < unreduced.schedules)
  }

  @Test func `bodies that wait for each other are a deadlock, with those behind named`() throws {
    // Each body asks for a second permit of a limiter of one.
    let scenario = Scenario("nested", tasks: 2, limit: 1) { context in
      let limiter = Semaphore(limit: 1, flaw: .none, context: context)
      return ScenarioInstance(body: { task in
        context.report(.arrived, of: task)
        try? await limiter.run(task) {
          context.report(.admitted, of: task)
          try await limiter.run(task) {}
          context.report(.finished, of: task)
        }
      })
    }
    let verdict = try Explorer()(scenario)
    #expect(verdict.failed == verdict.schedules)
    #expect(verdict.found?.violation.kind == .deadlock)
    #expect(verdict.found?.violation.message == "t01 in service can never go on, and t02 behind")
  }

  @Test func `a task overtaken more often than promised starves`() throws {
    var scenario = Scenario.semaphore(.barges, tasks: 4, limit: 1, cancellable: false)
    scenario.promises = Scenario.Promises(overtakingBound: 1)
    #expect(try Explorer()(scenario).failures[.overtaken] != nil)
    scenario.promises.overtakingBound = 2
    #expect(try Explorer()(scenario).failures[.overtaken] == nil)
  }

  @Test func `the same seed finds the same, another seed another schedule`() throws {
    let scenario = Scenario.semaphore(.checksThenParks, tasks: 3, limit: 1, cancellable: false)
    func first(_ strategy: Explorer.Strategy, _ seed: UInt64) throws -> Verdict {
      try Explorer(strategy: strategy, schedules: 2000, seed: seed)(scenario)
    }
    for strategy in [Explorer.Strategy.random, .pct(depth: 2)] {
      let one = try first(strategy, 7)
      let again = try first(strategy, 7)
      #expect(one.found == again.found)
      #expect((one.steps, one.failed) == (again.steps, again.failed))
      #expect(try first(strategy, 8).steps != one.steps)
    }
  }

  @Test func `a bound on schedules makes the coverage bounded`() throws {
    let verdict = try Explorer(schedules: 10)(strangers(3, steps: 3))
    #expect(verdict.schedules == 10)
    #expect(verdict.coverage == .bounded)
  }

  @Test func `schedules that never end are given up and counted`() throws {
    let scenario = Scenario("spin", tasks: 1) { _ in
      ScenarioInstance(body: { _ in while !Task.isCancelled { await Task.yield() } })
    }
    let verdict = try Explorer(longest: 50)(scenario)
    #expect(verdict.coverage == .bounded)
    #expect(verdict.givenUp == verdict.schedules)
    #expect(verdict.tasksLost == 0)
  }

  @Test func `an exploration can be stopped from outside`() throws {
    var asked: [Int] = []
    let verdict = try Explorer()(strangers(4, steps: 4)) { progress in
      asked.append(progress.schedules)
      return asked.count == 3
    }
    #expect(verdict.wasInterrupted)
    #expect(verdict.coverage == .bounded)
    #expect(verdict.schedules == asked.last)
  }

  @Test func `a scenario that leaves the executor is refused`() {
    let scenario = Scenario("escapes", tasks: 1) { _ in
      ScenarioInstance(body: { _ in await onOwnThread {} })
    }
    #expect(throws: ExplorationError.escapes(scenario: "escapes")) {
      // Another thread resumes the body, at some time.
      for _ in 0..<1_000_000 { _ = try Explorer()(scenario) }
    }
  }

  @Test func `plain and detached tasks are explored too`() throws {
    var scenario = Scenario("plain", tasks: 2, limit: 1) { context in
      let semaphore = Semaphore(limit: 1, flaw: .none, context: context)
      return ScenarioInstance(
        body: { task in
          context.report(.arrived, of: task)
          await Task {
            try? await semaphore.run(task) {
              context.report(.admitted, of: task)
              await Task.detached { try? await context.pause() }.value
              context.report(.finished, of: task)
            }
          }.value
        },
        permitsInUse: { semaphore.permitsInUse }
      )
    }
    scenario.promises = .init(order: false)
    let verdict = try Explorer(schedules: 5_000)(scenario)
    #expect(verdict.found?.violation == nil)
    #expect(verdict.schedules == 5_000)
  }

  @Test func `a scenario may start tasks while it is made, and they are not simulated tasks`()
    throws
  {
    let scenario = Scenario("eager", tasks: 2, limit: 1) { context in
      let (jobs, inlet) = AsyncStream<CheckedContinuation<Void, Never>>.makeStream()
      let drain = Task(executorPreference: context.executor) {
        for await job in jobs { job.resume() }
      }
      return ScenarioInstance(body: { task in
        context.report(.arrived, of: task)
        await withCheckedContinuation { _ = inlet.yield($0) }
        context.report(.admitted, of: task)
        context.report(.finished, of: task)
        if drain.isCancelled { context.report(.rejected, of: task) }
      })
    }
    let verdict = try Explorer()(scenario)
    #expect(verdict.found == nil)
    #expect(verdict.coverage == .exhaustive)
    let helper = try Stepper(scenario).options.map(\.choice.text)
    #expect(helper == ["3", "1", "2"])
  }

  @Test func `more options than can be kept account of are refused, and fine at random`() throws {
    var many = strangers(65, steps: 2)
    many.symmetric = false
    let error = ExplorationError.tooWide(scenario: "strangers", options: 65)
    #expect(throws: error) { _ = try Explorer()(many) }
    #expect(try Explorer(strategy: .random, schedules: 5)(many).steps == 5 * 65 * 3)
  }

  @Test func `a scenario that remembers earlier schedules is refused`() {
    let count = Mutex(0)
    let scenario = Scenario("moody", tasks: 2) { context in
      let mood = count.withLock { count in
        count += 1
        return count
      }
      return ScenarioInstance(body: { _ in for _ in 0..<(mood % 3) { try? await context.pause() } })
    }
    #expect(throws: ExplorationError.diverges(scenario: "moody")) {
      _ = try Explorer()(scenario)
    }
  }

  @Test func `nothing of a schedule is kept when it has ended, however it ended`() throws {
    let before = Semaphore.alive.load(ordering: .relaxed)
    for flaw in Flaw.allCases {
      let scenario = Scenario.semaphore(flaw, tasks: 2, limit: 1, cancellable: true)
      #expect(try Explorer()(scenario).tasksLost == 0, "\(flaw)")
    }
    #expect(Semaphore.alive.load(ordering: .relaxed) == before)
  }
}

/// The limiters under study, as scenarios.
enum RealLimiter: String, CaseIterable {
  case limiter
  case pool
  case fifoQueue

  private final class Element: Sendable {}

  func scenario(_ tasks: Int, _ limit: Int, _ cancellable: Bool) -> Scenario {
    switch self {
    case .limiter:
      .visits(
        rawValue,
        tasks: tasks,
        limit: limit,
        cancellable: cancellable,
        make: { limit, _ in ConcurrencyLimiter(concurrency: limit) },
        permitsInUse: { $0.running },
        enter: { limiter, _, body in try await limiter.run(body) }
      )
    case .pool:
      .visits(
        rawValue,
        tasks: tasks,
        limit: limit,
        cancellable: cancellable,
        make: { limit, _ in AsyncPool(maxElements: limit) { Element() } },
        permitsInUse: { $0.lent },
        enter: { pool, _, body in try await pool.withElement { _ in try await body() } }
      )
    case .fifoQueue:
      .visits(
        rawValue,
        tasks: tasks,
        limit: 1,
        cancellable: cancellable,
        make: { _, context in FIFOQueue(executor: context.executor) },
        permitsInUse: { $0.isRunning ? 1 : 0 },
        enter: { queue, _, body in try await queue.enqueueAndWait(body) }
      )
    }
  }
}
