internal import ExplorableLimiters

// Check, then act, with an await in between: two tasks take the same permit.
//
// An actor counts the permits in use. A task that finds none waits for a departure and looks again. A
// task that finds one notes its entry in a journal and takes it.
//
// DEFECT: the journal is another actor, so the task awaits between its look and its taking, and during an
// await the actor serves other tasks. An actor protects what happens between two awaits, not what happens
// in one method. The mistake is easily made when a journal is added to a correct actor later. It is known
// as check-then-act (Goetz et al., Java Concurrency in Practice, 2006, section 2.2).
//
// The interleaving that shows it, with limit 1: t1 looks, there is a permit, t1 awaits the
// journal; t2 looks, the permit is still there, t2 awaits the journal; both take it.
//
// The fix: check and act with nothing in between. See `admitAtOnce` in
// Sources/Limiters/LimiterState.swift.

/// DEFECT: between a task's look for a permit and its taking it, another task may look too.
package actor CheckThenActLimiter: JournalledLimiter {
  package var permits: CountedPermits
  private let journal = Journal()

  package init(limit: Int) { permits = CountedPermits(limit: limit) }

  package func enter() async throws {
    while permits.inUse >= permits.limit { try await permits.departure.condition.wait() }
    // Here is the defect: the actor is open to others meanwhile.
    await journal.note()  // having looked: a permit is free
    permits.inUse += 1  // to take it
  }
}
