package import Specimens

/// A limiter whose tasks look for a permit, and take it an await later.
typealias CheckThenActMechanism = LimiterAdapter<CheckThenActLimiter>

extension CheckThenActLimiter: NamedLimiter {
  package static let id = "specimen-check-then-act"

  package static let profile = MechanismProfile(
    order: .none,
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
}
