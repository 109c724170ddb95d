internal import Limiters

// Checked, then parked: the wake-up is lost.
//
// One actor counts the permits, another tells of departures: each signals a condition, and the next
// one is made. A task that finds no permit waits for a departure and tries again. Nothing is handed
// on: whoever comes first takes the permit.
//
// DEFECT: finding no permit and asking which departure to wait for are two steps. If the last
// departure comes between them, the task waits for the next one, and there is none. Each actor is
// right by itself, which is why the mistake is made so often: condition variables used without
// their lock, event flags reset too early.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 finds no permit; t1 gives its permit back
// and announces its departure, for which nobody waits yet; t2 asks for the next departure and
// waits for it, for ever.
//
// The fix: look and join the line in one step, under one lock. See `arrive` in
// Sources/Limiters/LimiterState.swift.

/// DEFECT: a task that has looked but not yet parked misses the departure it should wake up for.
package final class LostWakeUpLimiter: Sendable {
  private actor Permits {
    private var free: Int

    init(_ count: Int) { free = count }

    func take() -> Bool {
      guard free > 0 else { return false }
      free -= 1
      return true
    }

    func giveBack() { free += 1 }
  }

  private actor Departures {
    private var next = Condition.makeCondition()

    func upcoming() -> Condition { next.condition }

    func announce() {
      next.signal.signal()
      next = Condition.makeCondition()
    }
  }

  private let permits: Permits
  private let departures = Departures()

  package init(limit: Int) { permits = Permits(limit) }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    while await !permits.take() {
      // Here is the defect: the departure may have come and gone.
      try await departures.upcoming().wait()
    }
    do {
      let value = try await body()
      await depart()
      return value
    } catch {
      await depart()
      throw error
    }
  }

  private func depart() async {
    await permits.giveBack()
    await departures.announce()
  }
}
