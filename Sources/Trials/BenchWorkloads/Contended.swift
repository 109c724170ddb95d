internal import Workloads

/// More tasks than permits, all the time.
package struct Contended: BenchWorkload {
  package enum Body: String, Sendable {
    case empty
    case yield
    case criticalSection = "critical-section"
  }

  private let body: Body

  package init(body: Body) { self.body = body }

  package var id: String { "contended-\(body.rawValue)" }
  package let needsWaiting = true
  package let guests = [FloorMechanism.id, CancellableFloorMechanism.id]
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package var question: String {
    switch body {
    case .empty: "What does a visit cost when many tasks compete and the body does nothing?"
    case .yield: "What does a visit cost when the permit is held across a suspension?"
    case .criticalSection: "What does a visit cost when the body works on something shared?"
    }
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let limits =
      limits
      ?? scale.pick(short: [4], standard: body == .yield ? [1, 4] : [4], full: [1, 2, 8, 64])
    let tasks = scale.pick(short: [64], standard: [64], full: [8, 64, 1_000])
    return limits.flatMap { limit in
      tasks.map { Cell(id, limit: limit, tasks: $0, loop: .closed) }
    }
  }

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    closedLoopSeconds(budget: budget)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let world: any World =
      switch body {
      case .empty: EmptyWorld()
      case .yield: YieldingWorld()
      case .criticalSection: CriticalSectionWorld()
      }
    await measureClosedLoop(trial, workers: trial.cell.tasks ?? 64, world: world, into: &report)
  }
}
