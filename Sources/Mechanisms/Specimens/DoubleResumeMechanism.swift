package import Specimens

/// A semaphore whose signal and whose cancellation handler may resume the same waiter.
typealias DoubleResumeMechanism = LimiterAdapter<DoubleResumeSemaphore>

extension DoubleResumeSemaphore: NamedLimiter, CountingLimiter {
  package static let id = "specimen-double-resume"

  package static let profile = MechanismProfile(
    order: .fifo,
    summary: "a counting semaphore for tasks, as widely used",
    explanation: """
      A signal takes the first waiter out of the line and resumes it; a cancellation handler takes \
      its own waiter out of the line and resumes it with an error. Between the two lies the moment \
      in which a waiter was resumed and has not yet woken. The second resume of a continuation \
      ends the process; here the explorer is told instead.

      The code is Sources/Specimens/DoubleResumeSemaphore.swift; done right, it is \
      Sources/Limiters/Event.swift.
      """,
    defect: "a waiter that was granted its permit and then cancelled is resumed twice",
    exposure: .init(.cancellation, tasks: 2, limit: 1, violation: "double-resume")
  )

  package static func make(_ setup: MechanismSetup) -> DoubleResumeSemaphore {
    DoubleResumeSemaphore(limit: setup.limit, onDoubleResume: setup.onDoubleResume)
  }
}
