internal import Specimens
internal import Workloads

/// A semaphore whose signal and whose cancellation handler may resume the same waiter.
package final class DoubleResumeMechanism: Mechanism {
  package static let id = "specimen-double-resume"

  package static let profile = MechanismProfile(
    limit: .any,
    waiting: .suspendsTask,
    order: .fifo,
    cancellation: .leavesAtOnce,
    clock: .any,
    defaultKind: .suspend,
    summary: "a counting semaphore for tasks, as widely used",
    explanation: """
      A signal takes the first waiter out of the line and resumes it; a cancellation handler takes \
      its own waiter out of the line and resumes it with an error. Between the two lies the moment \
      in which a waiter was resumed and has not yet woken. The second resume of a continuation \
      ends the process; here the explorer is told instead.

      The code is Sources/Specimens/DoubleResumeSemaphore.swift; done right, it is \
      Sources/Limiters/HandOff.swift.
      """,
    defect: "a waiter that was granted its permit and then cancelled is resumed twice",
    exposure: .init(.cancellation, tasks: 2, limit: 1, violation: "double-resume")
  )

  private let limiter: DoubleResumeSemaphore

  package init(_ setup: MechanismSetup) {
    limiter = DoubleResumeSemaphore(
      limit: setup.limit,
      onDoubleResume: setup.onDoubleResume
    )
  }

  package func carry(_ visit: Visit) async {
    await visit.carry(through: { body in try await limiter.run(body) })
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times { try? await limiter.run { body() } }
  }

  package var permitsInUse: Int? { limiter.permitsInUse }
}
