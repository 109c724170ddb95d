internal import Workloads

/// Seconds that `measureClosedLoop` takes: starting, warming up, and the budget twice.
func closedLoopSeconds(budget: Int64) -> Double { 0.03 + 3 * Double(budget) / 1e9 }

/// Warms up, runs the closed loop for the budget twice, reports and checks.
///
/// Costs are taken from a run that stamps nothing, because what a stamp costs delays the hand-over as
/// well and comes to a third of it; the latencies are taken from a second run, which stamps. The
/// warm-up is as long as either: for some tens of milliseconds after a process has begun, waking its
/// threads takes half as long again as later.
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
  let log = loop.makeLog()
  _ = await loop.run(on: mechanism, for: budget)

  let before = ProcessMetrics.now()
  let bare = await loop.run(on: mechanism, for: budget)
  let total = bare.total
  report.add(.timePerOperation, "mean", Double(bare.elapsed) / Double(total), count: total)
  report.add(.throughput, "mean", Double(total) * 1e9 / Double(bare.elapsed), count: total)
  report.addUsage(since: before, operations: total)
  report.serviceKind = trial.kind.rawValue

  let stamped = await loop.run(on: mechanism, for: budget, tracer: log)
  let statistics = VisitStatistics(log.visits())
  report.add(.waiting, of: statistics.waits)
  report.add(.response, of: statistics.responses)
  if let limit = trial.promisedLimit {
    report.add(.handOff, of: statistics.handOffs(limit: limit))
  }
  report.check(log, mechanism, limit: trial.promisedLimit, expected: stamped.total)

  var short = loop
  short.visitsEach = max(1, 2_000 / workers)
  await report.countAllocations(operations: workers * short.visitsEach) {
    _ = await short.run(on: mechanism)
  }
}
