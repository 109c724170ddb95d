import Experiments
import Exploration
import Mechanisms
import TestSupport
import Testing

/// What verdicts do not speak of: one list, wherever a verdict is told.
@Suite(.watched) struct NotAskedTests {
  private static func report(
    _ id: String,
    inside: Bool,
    tasks: Int? = nil,
    _ plan: ExplorationPlan
  ) async throws -> ExplorationReport {
    var scenario = ExplorationScenario(try #require(Catalogue.entry(id)))
    (scenario.inside, scenario.tasks) = (inside, tasks ?? scenario.tasks)
    return try await scenario.explore(plan)
  }

  private static let ofLocks = [
    "orders inside synchronous code elsewhere than at its ExplorableSynchronization",
    "switches between an unlock and the next operation",
  ]
  private static let ofActors = [
    "steps of others between two jobs that an actor runs in one turn",
    "steps of others where a task leaves an actor and goes on at once",
  ]
  private static let always = "data races and weak memory"

  @Test func `the lab names what it did not ask`() async throws {
    let limiter = try await Self.report(
      "limiter",
      inside: true,
      tasks: 2,
      ExplorationPlan(preemptions: 1)
    )
    #expect(limiter.isExhaustive)
    #expect(limiter.notAsked.contains("more than 1 pre-emption"))
    for phrase in Self.ofLocks + [Self.always] {
      #expect(limiter.notAsked.contains(phrase), "\(limiter.notAsked)")
    }
    let queue = try await Self.report("actor-queue", inside: false, ExplorationPlan())
    for phrase in Self.ofActors + ["orders inside synchronous code", Self.always] {
      #expect(queue.notAsked.contains(phrase), "\(queue.notAsked)")
    }
    let drawn = try await Self.report(
      "limiter",
      inside: false,
      ExplorationPlan(strategy: .random, schedules: 5)
    )
    #expect(drawn.notAsked.contains("schedules that chance did not choose"))
    let cut = try await Self.report("limiter", inside: false, ExplorationPlan(schedules: 5))
    #expect(cut.notAsked.contains("schedules behind the first 5"))
    // A task of the mechanism's own may begin later than it could.
    let ordered = try await Self.report(
      "task-group",
      inside: false,
      ExplorationPlan(schedules: 5)
    )
    #expect(
      ordered.notAsked.contains {
        $0.hasPrefix("a task that begins before the code that starts it")
      }
    )
    #expect(!limiter.notAsked.contains { $0.hasPrefix("a task that begins") })
  }

  private actor Counter {
    var value = 0
    func add() { value += 1 }
  }

  @Test func `the library says the same of the same, in the same words`() throws {
    let verdict = try Exploration.explore("additions", preemptions: 1) {
      let counter = Counter()
      let gate = VirtualClock()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { await counter.add() } }
      }
      try await gate.sleep(for: .seconds(1))
    }
    for phrase in [
      "more than 1 pre-emption", Self.always,
      "atomics and locks of Synchronization, in code built without the instrumentation",
      "a task that begins before the code that starts it",
      "switches inside synchronous code elsewhere than at its locks and atomics",
    ] {
      #expect(verdict.notCovered.contains { $0.hasPrefix(phrase) }, "\(phrase): \(verdict)")
    }
  }
}
