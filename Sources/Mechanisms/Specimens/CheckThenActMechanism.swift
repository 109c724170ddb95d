internal import Specimens
internal import Workloads

/// A limiter whose tasks look for a permit, and take it an await later.
package final class CheckThenActMechanism: Mechanism {
  package static let id = "specimen-check-then-act"

  package static let profile = MechanismProfile(
    limit: .any,
    waiting: .suspendsTask,
    order: .none,
    cancellation: .leavesAtOnce,
    clock: .any,
    defaultKind: .suspend,
    summary: "an actor that counts permits and notes each entry in a journal",
    explanation: """
      A task that finds a permit notes its entry in a journal, which is another actor, and takes \
      the permit. An actor protects what happens between two awaits, not what happens in one \
      method: while the task awaits the journal, another may find the same permit.

      The code is Sources/Specimens/CheckThenActLimiter.swift; done right, it is \
      Sources/Limiters/LimiterState.swift.
      """,
    defect: "between a task's look for a permit and its taking it, another task may look too",
    exposure: .init(.order, tasks: 2, limit: 1, violation: "over-admission")
  )

  private let limiter: CheckThenActLimiter

  package init(_ setup: MechanismSetup) {
    limiter = CheckThenActLimiter(limit: setup.limit)
  }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { try? await limiter.run { body() } }
  }
}
