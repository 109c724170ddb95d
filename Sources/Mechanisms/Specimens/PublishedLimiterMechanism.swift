internal import Specimens
internal import Workloads

/// The published Condition and Signal design.
package final class PublishedLimiterMechanism: Mechanism {
  package static let id = "specimen-published-limiter"

  package static let profile = MechanismProfile(
    limit: .any,
    waiting: .suspendsTask,
    order: .fifo,
    cancellation: .leavesAtOnce,
    clock: .any,
    defaultKind: .suspend,
    summary: "the published Condition and Signal design, as published",
    explanation: """
      An actor counts the tasks in flight and keeps the signals of those that wait. Each call makes \
      a Condition, gives its Signal to the actor, waits, runs its body and tells the actor that it \
      is done. Nobody is turned away wrongly until somebody is cancelled.

      The code is Sources/Specimens/PublishedLimiter.swift and PublishedCondition.swift; done \
      right, it is Sources/Limiters/Condition.swift.
      """,
    defect:
      "a cancelled wait returns as if signalled, so the body runs without a permit and then gives "
      + "one back",
    exposure: .init(.cancellation, tasks: 2, limit: 1, violation: "over-admission")
  )

  private let limiter: PublishedLimiter

  package init(_ setup: MechanismSetup) { limiter = PublishedLimiter(concurrency: setup.limit) }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { await limiter.run { body() } }
  }
}
