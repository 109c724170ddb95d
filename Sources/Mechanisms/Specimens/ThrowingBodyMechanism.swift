internal import Specimens
internal import Workloads

/// A limiter that gives its permit back on the line after the body.
package final class ThrowingBodyMechanism: Mechanism {
  package static let id = "specimen-throwing-body"

  package static let profile = MechanismProfile(
    limit: .any,
    waiting: .suspendsTask,
    order: .fifo,
    cancellation: .leavesAtOnce,
    clock: .any,
    defaultKind: .suspend,
    summary: "take a permit, run the body, give the permit back",
    explanation: """
      The permit is given back on the line after the body. A body that throws never gets there, so \
      each failure makes the limit smaller by one. Nothing happens at first; then everything \
      becomes slow; then it stands still.

      The code is Sources/Specimens/ThrowingBodyLimiter.swift; done right, it is \
      Sources/Limiters/AsyncPool.swift.
      """,
    defect: "a body that throws keeps its permit for ever",
    exposure: .init(.failingBodies, tasks: 2, limit: 1, violation: "permit-leak")
  )

  private let limiter: ThrowingBodyLimiter

  package init(_ setup: MechanismSetup) {
    limiter = ThrowingBodyLimiter(limit: setup.limit)
  }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { try? await limiter.run { body() } }
  }

  package var permitsInUse: Int? { limiter.permitsInUse }
}
