import Basics
import Experiments
import Mechanisms
import TestSupport
import Testing

@Suite(.watched) struct `A run on the wall clock` {
  private static let hour: Int64 = 3_600_000_000_000

  /// Would time out if the run waited for what is left of its agenda.
  @Test func `ends with its last task, whatever was to be cancelled or changed later`() async throws
  {
    let entry = try #require(Catalogue.entry("limiter"))
    let workload = Workload(
      count: 3,
      service: .fixed(1_000),
      kind: .suspend,
      cancellations: .chosen([1: Self.hour, 3: 2 * Self.hour]),
      seed: 1
    )
    let experiment = Experiment(
      mechanism: entry,
      limit: 2,
      workload: workload,
      clock: .real,
      controls: [(Self.hour, .changeLimit(1))]
    )
    let wall = WallRun(experiment)
    wall.submit(workload)
    let run = await wall.finish()
    #expect(run.events.count { $0.kind == .finished } == 3)
    #expect(run.stoppedBecause == nil)
    #expect(RunSummary(events: run.events, facts: run.facts).violations.isEmpty)
  }

  @Test func `does not ask for a completion when all has ended already`() async throws {
    let entry = try #require(Catalogue.entry("gcd-gate"))
    let workload = Workload(count: 3, service: .fixed(1_000), kind: .block, seed: 1)
    let wall = WallRun(Experiment(mechanism: entry, limit: 2, workload: workload, clock: .real))
    wall.submit(workload)
    while wall.unended > 0 { await Moment.pass() }
    #expect(await wall.finish().completion == nil)
  }

  /// Whoever looks at the run to its end asks for the completion at its beginning.
  @Test func `a completion asked for while tasks run is told after all have ended`() async throws {
    let entry = try #require(Catalogue.entry("gcd-gate"))
    let workload = Workload(count: 3, service: .fixed(20_000_000), kind: .block, seed: 1)
    let wall = WallRun(Experiment(mechanism: entry, limit: 2, workload: workload, clock: .real))
    wall.submit(workload)
    wall.expectEnd()
    while wall.unended > 0 { await Moment.pass() }
    let run = await wall.finish()
    let lastEnd = run.events.filter { $0.kind.isEnd }.map(\.time).max() ?? .max
    #expect(try #require(run.completion) >= lastEnd)
    // Of tasks given later it says nothing.
    let joined = WallRun(Experiment(mechanism: entry, limit: 2, workload: workload, clock: .real))
    joined.submit(workload)
    joined.expectEnd()
    joined.submit(workload)
    while joined.unended > 0 { await Moment.pass() }
    #expect(await joined.finish().completion == nil)
  }

  @Test(arguments: ["limiter", "task-group", "fifo-queue", "pool"], 1...5)
  func `a run that is stopped cancels those who wait before those who run`(
    _ mechanism: String,
    _ repetition: Int
  ) async throws {
    let entry = try #require(Catalogue.entry(mechanism))
    let limit = mechanism == "fifo-queue" ? 1 : 2
    let workload = Workload(count: 30, service: .fixed(Self.hour), kind: .suspend, seed: 1)
    let wall = WallRun(
      Experiment(mechanism: entry, limit: limit, workload: workload, clock: .real)
    )
    wall.submit(workload)
    var cursor = TraceRecorder.Cursor()
    var seen: [TraceEvent] = []
    while seen.count(where: { $0.kind == .arrived }) < 30
      || seen.count(where: { $0.kind == .admitted }) < limit
    {
      await Moment.pass()
      seen += wall.events(since: &cursor)
    }
    wall.stop(because: "a test")
    let run = await wall.finish()
    let summary = RunSummary(events: run.events, facts: run.facts)
    #expect(summary.cancelledWhileRunning == limit)
    #expect(summary.cancelledWhileWaiting == 30 - limit)
  }

  @Test func `still cancels what waits when nothing else is left to do`() async throws {
    let entry = try #require(Catalogue.entry("limiter"))
    let workload = Workload(
      count: 2,
      service: .fixed(Self.hour),
      kind: .suspend,
      cancellations: .chosen([1: 2_000_000, 2: 1_000_000]),
      seed: 1
    )
    let experiment = Experiment(mechanism: entry, limit: 1, workload: workload, clock: .real)
    let wall = WallRun(experiment)
    wall.submit(workload)
    let run = await wall.finish()
    let summary = RunSummary(events: run.events, facts: run.facts)
    #expect(summary.cancelledWhileWaiting == 1)
    #expect(summary.cancelledWhileRunning == 1)
  }
}
