import Experiments
import Mechanisms
import TestSupport
import Testing

/// Real work through the lab's mechanisms: what the server, the disk and the database counted, and the trace.
@Suite(.watched, .serialized) struct `A run of real work` {
  private func run(
    _ mechanism: String,
    _ kind: ServiceKind,
    _ count: Int,
    limit: Int = 4,
    service: Int64 = 2_000_000,
    cancelPercent: Double = 0,
    failPercent: Double = 0,
    serverCapacity: Int? = nil
  ) async throws -> (run: Run, summary: RunSummary) {
    let entry = try #require(Catalogue.entry(mechanism))
    let workload = Workload(
      count: count,
      service: .fixed(service),
      kind: kind,
      cancellations: .share(percent: cancelPercent),
      failPercent: failPercent,
      seed: 7
    )
    let experiment = Experiment(
      mechanism: entry,
      limit: limit,
      workload: workload,
      serverCapacity: serverCapacity
    )
    try experiment.check()
    let run = WallRun(experiment)
    run.submit(workload)
    let finished = await run.finish()
    let summary = RunSummary(
      events: finished.events,
      facts: finished.facts,
      permitsLeft: finished.permitsLeft
    )
    #expect(summary.violations.isEmpty)
    #expect(finished.stoppedBecause == nil)
    return (finished, summary)
  }

  @Test(arguments: [ServiceKind.copy, .fetch])
  func
    `a server that takes four refuses some of sixty without a limit, and none at a limit of four`(
      kind: ServiceKind
    ) async throws
  {
    // Long enough that all have asked before one has been answered.
    let (free, freely) = try await run(
      "none",
      kind,
      60,
      service: 100_000_000,
      serverCapacity: 4
    )
    #expect(try #require(free.work[.requestsRefused]) > 0)
    #expect(freely.failed > 0)
    #expect(try #require(free.work[.peakRequests]) <= 4)
    let (limited, summary) = try await run("limiter", kind, 60, limit: 4, serverCapacity: 4)
    #expect(limited.work[.requestsRefused] == 0)
    #expect(summary.finished == 60)
  }

  @Test func `a server's capacity is refused for work that asks no server`() throws {
    let entry = try #require(Catalogue.entry("limiter"))
    let workload = Workload(count: 3, service: .fixed(1_000_000), kind: .query, seed: 1)
    let experiment = Experiment(
      mechanism: entry,
      limit: 1,
      workload: workload,
      serverCapacity: 2
    )
    let error = #expect(throws: ExperimentError.self) { try experiment.check() }
    #expect(error?.description.contains("kind=query asks no server") == true)
  }

  @Test(arguments: ["limiter", "pool", "task-group", "operation-queue", "gcd-gate"])
  func `fetches each image once, and never more at once than the limit`(mechanism: String)
    async throws
  {
    let (run, summary) = try await run(mechanism, .fetch, 200)
    let different = Set(run.plan.map(\.item)).count
    #expect(summary.finished == 200)
    #expect(run.work[.imagesServed] == different)
    #expect(run.work[.mostTransfers] == 1)
    #expect(run.work[.misses] == different)
    #expect((run.work[.hits] ?? 0) + (run.work[.joins] ?? 0) == 200 - different)
    #expect(try #require(run.work[.peakRequests]) <= 4)
    #expect(run.work[.bytesKept] == run.work[.bytesServed])
    #expect(run.work[.filesKept] == different)
    #expect(summary.peakRunning <= 4)
    let answers = run.events.filter { if case .answered = $0.kind { true } else { false } }
    #expect(answers.count == 200)
  }

  @Test(arguments: [
    "limiter", "pool", "task-group", "operation-queue", "gcd-gate",
  ])
  func `loses no permit and leaves no partial file when tasks are cancelled and requests fail`(
    mechanism: String
  ) async throws {
    let (run, summary) = try await run(
      mechanism,
      .fetch,
      300,
      service: 5_000_000,
      cancelPercent: 60,
      failPercent: 10
    )
    #expect(summary.cancelled > 0)
    #expect(summary.finished + summary.failed + summary.cancelled == 300)
    #expect(run.permitsLeft == 0)
    #expect(run.work[.partialFiles] == 0)
    #expect(try #require(run.work[.peakRequests]) <= 4)
  }

  @Test(arguments: ["limiter", "pool", "task-group", "operation-queue", "gcd-gate", "fifo-queue"])
  func `queries a pool of databases and loses no write`(mechanism: String) async throws {
    let (run, summary) = try await run(mechanism, .query, 60, cancelPercent: 20, failPercent: 5)
    #expect(summary.finished > 0)
    #expect(run.work[.writesLost] == 0)
    #expect(try #require(run.work[.connectionsOpened]) <= 5)
    #expect(run.permitsLeft == 0)
  }

  @Test(arguments: ["limiter", "task-group", "gcd-gate"])
  func `copies files with progress, and those that are cancelled leave a part at most`(
    mechanism: String
  ) async throws {
    let (whole, summary) = try await run(mechanism, .copy, 12)
    #expect(summary.finished == 12)
    #expect(whole.work[.filesKept] == 12)
    #expect(whole.work[.bytesKept] == whole.work[.bytesServed])
    for life in TaskLife.all(in: whole.events, tasks: 12) { #expect(life.progress == 100) }
    let (cut, _) = try await run(mechanism, .copy, 12, service: 40_000_000, cancelPercent: 60)
    #expect(cut.permitsLeft == 0)
    #expect(try #require(cut.work[.peakRequests]) <= 4)
  }

  @Test(arguments: ServiceKind.allCases.filter(\.isReal))
  func `is refused in virtual time, in words that help`(kind: ServiceKind) throws {
    let entry = try #require(Catalogue.entry("limiter"))
    let workload = Workload(count: 1, service: .fixed(1), kind: kind)
    let experiment = Experiment(mechanism: entry, limit: 1, workload: workload, clock: .virtual)
    let error = #expect(throws: ExperimentError.self) { try experiment.check() }
    #expect(error?.description.contains("Leave clock= out") == true)
    #expect(Experiment(mechanism: entry, limit: 1, workload: workload).resolvedClock == .real)
  }
}
