internal import Mechanisms

/// More tasks than permits, all the time.
package struct Contended: PairedWorkload {
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
  /// Starting the workers is in a round, and must not matter.
  package let roundLength = 2.5
  /// Of the others few mechanisms are compared, for where nothing is held nobody waits.
  package var share: Double { body == .yield ? 1.25 : 0.5 }
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

  package func runner(_ trial: Trial) -> Runner {
    let (measured, world): (MeasuredBody, any World) =
      switch body {
      case .empty: (.empty, EmptyWorld())
      case .yield: (.yielding, YieldingWorld())
      case .criticalSection: (.adding(AddingBody.Sum()), CriticalSectionWorld())
      }
    return ClosedLoopRunner(workers: trial.cell.tasks ?? 64, body: measured, world: world)
      .runner(trial)
  }
}
