internal import Workloads

/// Two tasks and one permit: every departure hands the permit to the other.
package struct HandOff: BenchWorkload {
  package let id = "hand-off"
  package let question = "How long does a permit take from a departing task to the one that waits?"
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    [Cell(id, limit: 1, tasks: 2, loop: .closed)]
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    await measureClosedLoop(trial, workers: 2, world: YieldingWorld(), into: &report)
  }
}

/// Warms up, runs the closed loop for the budget, reports and checks.
func measureClosedLoop(
  _ trial: Trial,
  workers: Int,
  world: any World,
  into report: inout TrialReport
) async {
  let mechanism = trial.makeMechanism()
  let budget = trial.request.budget
  // A quarter of a million visits is enough for any percentile here, and bounds the memory.
  let loop = ClosedLoop(
    workers: workers,
    visitsEach: max(1, 250_000 / workers),
    kind: trial.kind,
    world: world
  )
  _ = await loop.run(on: mechanism, for: budget / 4, log: loop.makeLog())

  let log = loop.makeLog()
  let before = ProcessMetrics.now()
  let outcome = await loop.run(on: mechanism, for: budget, log: log)
  let total = outcome.total
  report.add(.timePerOperation, "mean", Double(outcome.elapsed) / Double(total), count: total)
  report.add(.throughput, "mean", Double(total) * 1e9 / Double(outcome.elapsed), count: total)
  report.addUsage(since: before, operations: total)
  report.serviceKind = trial.kind.rawValue

  var short = loop
  short.visitsEach = max(1, 2_000 / workers)
  let shortLog = short.makeLog()
  await report.countAllocations(operations: workers * short.visitsEach) {
    _ = await short.run(on: mechanism, log: shortLog)
  }

  let statistics = VisitStatistics(outcome.log.visits())
  report.add(.waiting, of: statistics.waits)
  report.add(.response, of: statistics.responses)
  if let limit = trial.promisedLimit {
    report.add(.handOff, of: statistics.handOffs(limit: limit))
  }
  report.check(outcome.log, mechanism, limit: trial.promisedLimit, expected: total)
}
