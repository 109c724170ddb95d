internal import ExplorableLimiters
internal import ExplorableSynchronization

// A lock for the count and a lock for the line: a wake-up falls in between.
//
// A counting semaphore. A task that finds no permit, under the first lock, joins the line, under the
// second. A departing task looks in the line, under the second, and frees the permit, under the first, if
// nobody stands there.
//
// DEFECT: each access is locked, and the two together are not. Between its look at the count and its
// place in the line a task is nowhere: a departure that comes there finds an empty line and frees the
// permit, and the task then waits for a departure that has been. Nothing suspends there, so schedules of
// whole jobs never show it; real threads do, after some thousand rounds.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 finds no permit; t1 departs, finds nobody in
// the line and frees the permit; t2 joins the line, for ever.
//
// The fix: one lock for what is decided together. See Sources/Limiters/LimiterState.swift.

/// DEFECT: a task that has looked for a permit and is not yet in the line misses the last departure.
package final class TwoLocksLimiter: Sendable {
  private struct Line {
    var signals: [Int: Signal] = [:]
    var order: [Int] = []
    var arrivals = 0
  }

  private let limit: Int
  private let free: Mutex<Int>
  private let line = Mutex(Line())

  package init(limit: Int) {
    self.limit = limit
    free = Mutex(limit)
  }

  package var permitsInUse: Int { limit - free.withLock { $0 } }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await wait()
    defer { depart() }
    return try await body()
  }

  private func wait() async throws {
    let isAdmitted = free.withLock { free in
      if free == 0 { return false }
      free -= 1
      return true
    }
    if isAdmitted { return }
    // Here is the defect: the departure may come now.
    let (condition, signal) = Condition.makeCondition()
    let number = line.withLock { line in
      line.arrivals += 1
      line.signals[line.arrivals] = signal
      line.order.append(line.arrivals)
      return line.arrivals
    }
    do { try await condition.wait() } catch {
      let wasInLine = line.withLock { line in
        line.order.removeAll { $0 == number }
        return line.signals.removeValue(forKey: number) != nil
      }
      // Signalled and cancelled: the permit came, and goes on to the next.
      if !wasInLine { depart() }
      throw error
    }
  }

  private func depart() {
    let next = line.withLock { line in
      line.order.isEmpty ? nil : line.signals.removeValue(forKey: line.order.removeFirst())
    }
    if let next { next.signal() } else { free.withLock { $0 += 1 } }
  }
}
