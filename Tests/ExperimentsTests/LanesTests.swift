import Experiments
import Mechanisms
import TestSupport
import Testing
import WorkStealing

@Suite(.watched) struct `A run on lanes` {
  private static let asynchronous = Catalogue.mechanisms.filter { $0.profile.clock == .any }

  private static func experiment(
    _ entry: CatalogueEntry,
    clock: Experiment.ClockChoice = .auto
  ) -> Experiment {
    let work = ServiceTime.fixed(200_000)
    return Experiment(
      mechanism: entry,
      limit: 3,
      workload: Workload(count: 24, service: work, kind: .suspend, seed: 1),
      clock: clock,
      executor: .lanes(workers: 2)
    )
  }

  @Test func `carries every task of every asynchronous mechanism on its workers`() async {
    for entry in Self.asynchronous {
      let experiment = Self.experiment(entry)
      #expect(experiment.resolvedClock == .real)
      let wall = WallRun(experiment)
      wall.submit(experiment.workload)
      let run = await wall.finish()
      #expect(run.events.count { $0.kind == .finished } == 24, "\(entry.id)")
      #expect(RunSummary(events: run.events, facts: run.facts).violations.isEmpty, "\(entry.id)")
      #expect(run.workers == 2)
      // Each task begins there.
      #expect(run.lanes.map { $0.jobs >= 24 } == true, "\(entry.id)")
    }
  }

  @Test func `says which steps came from the slot, and without another worker none is stolen`()
    async throws
  {
    let entry = try #require(Catalogue.entry("limiter"))
    let workload = Workload(count: 24, service: .fixed(200_000), kind: .suspend, seed: 1)
    let experiment = Experiment(
      mechanism: entry,
      limit: 1,
      workload: workload,
      executor: .lanes(workers: 1)
    )
    let wall = WallRun(experiment)
    wall.submit(workload)
    let run = await wall.finish()
    // A departing task wakes the first in line, which therefore is next.
    #expect(run.events.count { $0.kind == .admitted && $0.route == .slot } >= 12)
    #expect(run.events.allSatisfy { $0.route != .stolen })
    #expect(run.lanes?.steals == 0)
  }

  @Test func `is refused where a mechanism has its own threads, and in virtual time`() throws {
    let owner = try #require(Catalogue.mechanisms.first { $0.profile.clock == .real })
    #expect(throws: ExperimentError.self) { try Self.experiment(owner).check() }
    let entry = try #require(Self.asynchronous.first)
    #expect(throws: ExperimentError.self) { try Self.experiment(entry, clock: .virtual).check() }
    try Self.experiment(entry).check()
  }
}
