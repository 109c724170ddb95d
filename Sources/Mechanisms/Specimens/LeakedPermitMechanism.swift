internal import Specimens
internal import Workloads

/// A limiter whose waiters look once more whether they were cancelled.
package final class LeakedPermitMechanism: Mechanism {
  package static let id = "specimen-leaked-permit"

  package static let profile = MechanismProfile(
    limit: .any,
    waiting: .suspendsTask,
    order: .fifo,
    cancellation: .leavesAtOnce,
    clock: .any,
    defaultKind: .suspend,
    summary: "a limiter that hands permits on, with one last look at the cancellation",
    explanation: """
      A departing task hands its permit to the first waiter, and a cancelled waiter leaves the line. \
      To be on the safe side, a waiter that wakes with its permit looks once more whether it was \
      cancelled, and throws if so. The permit it was handed is then nobody's.

      The code is Sources/Specimens/LeakedPermitLimiter.swift; done right, it is \
      Sources/Limiters/ConcurrencyLimiter.swift.
      """,
    defect:
      "a task cancelled after a permit was handed to it throws without giving the permit back",
    exposure: .init(.cancellation, tasks: 2, limit: 1, violation: "permit-leak")
  )

  private let limiter: LeakedPermitLimiter

  package init(_ setup: MechanismSetup) {
    limiter = LeakedPermitLimiter(limit: setup.limit)
  }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { try? await limiter.run { body() } }
  }

  package var permitsInUse: Int? { limiter.permitsInUse }
}
