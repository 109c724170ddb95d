internal import Limiters

// Checked, then parked: the wake-up is lost.
//
// An actor counts the permits in use. A task that finds none notes in a journal that it has to wait, waits
// for the next departure and looks again. Nothing is handed on: whoever comes first takes the
// permit.
//
// DEFECT: the journal is another actor, so the task awaits between finding no permit and asking for the
// next departure. If the last departure comes in between, the task waits for one more, and there is
// none. Condition variables used without their lock and event flags reset too early do the same; it
// is among the oldest mistakes with threads, and with actors it looks harmless.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 looks, there is no permit, t2 awaits
// the journal; t1 departs, and nobody waits for it yet; t2 waits for the next departure, for ever.
//
// The fix: look and join the line with nothing in between. See `arrive` in
// Sources/Limiters/LimiterState.swift.

/// DEFECT: a task that has looked but not yet parked misses the departure it should wake up for.
package actor LostWakeUpLimiter {
  /// Counts waits, for a report somewhere else.
  private actor Journal {
    private var waits = 0

    func note() { waits += 1 }
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
    while inUse >= limit {
      // Here is the defect: the departure may come and go meanwhile.
      await journal.note()
      try await departure.condition.wait()
    }
    inUse += 1
  }

  private func depart() {
    inUse -= 1
    departure.signal.signal()
    departure = Condition.makeCondition()
  }
}
