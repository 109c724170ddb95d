internal import ExplorableLimiters

// Grant, then cancel: the permit is lost.
//
// A departing task hands its permit to the first in line by signalling. A waiter that is cancelled leaves
// the line; if it is not there any more, it has been given a permit, and passes it on.
//
// DEFECT: a waiter that has woken with its permit checks whether its task is cancelled, and if so throws
// without giving the permit back. The check looks like a precaution. A cancelled waiter that keeps the
// permit it was handed is a known fault of published libraries: anyio's issue 947, "CapacityLimiter lost
// token on cancellation" (github.com/agronholm/anyio), is one.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 arrives and waits; t1 departs and
// hands its permit to t2; before t2 has taken its first step, t2 is cancelled; t2 wakes, looks,
// throws. No permit is left for the next.
//
// The fix: the lock alone decides between hand-off and cancellation; a waiter that was handed the
// permit goes on, cancelled or not. See Sources/Limiters/ConcurrencyLimiter.swift.

/// DEFECT: a task cancelled after a permit was handed to it throws without giving the permit back.
package final class LeakedPermitLimiter: Sendable {
  private struct State {
    var inUse = 0
    var line: [Signal] = []
  }

  private let limit: Int
  private let state = Lock(State())

  package init(limit: Int) { self.limit = limit }

  package var permitsInUse: Int { state.withLock { $0.inUse } }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await acquire()
    defer { depart() }
    return try await body()
  }

  private func acquire() async throws {
    try Task.checkCancellation()
    let (condition, signal) = Condition.makeCondition()
    let isAdmitted = state.withLock { state in
      if state.inUse < limit {
        state.inUse += 1
        return true
      }
      state.line.append(signal)
      return false
    }
    if isAdmitted { return }
    do {
      try await condition.wait()
    } catch {
      // Not in the line any more: the permit came too late to wake us, so it goes to the next.
      if !leave(signal) { depart() }
      throw error
    }
    // Here is the defect: by now this task has a permit.
    try Task.checkCancellation()
  }

  private func leave(_ signal: Signal) -> Bool {
    state.withLock { state in
      guard let place = state.line.firstIndex(where: { $0 === signal }) else { return false }
      state.line.remove(at: place)
      return true
    }
  }

  private func depart() {
    let next: Signal? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.inUse -= 1
      return nil
    }
    next?.signal()
  }
}
