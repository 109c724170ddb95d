// Which workers are held, and from when to when.
//
// A task holds a worker while it is `blocked`: its thread waits with it. In service it holds one if
// the run's work blocks or spins, and lets go of it between `suspended` and `resumed`. Suspending work
// holds none: its steps take no time worth drawing, so a worker of such a run is only ever *seen*.

/// Follows the log and knows at each moment how many workers are held.
package struct HeldWorkers {
  private let serviceHolds: Bool
  private var all = Holders()
  private var blocked = Holders()

  /// The number of workers held now.
  package var count: Int { all.workers }
  /// The number of workers held now by tasks that wait: those that share one count once.
  package var blockedCount: Int { blocked.workers }

  package init(facts: RunFacts) { serviceHolds = facts.serviceHoldsWorker }

  package mutating func note(_ event: TraceEvent) {
    switch event.kind {
    case .blocked:
      all.hold(event)
      blocked.hold(event)
    case .admitted, .resumed:
      all.release(event)
      blocked.release(event)
      if serviceHolds { all.hold(event) }
    case .unblocked, .suspended, .finished, .failed, .cancelled, .rejected:
      all.release(event)
      blocked.release(event)
    case .arrived, .answered, .error, .holds, .progress, .limit: break
    }
  }

  /// Which task holds which worker.
  private struct Holders {
    private var held: [Int: Int] = [:]
    /// How many tasks hold each worker, so that a worker named twice counts once.
    private var holders: [Int: Int] = [:]

    var workers: Int { holders.count }

    mutating func hold(_ event: TraceEvent) {
      let task = Int(event.task.number)
      guard held[task] == nil else { return }
      // A task on an unknown worker counts as holding one of its own.
      let worker = event.worker.map { Int($0.number) } ?? -task
      held[task] = worker
      holders[worker, default: 0] += 1
    }

    mutating func release(_ event: TraceEvent) {
      guard let worker = held.removeValue(forKey: Int(event.task.number)) else { return }
      let left = (holders[worker] ?? 0) - 1
      holders[worker] = left > 0 ? left : nil
    }
  }
}
