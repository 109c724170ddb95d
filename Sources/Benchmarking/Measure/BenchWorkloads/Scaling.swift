internal import Basics
package import Mechanisms

/// The same competition on one processor, on two, on all.
package struct Scaling: PairedWorkload {
  package let id = "scaling"
  package let question =
    "What does a visit across a suspension cost on one processor, on two, on all there are?"
  package let comparesExecutors = true
  package let needsWaiting = true
  package let roundLength = 2.5
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    guard scale != .ci else { return [] }
    var counts = [1]
    while let last = counts.last, last < Processors.allowed {
      counts.append(min(2 * last, Processors.allowed))
    }
    return counts.map { Cell(id, limit: 4, tasks: 64, loop: .closed, processors: $0) }
  }

  /// Only those whose tasks any processor may run, several at once.
  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit != .one && mechanism.runsOnPool && !mechanism.inBatches
  }

  package func runner(_ trial: Trial) -> Runner {
    ClosedLoopRunner(workers: trial.cell.tasks ?? 64, body: .yielding, world: YieldingWorld())
      .runner(trial)
  }
}
