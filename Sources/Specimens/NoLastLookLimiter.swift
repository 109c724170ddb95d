internal import ExplorableLimiters
internal import ExplorableSynchronization

// Look, lie down, sleep: the last look is missing.
//
// A counting semaphore without a lock around its decisions, built like the sleeping protocol of an
// executor. Free permits are a number that anybody may take from. A task that finds none puts itself on the list of
// sleepers, and sleeps. A departing task first gives its permit back, then looks who sleeps, and wakes one, who
// looks for a permit again.
//
// DEFECT: a task looks, and then lies down. A departure between the two finds nobody on the list and wakes
// nobody; the task sleeps beside a free permit. An executor without this last look has
// workers that sleep beside a job.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 finds no permit; t1 gives its permit
// back and finds nobody on the list; t2 puts itself on the list, and sleeps for ever.
//
// The fix: first lie down, then look once more, then sleep. See Sources/WorkStealing/Resting.swift.

/// DEFECT: a task that has lain down does not look once more before it sleeps.
package final class NoLastLookLimiter: Sendable {
  private struct Sleepers {
    var signals: [(number: Int, signal: Signal)] = []
    var arrivals = 0
  }

  private let limit: Int
  private let free: Atomic<Int>
  private let sleepers = Mutex(Sleepers())

  package init(limit: Int) {
    self.limit = limit
    free = Atomic(limit)
  }

  package var permitsInUse: Int { limit - free.load(ordering: .sequentiallyConsistent) }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    while !take() {
      // Here is the defect: a task that departs now sees nobody asleep.
      try await sleep()
    }
    defer { depart() }
    return try await body()
  }

  private func take() -> Bool {
    var seen = free.load(ordering: .sequentiallyConsistent)
    while seen > 0 {
      let (done, now) = free.compareExchange(
        expected: seen,
        desired: seen - 1,
        ordering: .sequentiallyConsistent
      )
      if done { return true }
      seen = now
    }
    return false
  }

  private func sleep() async throws {
    let (condition, signal) = Condition.makeCondition()
    let number = sleepers.withLock { sleepers in
      sleepers.arrivals += 1
      sleepers.signals.append((sleepers.arrivals, signal))
      return sleepers.arrivals
    }
    do { try await condition.wait() } catch {
      let wasAsleep = sleepers.withLock { sleepers in
        guard let index = sleepers.signals.firstIndex(where: { $0.number == number }) else {
          return false
        }
        sleepers.signals.remove(at: index)
        return true
      }
      // Woken and cancelled: the next sleeper looks in its place.
      if !wasAsleep { wakeOne() }
      throw error
    }
  }

  private func depart() {
    free.add(1, ordering: .sequentiallyConsistent)
    wakeOne()
  }

  private func wakeOne() {
    let next = sleepers.withLock { $0.signals.isEmpty ? nil : $0.signals.removeFirst() }
    next?.signal.signal()
  }
}
