import Experiments
import Mechanisms
import TestSupport
import Testing

/// Virtual time is exact: a run is a queue out of the textbook, to the nanosecond.
@Suite(.watched) struct QueueingTheoryTests {
  static let service: Int64 = 20 * milliseconds

  /// Poisson arrivals and exponential service at utilisation `load`.
  static func run(_ id: String, servers: Int, load: Double, count: Int) async throws -> Run {
    let perSecond = load * Double(servers) * 1e9 / Double(service)
    let workload = Workload(
      count: count,
      service: .exponential(mean: service),
      arrivals: .poisson(perSecond: perSecond),
      seed: 3
    )
    return await (try Experiment.virtual(id, limit: servers, workload)).run()
  }

  @Test(arguments: [
    ("limiter", 1), ("limiter", 4), ("pool", 4), ("task-group", 4), ("fifo-queue", 1),
  ])
  func `every wait is what first come, first served makes of the arrivals and services`(
    id: String,
    servers: Int
  ) async throws {
    for load in [0.5, 0.8, 0.95] {
      let run = try await Self.run(id, servers: servers, load: load, count: 2_000)
      // Kiefer and Wolfowitz: the earliest of the servers takes the next task.
      var free = Array(repeating: Int64.min, count: servers)
      let expected = run.plan.map { task -> Int64 in
        let next = free.indices.min { free[$0] < free[$1] } ?? 0
        let start = max(task.arrival, free[next])
        free[next] = start + task.service
        return start - task.arrival
      }
      let lives = run.lives
      #expect(lives.map(\.waiting) == expected, "load \(load)")
      #expect(lives.map(\.service) == run.plan.map(\.service))
      #expect(lives.map(\.arrived) == run.plan.map(\.arrival))
      #expect(expected.contains { $0 > 0 })
    }
  }

  @Test(arguments: ["limiter", "pool", "task-group"])
  func `the tasks present, added up over time, are the time each was present, exactly`(
    id: String
  ) async throws {
    let run = try await Self.run(id, servers: 4, load: 0.8, count: 2_000)
    // One counter knows no tasks, only how many are there; the other no time but each task's own.
    var present: (all: Int64, waiting: Int64) = (0, 0)
    var area: (all: Int64, waiting: Int64) = (0, 0)
    var before: Int64 = 0
    for event in run.events {
      area.all += present.all * (event.time - before)
      area.waiting += present.waiting * (event.time - before)
      before = event.time
      switch event.kind {
      case .arrived: (present.all, present.waiting) = (present.all + 1, present.waiting + 1)
      case .admitted: present.waiting -= 1
      case .finished: present.all -= 1
      default: Issue.record("\(event)")
      }
    }
    #expect(present == (0, 0))
    #expect(area.all == run.lives.compactMap(\.response).reduce(0, +))
    #expect(area.waiting == run.lives.compactMap(\.waiting).reduce(0, +))
  }

  @Test func `the mean wait is near Erlang's at half load`() async throws {
    // Few enough for a debug build; the spread of the mean over seeds is then some 4 %.
    let run = try await Self.run("limiter", servers: 4, load: 0.5, count: 20_000)
    let waits = run.lives.compactMap(\.waiting)
    let mean = Double(waits.reduce(0, +)) / Double(waits.count)
    // C(4, 2) = 4/23; the wait is C·S/(c(1 − ρ)).
    let erlang = 4.0 / 23 * Double(Self.service) / (4 * (1 - 0.5))
    #expect(abs(mean / erlang - 1) < 0.12, "mean \(mean), Erlang C \(erlang)")
  }
}
