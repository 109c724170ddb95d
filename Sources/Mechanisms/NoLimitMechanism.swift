internal import Workloads

/// No limit: what every mechanism's cost and effect are compared with.
package struct NoLimitMechanism: Mechanism {
  package static let id = "none"

  package static let profile = MechanismProfile(
    limit: .none,
    waiting: .none,
    order: .fifo,
    cancellation: .neverWaits,
    clock: .any,
    defaultKind: .suspend,
    summary: "no limit: the baseline",
    explanation: """
      Every task runs as soon as it arrives. What it shows is what a limit is for: with suspending \
      work everything overlaps; with blocking or computing work the pool of threads becomes the \
      limit, and nobody chose it.
      """
  )

  package init(_ setup: MechanismSetup) {}

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await body() })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { body() }
  }
}
