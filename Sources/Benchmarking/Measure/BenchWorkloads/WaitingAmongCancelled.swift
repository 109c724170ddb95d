package import Mechanisms

/// More tasks than permits, all the time, while some of those that wait are cancelled.
///
/// What the others wait is to be held against `contended-yield` of the same limit and as many tasks, where
/// nobody is cancelled.
package struct WaitingAmongCancelled: PairedWorkload {
  package let id = "cancel-others"
  package let question =
    "How long do tasks wait while one visit in eight is cancelled as it waits?"
  package let needsWaiting = true
  package let roundLength = 2.5
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.waiting, "p99")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    guard scale != .ci else { return [] }
    return (limits ?? [4]).map {
      Cell(id, limit: $0, tasks: 64, loop: .closed, cancelFraction: 0.125)
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    // Of a batch, one entry cannot be cancelled by itself.
    mechanism.makesTasksWait && !mechanism.inBatches && (mechanism.limit != .one || cell.limit == 1)
  }

  package func runner(_ trial: Trial) -> Runner {
    let mechanism = trial.makeMechanism()
    var loop = ClosedLoop(
      workers: trial.cell.tasks ?? 64,
      visitsEach: 1,
      kind: trial.kind,
      world: YieldingWorld()
    )
    loop.cancelsEvery = 8
    let cancelling = loop
    return Runner(grain: loop.workers) { times in
      await cancelling.stampedRound(mechanism, trial, times: times)
    }
  }
}
