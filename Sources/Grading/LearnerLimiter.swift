package import Mechanisms
internal import Workloads

/// What a learner writes in the exercises on limiters.
package protocol LearnerLimiter: Sendable {
  /// Makes a limiter with so many permits.
  init(limit: Int)

  /// Runs `body` once there is a permit, on the calling task.
  func run<Value>(_ body: () async throws -> Value) async throws -> Value
}

/// Carries tasks through a learner's limiter, as the lab's own adapters do.
package struct LearnerLimiterMechanism<Limiter: LearnerLimiter>: Mechanism {
  package static var id: String { "yours" }

  package static var profile: MechanismProfile {
    MechanismProfile(
      limit: .any,
      waiting: .suspendsTask,
      // No order is promised; where an exercise asks for one, it bounds the overtaking instead.
      order: .none,
      cancellation: .leavesAtOnce,
      clock: .any,
      defaultKind: .suspend,
      summary: "your limiter",
      explanation: "The limiter you have written."
    )
  }

  private let limiter: Limiter

  package init(_ setup: MechanismSetup) { limiter = Limiter(limit: setup.limit) }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { try? await limiter.run { body() } }
  }
}
