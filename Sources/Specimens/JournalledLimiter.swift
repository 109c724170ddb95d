internal import ExplorableLimiters

// What two specimens have in common: actors that count permits and note something in a journal.
//
// They differ in `enter`, and their defects are there.

/// A limiter that is an actor: a task enters, runs its body and departs.
package protocol JournalledLimiter: Actor {
  var permits: CountedPermits { get set }

  /// Takes a permit, waiting for departures until there is one.
  func enter() async throws
}

extension JournalledLimiter {
  package nonisolated func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    try await enter()
    do {
      let value = try await body()
      await depart()  // to signal
      return value
    } catch {
      await depart()  // to signal
      throw error
    }
  }

  private func depart() { permits.depart() }
}

/// How many permits are in use, and the next departure, for which tasks can wait.
package struct CountedPermits {
  let limit: Int
  var inUse = 0
  private(set) var departure = Condition.makeCondition()

  init(limit: Int) { self.limit = limit }

  fileprivate mutating func depart() {
    inUse -= 1
    departure.signal.signal()
    departure = Condition.makeCondition()
  }
}

/// Counts notes, for a report somewhere else.
actor Journal {
  private var notes = 0

  func note() { notes += 1 }
}
