import Basics
import Experiments
import Mechanisms
import TestSupport
import Testing
import Tracing
import Workloads

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
