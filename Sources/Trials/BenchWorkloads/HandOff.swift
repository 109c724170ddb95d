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

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    closedLoopSeconds(budget: budget)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    await measureClosedLoop(trial, workers: 2, world: YieldingWorld(), into: &report)
  }
}
