package import Mechanisms

/// For a while more work than the limit can do, then less, until no task waits.
package struct Overload: BenchWorkload {
  package let id = "overload"
  package let question =
    "After asking for half as much again as the limit can do, how long until nobody waits any more?"
  package let drawsPaths = true
  package let share = 1.5
  package let headline: Headline? = Headline(.recovery, "total")

  package init() {}

  private static let overloaded = 1.5
  private static let relieved = 0.5

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    (limits ?? scale.pick(short: [], standard: [2], full: [1, 2, 8])).map { limit in
      Cell(
        id,
        limit: limit,
        loop: .open,
        arrivals: "poisson",
        serviceDistribution: "exponential",
        service: OpenLoop.meanService,
        utilisation: Self.overloaded
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    // Without a limit there is no overload.
    mechanism.limit != .none && OpenLoop().admits(mechanism, to: cell)
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    0.08 + Double(scale.budget) / 1e9 * 6
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    // The first half at 1.5 leaves a quarter of the budget's work over; the second works it off.
    let half = trial.request.budget * 3
    let capacity = Double(trial.limit) * 1e9 / Double(OpenLoop.meanService)
    let tasks =
      phase(trial, Self.overloaded * capacity, from: 0, lasting: half, seed: trial.request.seed)
      + phase(trial, Self.relieved * capacity, from: half, lasting: half, seed: ~trial.request.seed)
    // The first half has a number of tasks, not a length, so its last may come after the second half began.
    let numbered = tasks.sorted { $0.arrival < $1.arrival }.enumerated().map { index, task in
      var task = task
      task.number = index + 1
      return task
    }
    let mechanism = trial.makeMechanism()
    if trial.profile.clock == .real, trial.kind == .block {
      let ramp = await ThreadRamp.grow(mechanism, to: trial.limit)
      report.add(.threadRamp, "total", ramp.map(Double.init))
    }
    let run = await OpenLoopRun.measure(numbered, on: mechanism)
    run.report(trial, mechanism, into: &report)
    report.add(
      .recovery,
      "total",
      VisitStatistics(run.intended)
        .recovery(after: run.generator.start + half, limit: trial.limit).map(Double.init),
      count: numbered.count
    )
  }

  private func phase(
    _ trial: Trial,
    _ rate: Double,
    from start: Int64,
    lasting: Int64,
    seed: UInt64
  ) -> [SimulatedTask] {
    let workload = Workload(
      count: max(10, Int(rate * Double(lasting) / 1e9)),
      service: .exponential(mean: OpenLoop.meanService),
      kind: trial.kind,
      arrivals: .poisson(perSecond: rate),
      seed: seed
    )
    return workload.tasks().map { task in
      var task = task
      task.arrival += start
      return task
    }
  }
}
