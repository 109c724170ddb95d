internal import Limiters

// Check, then act, with an await in between: two take the same permit.
//
// An actor counts the permits in use. A task that finds none waits for a departure and looks again; one
// that finds one notes its entry in a journal and takes it.
//
// DEFECT: the journal is another actor, so the task awaits between its look and its taking, and
// whoever awaits lets others into the actor. An actor protects what happens between two awaits, not
// what happens in one method. The most common mistake with actors, easily made later by whoever adds
// the journal; a well-known build tool let two processes run at limit 1 in such a way.
//
// The interleaving that shows it, with limit 1: t1 looks, there is a permit, t1 awaits the
// journal; t2 looks, the permit is still there, t2 awaits the journal; both take it.
//
// The fix: check and act with nothing in between. See `admitAtOnce` in
// Sources/Limiters/LimiterState.swift.

/// DEFECT: between a task's look for a permit and its taking it, another task may look too.
package actor CheckThenActLimiter {
  /// Counts entries, for a report somewhere else.
  private actor Journal {
    private var entries = 0

    func note() { entries += 1 }
  }

  private let limit: Int
  private let journal = Journal()
  private var inUse = 0
  private var departure = Condition.makeCondition()

  package init(limit: Int) { self.limit = limit }

  package nonisolated func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    try await enter()
    do {
      let value = try await body()
      await depart()
      return value
    } catch {
      await depart()
      throw error
    }
  }

  private func enter() async throws {
    while inUse >= limit { try await departure.condition.wait() }
    // Here is the defect: the actor is open to others meanwhile.
    await journal.note()
    inUse += 1
  }

  private func depart() {
    inUse -= 1
    departure.signal.signal()
    departure = Condition.makeCondition()
  }
}
