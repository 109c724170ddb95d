internal import ExplorableLimiters

// Look, then wait: the wake-up is lost.
//
// An actor counts the permits in use. A task that finds none notes in a journal that it has to wait, waits
// for the next departure and looks again. No permit is handed on: the first task to look takes it.
//
// DEFECT: the journal is another actor, so the task awaits between finding no permit and waiting for the
// next departure. If the last departure comes in between, the task waits for one more, and there is none.
// A condition variable used without its lock and an event that is reset too early lose wake-ups in the
// same way. The mistake is old: Saltzer's wakeup-waiting switch prevents it (Traffic Control in a
// Multiplexed Computer System, MIT, 1966).
//
// The interleaving that shows it, with limit 1: t1 runs; t2 looks, there is no permit, t2 awaits
// the journal; t1 departs, and no task waits for it yet; t2 waits for the next departure, for ever.
//
// The fix: look and join the line with nothing in between. See `arrive` in
// Sources/Limiters/LimiterState.swift.

/// DEFECT: a task that has looked but not yet parked misses the departure it should wake up for.
package actor LostWakeUpLimiter: JournalledLimiter {
  package var permits: CountedPermits
  private let journal = Journal()

  package init(limit: Int) { permits = CountedPermits(limit: limit) }

  package func enter() async throws {
    while permits.inUse >= permits.limit {
      // Here is the defect: the departure may come and go meanwhile.
      await journal.note()  // having looked: no permit
      try await permits.departure.condition.wait()  // to park
    }
    permits.inUse += 1
  }
}
