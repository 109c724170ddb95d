package import Specimens

/// A limiter whose waiters lie down without a last look.
typealias NoLastLookMechanism = LimiterAdapter<NoLastLookLimiter>

extension NoLastLookLimiter: NamedLimiter, CountingLimiter {
  package static let id = "specimen-no-last-look"

  package static let profile = MechanismProfile(
    order: .none,
    summary:
      "an atomic count of permits and a list of sleepers, as an executor sends workers to sleep",
    explanation: """
      A task that finds no permit puts itself on a list and sleeps; a departing task gives its permit \
      back and wakes the first on the list. A departure between the look and the place on the list \
      wakes nobody, and the task sleeps beside a free permit. Workers of an executor that go to sleep \
      in this way leave jobs lying.

      The code is Sources/Specimens/NoLastLookLimiter.swift; done right, it is \
      Sources/WorkStealing/Resting.swift.
      """,
    defect: "a task that has lain down does not look once more before it sleeps",
    exposure: .init(.order, inside: true, tasks: 2, limit: 1, violation: "lost-wake-up")
  )
}
