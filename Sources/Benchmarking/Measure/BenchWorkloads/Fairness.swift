package import Mechanisms

/// How evenly workers get the permits when all want them all the time.
package struct Fairness: PairedWorkload {
  package let id = "fairness"
  package let question =
    "Do tasks get their turns in the order they came, and does each worker get its share?"
  package let needsWaiting = true
  package let roundLength = 2.5
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.waiting, "p99")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    (limits ?? scale.pick(short: [1], standard: [1, 4], full: [1, 4, 16])).map {
      Cell(id, limit: $0, tasks: 64, loop: .closed)
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.makesTasksWait && !mechanism.inBatches && (mechanism.limit != .one || cell.limit == 1)
  }

  package func runner(_ trial: Trial) -> Runner {
    let workers = trial.cell.tasks ?? 64
    let mechanism = trial.makeMechanism()
    let loop = ClosedLoop(workers: workers, visitsEach: 1, kind: trial.kind, world: YieldingWorld())
    return Runner(grain: workers) { times in
      await loop.stampedRound(mechanism, trial, times: times)
    } conclude: { _, report in
      // For a fixed time: after a fixed number of visits all workers would have the same.
      var timed = loop
      timed.visitsEach = 250_000 / workers
      let log = timed.makeLog()
      let outcome = await timed.run(on: mechanism, for: 4 * trial.request.round, tracer: log)
      let statistics = VisitStatistics(log.visits())
      let overtaken = statistics.overtaken()
      let total = outcome.total
      report.add(
        .fairness,
        "mean",
        jainIndex(shares(statistics.visits, of: timed)),
        count: workers
      )
      report.add(.overtakings, "mean", Double(overtaken.count) / Double(total) * 100, count: total)
      report.check(log, mechanism, limit: trial.promisedLimit, expected: total)
      guard trial.request.isFirst else { return }
      report.add(.waiting, of: statistics.waits)
      report.add(.timesOvertaken, of: statistics.timesOvertaken(), inFull: false)
      let waits = VisitStatistics(overtaken).waits
      report.add(.longestOvertakenWait, "max", waits.max().map(Double.init), count: waits.count)
    }
  }

  /// The visits of each worker from when the last of them had come: a worker that the machine started
  /// late was not treated unfairly by the limiter.
  private func shares(_ visits: [StampedVisit], of loop: ClosedLoop) -> [Double] {
    let byWorker = Dictionary(grouping: visits) { ($0.number - 1) / loop.visitsEach }
    let start = byWorker.values.compactMap { $0.map(\.arrival).min() }.max() ?? 0
    return byWorker.values.map { visits in Double(visits.count { $0.arrival >= start }) }
  }
}
