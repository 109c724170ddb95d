import TestSupport
import Testing

@testable import Experiments
@testable import Mechanisms

/// OperationQueue and GCD as models of a platform, in virtual time.
@Suite(.watched) struct PlatformModelTests {
  private static let modelled = ["operation-queue", "gcd-semaphore", "gcd-gate"]

  private func run(
    _ id: String,
    _ platform: Platform,
    limit: Int,
    processors: Int = 2,
    _ workload: Workload,
    controls: [(at: Int64, control: Experiment.Control)] = []
  ) async throws -> Run {
    let entry = try #require(Catalogue.entry(id)?.model(of: platform))
    let experiment = Experiment(
      mechanism: entry,
      limit: limit,
      workload: workload,
      workers: processors,
      controls: controls
    )
    try experiment.check()
    let run = VirtualRun(experiment)
    run.submit(workload)
    return await run.finish()
  }

  private func summary(_ run: Run) -> RunSummary {
    RunSummary(events: run.events, facts: run.facts, permitsLeft: run.permitsLeft)
  }

  private static let blocking = Workload(
    count: 100,
    service: .fixed(100_000_000),
    kind: .block,
    seed: 1
  )

  /// As measured on two processors: 3.2 s instead of 1.3 s.
  @Test func `a hundred blocking operations at limit 8 take what they take on Linux`() async throws
  {
    let linux = summary(try await run("operation-queue", .linux, limit: 8, Self.blocking))
    // The pool is looked at a nanosecond after each second.
    #expect((3_200_000_000...3_200_000_010).contains(linux.makespan))
    #expect(linux.peakRunning == 5)
    let apple = summary(try await run("operation-queue", .apple, limit: 8, Self.blocking))
    #expect(apple.makespan == 1_300_000_000)
    #expect(apple.peakRunning == 8)
  }

  @Test func `waiting in the block takes a thread each on Apple's, and seconds on Linux's`()
    async throws
  {
    var workload = Self.blocking
    workload.count = 20
    let apple = summary(try await run("gcd-semaphore", .apple, limit: 4, workload))
    #expect(apple.threadsPeak == 20)
    #expect(apple.blockedPeak == 16)
    #expect(apple.makespan == 500_000_000)
    let linux = summary(try await run("gcd-semaphore", .linux, limit: 4, workload))
    #expect(linux.threadsPeak == 2)
    #expect(linux.makespan == 1_000_000_000)
    let gate = summary(try await run("gcd-gate", .apple, limit: 4, workload))
    #expect(gate.threadsPeak == 5)
    #expect(gate.blockedPeak == 1)
  }

  @Test(arguments: modelled, Platform.allCases)
  func `every task ends, the limit holds, and the log breaks no promise`(
    id: String,
    platform: Platform
  ) async throws {
    for seed in UInt64(1)...(searchesRun ? 12 : 4) {
      for kind in [ServiceKind.block, .spin, .suspend, .download] {
        var workload = Workload(
          count: 40,
          service: .exponential(mean: 20_000_000),
          kind: kind,
          seed: seed
        )
        if seed.isMultiple(of: 2) { workload.cancellations = .share(percent: 25) }
        workload.failPercent = seed.isMultiple(of: 3) ? 20 : 0
        if seed.isMultiple(of: 4) { workload.arrivals = .every(7_000_000) }
        if id == "operation-queue" { workload.priorities = .mixed }
        let limit = Int(1 + seed % 5)
        let run = try await run(id, platform, limit: limit, processors: Int(1 + seed % 4), workload)
        let summary = summary(run)
        #expect(run.stoppedBecause == nil)
        #expect(summary.unended.isEmpty)
        #expect(summary.violations.isEmpty, "\(summary.violations), seed \(seed), \(kind)")
        #expect(summary.peakRunning <= limit)
        #expect(run.permitsLeft == 0)
      }
    }
  }

  @Test func `a modelled operation queue changes its limit, stops, and heeds urgency`() async throws
  {
    let controls: [(at: Int64, control: Experiment.Control)] = [
      (50_000_000, .changeLimit(3)), (150_000_000, .suspend), (450_000_000, .resume),
    ]
    var workload = Self.blocking
    workload.count = 12
    workload.priorities = .mixed
    let run = try await run(
      "operation-queue",
      .apple,
      limit: 1,
      processors: 4,
      workload,
      controls: controls
    )
    let admissions = run.events.filter { $0.kind == .admitted }
    #expect(admissions.count == 12)
    #expect(!admissions.contains { (150_000_001..<450_000_000).contains($0.time) })
    #expect(summary(run).peakRunning == 3)
    let late = admissions.dropFirst().map { run.plan[Int($0.task.number) - 1].priority }
    let urgencies = late.map { ServicePriority.allCases.firstIndex(of: $0) ?? 0 }
    #expect(urgencies == urgencies.sorted(by: >))
  }

  @Test(arguments: modelled)
  func `a model that is stopped ends`(id: String) async throws {
    let entry = try #require(Catalogue.entry(id)?.model(of: .linux))
    let run = VirtualRun(
      Experiment(mechanism: entry, limit: 8, workload: Self.blocking, workers: 2)
    )
    run.submit(Self.blocking)
    _ = await run.advance(by: 1_500_000_000)
    run.stop(because: "asked to")
    let stopped = await run.finish()
    #expect(stopped.stoppedBecause == "asked to")
    #expect(summary(stopped).unended.isEmpty)
  }

  @Test func `a model runs in virtual time only`() throws {
    let entry = try #require(Catalogue.entry("gcd-gate")?.model(of: .apple))
    for clock in [Experiment.ClockChoice.real] {
      let experiment = Experiment(mechanism: entry, limit: 1, workload: Self.blocking, clock: clock)
      #expect(throws: ExperimentError.self) { try experiment.check() }
    }
    #expect(Catalogue.entry("limiter")?.model(of: .apple) == nil)
    #expect(CatalogueEntry.model(named: entry.id)?.platform == .apple)
  }
}
