internal import ExplorableLimiters

// A newcomer takes the permit that was meant for another: the order is lost.
//
// A departing task frees its permit and wakes the first in line, who then takes it.
//
// DEFECT: between the permit becoming free and the woken task taking it, a newcomer may take it. The
// woken task finds nothing and goes to the back of the line. The limit is kept, and the throughput is
// better than with hand-offs: many locks do this on purpose (Java's, for example, and document it as
// barging). Here it is wrong, because this limiter promises the order of arrival. Without that promise a
// task could still wait without bound.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 arrives and waits; t1 departs, frees
// its permit and wakes t2; before t2 has taken its first step, t3 arrives and takes the permit.
//
// The fix: a departing task hands its permit on and does not free it while others wait. See
// `depart` in Sources/Limiters/LimiterState.swift.

/// DEFECT: a newcomer may overtake a task that was woken for its permit.
package final class BargingLimiter: Sendable {
  private struct State {
    var inUse = 0
    var line: [Signal] = []

    /// Removes the first waiter, to be told that a permit is free.
    mutating func next() -> Signal? { line.isEmpty ? nil : line.removeFirst() }
  }

  private let limit: Int
  private let state = Lock(State())

  package init(limit: Int) { self.limit = limit }

  package var permitsInUse: Int { state.withLock { $0.inUse } }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try Task.checkCancellation()
    // Here is the defect: a task that was woken arrives again, with no advantage over a newcomer.
    while let (condition, signal) = arrive() {
      do {
        try await condition.wait()  // to park
      } catch {
        leave(signal)
        throw error
      }
    }
    defer { depart() }
    return try await body()
  }

  /// Runs `body` if a permit is free on arrival; returns nil without having run it if none is.
  package func runIfFree<Value>(_ body: () async throws -> Value) async rethrows -> Value? {
    guard state.withLock({ takePermit(&$0) }) else { return nil }
    defer { depart() }
    return try await body()
  }

  private func takePermit(_ state: inout State) -> Bool {
    guard state.inUse < limit else { return false }
    state.inUse += 1
    return true
  }

  /// Takes a permit and returns nil, or joins the line.
  private func arrive() -> (Condition, Signal)? {
    state.withLock { state in
      if takePermit(&state) { return nil }
      let (condition, signal) = Condition.makeCondition()
      state.line.append(signal)
      return (condition, signal)
    }
  }

  private func depart() {
    let next = state.withLock { state in
      state.inUse -= 1
      return state.next()
    }
    next?.signal()
  }

  /// Takes a cancelled waiter out; one that was woken already wakes the next instead.
  private func leave(_ signal: Signal) {
    let next: Signal? = state.withLock { state in
      guard let place = state.line.firstIndex(where: { $0 === signal }) else {
        return state.inUse < limit ? state.next() : nil
      }
      state.line.remove(at: place)
      return nil
    }
    next?.signal()
  }
}
