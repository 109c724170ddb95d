internal import Basics
internal import Mechanisms
internal import Workloads

/// Many tasks at once, each with a single visit: the cost of a batch.
package struct FanOut: BenchWorkload {
  package let id = "fan-out"
  package let question = "What does one task of a large batch cost, from its start to its end?"
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let sizes = scale.pick(
      short: [1_000],
      standard: [100, 1_000, 10_000],
      full: [100, 1_000, 10_000, 100_000]
    )
    return (limits ?? scale.pick(short: [8], standard: [8], full: [1, 8, 64])).flatMap { limit in
      sizes.map { Cell(id, limit: limit, tasks: $0, loop: .closed, arrivals: "together") }
    }
  }

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    0.02 + 1.5 * max(Double(budget) / 1e9, Double(cell.tasks ?? 0) * 4e-6)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let tasks = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let start = MachineClock.monotonic()
    await fanOut(tasks, trial, mechanism, StampLog(capacity: tasks))
    let before = ProcessMetrics.now()
    var repetition = 0
    repeat {
      repetition += 1
      let log = StampLog(capacity: tasks)
      let began = MachineClock.monotonic()
      await fanOut(tasks, trial, mechanism, log)
      let elapsed = MachineClock.monotonic() - began
      report.add(
        .timePerOperation,
        "mean",
        Double(elapsed) / Double(tasks),
        count: tasks,
        repetition: repetition
      )
      report.violations += log.violations(limit: trial.promisedLimit, expected: tasks)
      if repetition == 1 {
        let statistics = VisitStatistics(log.visits())
        report.add(.makespan, "max", statistics.makespan.map(Double.init), count: tasks)
        report.add(.waiting, of: statistics.waits)
        report.add(.peakRunning, "max", Double(log.peakRunning))
      }
    } while repetition < 5 && MachineClock.monotonic() - start < trial.request.budget
    report.addUsage(since: before, operations: repetition * tasks)
    let log = StampLog(capacity: tasks)
    await report.countAllocations(operations: tasks) {
      await fanOut(tasks, trial, mechanism, log)
    }
    report.serviceKind = trial.kind.rawValue
    report.checkPermits(mechanism)
  }

  private func fanOut(
    _ tasks: Int,
    _ trial: Trial,
    _ mechanism: any Mechanism,
    _ log: StampLog
  ) async {
    let world = EmptyWorld()
    let kind = trial.kind
    await withDiscardingTaskGroup { group in
      for number in 1...tasks {
        group.addTask {
          let task = SimulatedTask(number: number, service: 1, kind: kind)
          await mechanism.carry(Visit(task, tracer: log, world: world))
        }
      }
    }
  }
}
