package import Specimens

/// A limiter that gives its permit back on the line after the body.
typealias ThrowingBodyMechanism = LimiterAdapter<ThrowingBodyLimiter>

extension ThrowingBodyLimiter: NamedLimiter, CountingLimiter {
  package static let id = "specimen-throwing-body"

  package static let profile = MechanismProfile(
    order: .fifo,
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
}
