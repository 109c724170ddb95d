// The published limiter, structure and flaw as published: what `ConcurrencyLimiter` is measured against.
// The source: Andy Finnell, Swift async/await: do you even need a queue?, losingfight.com, 2024.
//
// An actor counts the tasks in flight and keeps the signals of those that wait. Each call makes a
// Condition, gives its Signal to the actor, waits, runs the body, and tells the actor that it is
// done. Every call pays two hops to the actor and a Condition, contended or not.
//
// DEFECT: over-admission after cancellation. The wait of a cancelled task returns as if signalled
// (see PublishedCondition), its body runs without a permit, and on leaving it gives back a permit it
// never took. The interleaving that shows it, with limit 1: t1 runs; t2 arrives and waits; t2 is
// cancelled; t2's wait returns, and t2's body runs beside t1's. What t2 gives back when it leaves
// admits yet another task.
//
// `ConcurrencyLimiter` in Limiters is the sound one.

/// DEFECT: a task cancelled while it waits runs its body without a permit.
package actor PublishedLimiter {
  private let concurrency: Int
  private var inflight = 0
  private var pending: [PublishedSignal] = []

  package init(concurrency: Int) {
    precondition(concurrency >= 1, "a limit must be at least 1, not \(concurrency)")
    self.concurrency = concurrency
  }

  /// How many permits the limiter believes to be in use.
  package var permitsInUse: Int { inflight }

  /// How many signals wait to be signalled; those of cancelled tasks stay among them.
  package var waiting: Int { pending.count }

  /// Runs `body` on the calling task once signalled and also once cancelled, which is the defect.
  package nonisolated func run<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    let (condition, signal) = PublishedCondition.makeCondition()
    await arrive(signal)
    await condition.wait()  // to park, unless it was signalled
    do {
      let value = try await body()
      await depart()
      return value
    } catch {
      await depart()
      throw error
    }
  }

  private func arrive(_ signal: PublishedSignal) {
    if inflight < concurrency {
      inflight += 1
      signal.signal()
    } else {
      pending.append(signal)
    }
  }

  private func depart() {
    if pending.isEmpty {
      inflight -= 1
    } else {
      pending.removeFirst().signal()
    }
  }
}
