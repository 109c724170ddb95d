// Which workers are held, and from when to when.
//
// A task holds a worker while it is `blocked`: its thread waits with it. In service it holds one if
// the run's work blocks or spins, and lets go of it between `suspended` and `resumed`. Suspending work
// holds none: its steps take no time worth drawing, so a worker of such a run is only ever *seen*.

/// Follows the log and knows at each moment how many workers are held.
package struct HeldWorkers {
  private let serviceHolds: Bool
  /// The worker each task holds, by task number; see `Holding`.
  private var held: [Int: Int] = [:]
  /// How many tasks hold each worker, so that a worker named twice counts once.
  private var holders: [Int: Int] = [:]
  /// The tasks that hold a worker while they wait.
  private var blocked: Set<Int> = []
  /// The number of workers held now.
  package private(set) var count = 0
  /// The number of tasks that hold a worker while they wait, now.
  package var blockedCount: Int { blocked.count }

  package init(facts: RunFacts) { serviceHolds = facts.serviceHoldsWorker }

  package mutating func note(_ event: TraceEvent) {
    switch event.kind {
    case .blocked:
      blocked.insert(Int(event.task.number))
      hold(event)
    case .admitted, .resumed:
      blocked.remove(Int(event.task.number))
      release(event)
      if serviceHolds { hold(event) }
    case .suspended, .finished, .failed, .cancelled, .rejected:
      blocked.remove(Int(event.task.number))
      release(event)
    case .arrived, .progress: break
    }
  }

  private mutating func hold(_ event: TraceEvent) {
    let task = Int(event.task.number)
    guard held[task] == nil else { return }
    // A task on an unknown worker counts as holding one of its own.
    let worker = event.worker.map { Int($0.number) } ?? -task
    held[task] = worker
    holders[worker, default: 0] += 1
    if holders[worker] == 1 { count += 1 }
  }

  private mutating func release(_ event: TraceEvent) {
    guard let worker = held.removeValue(forKey: Int(event.task.number)) else { return }
    let left = (holders[worker] ?? 0) - 1
    holders[worker] = left > 0 ? left : nil
    if left <= 0 { count -= 1 }
  }
}
