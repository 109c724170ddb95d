internal import Mechanisms
internal import Tracing
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
  into report: inout TrialReport,
  work: (@Sendable (_ number: Int) -> Visit.Work)? = nil,
  as change: (inout ClosedLoop) -> Void = { _ in }
) async {
  if trial.profile.inBatches {
    return await measureBatches(trial, world: world, into: &report, work: work)
  }
  let mechanism = trial.makeMechanism()
  let budget = trial.request.budget
  // A quarter of a million visits is enough for any percentile here, and bounds the memory.
  var loop = ClosedLoop(
    workers: workers,
    visitsEach: max(1, 250_000 / workers),
    kind: trial.kind,
    world: world,
    work: work
  )
  change(&loop)
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
  report.add(.handOff, of: statistics.handOffs(limit: trial.promisedLimit))
  report.check(log, mechanism, limit: trial.promisedLimit, expected: stamped.total)

  var short = loop
  // Real work takes a hundred times as long, and allocates so much that fewer tell it as well.
  short.visitsEach = max(1, (work == nil ? 2_000 : 200) / workers)
  await report.countAllocations(operations: workers * short.visitsEach) {
    _ = await short.run(on: mechanism)
  }
}

/// The same for a mechanism whose users give it a batch rather than visit it again and again: the cost
/// of a body, and the hand-off from one to the next.
private func measureBatches(
  _ trial: Trial,
  world: any World,
  into report: inout TrialReport,
  work: (@Sendable (_ number: Int) -> Visit.Work)?
) async {
  let mechanism = trial.makeMechanism()
  let body = BatchBody(
    onThread: { _ in world.block(for: 1) },
    onTask: { index in
      if let work {
        try? await work(index + 1)({ _ in })
      } else {
        try? await world.suspend(for: 1)
      }
    }
  )
  report.serviceKind = trial.kind.rawValue
  await measureRepeated(budget: trial.request.budget, into: &report) { times in
    await mechanism.batch(times, body)
  }
  let count = work == nil ? 10_000 : 1_000
  let log = StampLog(capacity: count)
  for number in 1...count { log.record(.arrived, of: TaskID(number)) }
  let kind = trial.kind
  let stamped = BatchBody(
    onThread: { _ in },
    onTask: { index in
      let task = SimulatedTask(number: index + 1, service: 1, kind: kind)
      let visit = Visit(
        task,
        tracer: log,
        world: world,
        hasArrived: true,
        work: work?(task.number)
      )
      try? await visit.serve()
    }
  )
  await mechanism.batch(count, stamped)
  report.add(.handOff, of: VisitStatistics(log.visits()).handOffs(limit: trial.promisedLimit))
  report.check(log, mechanism, limit: trial.promisedLimit, expected: count)
}
