internal import Mechanisms
internal import Synchronization

/// The cost of passing through a mechanism that no other task uses.
package struct Uncontended: BenchWorkload {
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

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    if trial.profile.clock == .real, trial.profile.limit == .any {
      return await measureBlocks(trial, into: &report)
    }
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

  /// Mechanisms with threads of their own are given blocks, whose submitter does not wait for each: one
  /// after the other would charge them a continuation and a thread's way there and back.
  private func measureBlocks(_ trial: Trial, into report: inout TrialReport) async {
    let mechanism = trial.makeMechanism(limit: Self.endless)
    let counted = Counter()
    let body = BatchBody(onThread: { _ in counted.increment() }, onTask: { _ in })
    await mechanism.batch(1_000, body)
    if counted.value != 1_000 {
      report.violations.append("1000 passes ran the body \(counted.value) times")
    }
    await measureRepeated(budget: trial.request.budget, into: &report) { times in
      await mechanism.batch(times, body)
    }
    report.checkPermits(mechanism)
  }

  /// More permits than blocks are ever under way.
  private static let endless = 1 << 30
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
