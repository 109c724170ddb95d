internal import Mechanisms
internal import Synchronization

/// The cost of passing through a mechanism that no other task uses.
package struct Uncontended: PairedWorkload {
  package let id = "uncontended"
  package let question = "What does one pass through the limiter cost when a permit is always free?"
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  /// What our own limiter is to be compared with: the design it replaces, and the least there can be.
  package let guests = ["specimen-published-limiter", FloorMechanism.id]

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    (limits ?? [1]).map { Cell(id, limit: $0, tasks: 1, loop: .closed) }
  }

  package func runner(_ trial: Trial) async -> Runner {
    // Of blocks that nobody waits for, some are under way at once; their permits are free all the same.
    let isOfBlocks = trial.profile.clock == .real && trial.profile.limit == .any
    let mechanism = trial.makeMechanism(limit: isOfBlocks ? Self.endless : trial.limit)
    return .timed(trial) { times in
      await mechanism.passes(times)
    } conclude: { report in
      let body = CountedBody()
      await mechanism.visits(1_000, body)
      if body.counter.value != 1_000 {
        report.violations.append("1000 passes ran the body \(body.counter.value) times")
      }
      report.checkPermits(mechanism)
    }
  }

  /// More permits than blocks are ever under way.
  private static let endless = 1 << 30
}

private struct CountedBody: VisitBody {
  let counter = Counter()
  func onThread() { counter.increment() }
}

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)

  /// - Returns: the count with this one.
  @discardableResult
  func increment() -> Int { count.add(1, ordering: .releasing).newValue }

  /// What was written before the counted increments may be read after this.
  var value: Int { count.load(ordering: .acquiring) }
}
