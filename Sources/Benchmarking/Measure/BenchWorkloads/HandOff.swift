internal import Mechanisms

/// Two tasks and one permit: every departure hands the permit to the other.
package struct HandOff: PairedWorkload {
  /// Whether one of the two tasks is more urgent than the other.
  private let acrossPriorities: Bool

  package var id: String { acrossPriorities ? "across-priorities" : "hand-off" }

  package var question: String {
    acrossPriorities
      ? "How long does a permit take between a task of low and one of high priority, to and fro?"
      : "How long does a permit take from a departing task to the one that waits?"
  }
  package let needsWaiting = true
  /// Two tasks wake each other in one way for a while and then in another, at costs that differ: a longer round has
  /// more of both.
  package var roundLength: Double { acrossPriorities ? 1 : 2 }
  package let share = 1.25
  package let guests = [FloorMechanism.id, CancellableFloorMechanism.id]
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init(acrossPriorities: Bool = false) { self.acrossPriorities = acrossPriorities }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    scale == .ci && acrossPriorities ? [] : [Cell(id, limit: 1, tasks: 2, loop: .closed)]
  }

  package func runner(_ trial: Trial) -> Runner {
    ClosedLoopRunner(
      workers: 2,
      body: .yielding,
      world: YieldingWorld(),
      priorities: acrossPriorities ? [.low, .high] : []
    ).runner(trial)
  }
}
