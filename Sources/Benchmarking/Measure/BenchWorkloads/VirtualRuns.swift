internal import Experiments
package import Mechanisms

/// Large runs in virtual time: how much of the reader's own time an hour of tasks takes.
package struct VirtualRuns: BenchWorkload {
  package let id = "virtual-run"
  package let question = "What does one task of a large run in virtual time cost, trace and all?"
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let sizes =
      scale == .ci ? [1_000] : scale.pick(short: [10_000], standard: [20_000], full: [1_000_000])
    return sizes.map { Cell(id, limit: 8, tasks: $0, arrivals: "poisson") }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit != .one && mechanism.runsOnPool
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    0.05 + Double(cell.tasks ?? 0) * 8e-6
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let count = trial.cell.tasks ?? 1_000
    // Nine tenths of what the limit can do, so that tasks wait and the queue stays short.
    let service: Int64 = 10_000_000
    let workload = Workload(
      count: count,
      service: .exponential(mean: service),
      arrivals: .poisson(perSecond: 0.9 * Double(trial.limit) * 1e9 / Double(service)),
      seed: trial.request.seed
    )
    let run = VirtualRun(
      Experiment(mechanism: trial.catalogueEntry, limit: trial.limit, workload: workload)
    )
    let before = ProcessMetrics.now()
    var events = 0
    let elapsed = await elapsedNanoseconds {
      run.submit(workload)
      events = await run.finish().events.count
    }
    report.add(.timePerOperation, "mean", Double(elapsed) / Double(count), count: count)
    report.addUsage(since: before, operations: count)
    if events < 3 * count {
      report.violations.append("\(count) tasks left only \(events) events")
    }
  }
}
