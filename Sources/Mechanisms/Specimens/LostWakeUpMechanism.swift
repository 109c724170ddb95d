package import Specimens

/// A limiter whose waiters look for a permit, and then park.
typealias LostWakeUpMechanism = LimiterAdapter<LostWakeUpLimiter>

extension LostWakeUpLimiter: NamedLimiter {
  package static let id = "specimen-lost-wake-up"

  package static let profile = MechanismProfile(
    order: .none,
    summary: "an actor that counts permits and notes each wait in a journal",
    explanation: """
      A task that finds no permit notes in a journal, which is another actor, that it has to wait, \
      and then waits for the next departure. A departure while it awaits the journal is missed, \
      and if it was the last, the task waits for one that never comes.

      The code is Sources/Specimens/LostWakeUpLimiter.swift; done right, it is \
      Sources/Limiters/LimiterState.swift.
      """,
    defect: "a task that has looked but not yet parked misses the departure it should wake up for",
    exposure: .init(.order, tasks: 2, limit: 1, violation: "lost-wake-up")
  )
}
