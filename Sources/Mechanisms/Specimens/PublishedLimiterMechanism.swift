package import Specimens

/// The published Condition and Signal design.
typealias PublishedLimiterMechanism = LimiterAdapter<PublishedLimiter>

extension PublishedLimiter: NamedLimiter {
  package static let id = "specimen-published-limiter"

  package static let profile = MechanismProfile(
    order: .fifo,
    summary: "the published Condition and Signal design, as published",
    explanation: """
      An actor counts the tasks in flight and keeps the signals of those that wait. Each call makes \
      a Condition, gives its Signal to the actor, waits, runs its body and tells the actor that it \
      is done. Nobody is let in wrongly until somebody is cancelled.

      The code is Sources/Specimens/PublishedLimiter.swift and PublishedCondition.swift; done \
      right, it is Sources/Limiters/Condition.swift.
      """,
    defect:
      "a cancelled wait returns as if signalled, so the body runs without a permit and then gives "
      + "one back",
    exposure: .init(.cancellation, tasks: 2, limit: 1, violation: "over-admission")
  )

  package init(limit: Int) { self.init(concurrency: limit) }
}
