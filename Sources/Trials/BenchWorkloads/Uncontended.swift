internal import Mechanisms
internal import Synchronization

/// The cost of passing through a mechanism that no other task uses.
package struct Uncontended: BenchWorkload {
  package let id = "uncontended"
  package let question = "What does one pass through the limiter cost when a permit is always free?"
  package let headline: Headline? = Headline(.timePerOperation, "mean")
  /// What our own limiter is to be compared with: the design it replaces.
  package let guests = ["specimen-published-limiter"]

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    (limits ?? [1]).map { Cell(id, limit: $0, tasks: 1, loop: .closed) }
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let mechanism = trial.makeMechanism()
    let counted = Counter()
    await mechanism.pass(times: 1_000) { counted.increment() }
    if counted.value != 1_000 {
      report.violations.append("1000 passes ran the body \(counted.value) times")
    }
    await measureRepeated(budget: trial.request.budget, into: &report) { times in
      await mechanism.pass(times: times) {}
    }
    report.checkPermits(mechanism)
  }
}

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Atomic(0)
  func increment() { count.add(1, ordering: .releasing) }
  /// What was written before the counted increments may be read after this.
  var value: Int { count.load(ordering: .acquiring) }
}
