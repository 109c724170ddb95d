internal import Mechanisms

/// Workers that send one visit after the other through one mechanism: what the visits cost, and what was
/// promised of them.
///
/// Costs are taken from the adapter's own loop, which stamps nothing: what a stamp costs delays the hand-over as
/// well and comes to a third of it. The latencies and the promises are taken from a run of visits that stamp.
struct ClosedLoopRunner {
  let workers: Int
  let body: MeasuredBody
  /// The same body for visits.
  let world: any World
  /// How urgent the workers are, in turn; none for the priority of who runs the loop.
  var priorities: [TaskPriority] = []

  func runner(_ trial: Trial) -> Runner {
    let mechanism = trial.makeMechanism()
    return .timed(trial) { times in
      await visit(mechanism, times, inBatches: trial.profile.inBatches)
    } conclude: { report in
      report.serviceKind = trial.kind.rawValue
      if trial.profile.inBatches {
        await stampBatch(mechanism, trial, into: &report)
      } else {
        let each = max(1, 2_000 / workers)
        var loop = ClosedLoop(workers: workers, visitsEach: each, kind: trial.kind, world: world)
        loop.priorities = priorities
        await loop.stamp(mechanism, trial, into: &report)
      }
    }
  }

  private func visit(_ mechanism: any Mechanism, _ times: Int, inBatches: Bool) async {
    if inBatches { return await mechanism.measure(times, body) }
    await withDiscardingTaskGroup { group in
      for worker in 0..<workers {
        let priority = priorities.isEmpty ? nil : priorities[worker % priorities.count]
        let share = times / workers + (worker < times % workers ? 1 : 0)
        group.addTask(priority: priority) { await mechanism.measure(share, body) }
      }
    }
  }

  /// The hand-off from one body of a batch to the next.
  private func stampBatch(
    _ mechanism: any Mechanism,
    _ trial: Trial,
    into report: inout TrialReport
  )
    async
  {
    let count = 2_000
    let log = StampLog(capacity: count)
    for number in 1...count { log.record(.arrived, of: TaskID(number)) }
    let (kind, world) = (trial.kind, world)
    let stamped = BatchBody(
      onThread: { _ in },
      onTask: { index in
        let task = SimulatedTask(number: index + 1, service: 1, kind: kind)
        try? await Visit(task, tracer: log, world: world, hasArrived: true).serve()
      }
    )
    await mechanism.batch(count, stamped)
    report.addHandOffs(log, trial)
    report.check(log, mechanism, limit: trial.promisedLimit, expected: count)
  }
}

extension ClosedLoop {
  /// Runs visits that stamp, once, and says how long they waited and whether the promises were kept.
  func stamp(_ mechanism: any Mechanism, _ trial: Trial, into report: inout TrialReport) async {
    let log = makeLog()
    let outcome = await run(on: mechanism, tracer: log)
    if trial.request.isFirst {
      let statistics = VisitStatistics(log.visits())
      report.add(.waiting, of: statistics.waits)
      report.add(.response, of: statistics.responses)
    }
    report.addHandOffs(log, trial)
    report.check(log, mechanism, limit: trial.promisedLimit, expected: outcome.total)
  }

  /// Runs visits that stamp, and says what their waits were: a round whose figure is the wait.
  func stampedRound(_ mechanism: any Mechanism, _ trial: Trial, times: Int) async -> TrialReport {
    var loop = self
    loop.visitsEach = max(1, times / workers)
    let log = loop.makeLog()
    let outcome = await loop.run(on: mechanism, tracer: log)
    var report = TrialReport()
    report.serviceKind = trial.kind.rawValue
    let waits = VisitStatistics(log.visits()).waits.map { max(0, $0) }.sorted()
    if !waits.isEmpty {
      let place = max(0, Int((0.99 * Double(waits.count)).rounded(.up)) - 1)
      report.add(.waiting, "p99", Double(waits[place]), count: waits.count)
    }
    report.check(log, mechanism, limit: trial.promisedLimit, expected: outcome.total)
    return report
  }
}

extension TrialReport {
  /// All of them in the first process, their median in each.
  mutating func addHandOffs(_ log: StampLog, _ trial: Trial) {
    let handOffs = VisitStatistics(log.visits()).handOffs(limit: trial.promisedLimit)
    var all = TrialReport()
    all.add(.handOff, of: handOffs, inFull: false)
    measures += all.measures.filter { $0.stat == "p50" || trial.request.isFirst }
  }
}
