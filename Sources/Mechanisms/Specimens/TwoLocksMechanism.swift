package import Specimens

/// A limiter with a lock for its count and a lock for its line.
typealias TwoLocksMechanism = LimiterAdapter<TwoLocksLimiter>

extension TwoLocksLimiter: NamedLimiter, CountingLimiter {
  package static let id = "specimen-two-locks"

  package static let profile = MechanismProfile(
    order: .none,
    summary: "a counting semaphore with a lock for its count and a lock for its line",
    explanation: """
      Each access is locked, and so looks safe. But a task that has looked at the count and is not \
      yet in the line is nowhere, and a departure that comes in between frees the permit and wakes \
      nobody. The task waits for ever if no other departs.

      The code is Sources/Specimens/TwoLocksLimiter.swift; done right, it is \
      Sources/Limiters/LimiterState.swift.
      """,
    defect: "a task that has looked and is not yet in the line misses the last departure",
    exposure: .init(.order, inside: true, tasks: 2, limit: 1, violation: "lost-wake-up")
  )
}
