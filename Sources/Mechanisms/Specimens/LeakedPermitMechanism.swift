package import Specimens

/// A limiter whose waiters look once more whether they were cancelled.
typealias LeakedPermitMechanism = LimiterAdapter<LeakedPermitLimiter>

extension LeakedPermitLimiter: NamedLimiter, CountingLimiter {
  package static let id = "specimen-leaked-permit"

  package static let profile = MechanismProfile(
    order: .fifo,
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
}
