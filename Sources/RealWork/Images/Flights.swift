internal import Limiters

// One piece of work for all who ask for the same thing at the same time.
//
// The first caller starts the work, as a separate task; a caller that asks while the work is under way
// waits for the same result. The work belongs to nobody, so cancelling one of those who wait takes only
// that one away. When the last has gone, nobody wants the result any more, and the work is cancelled too. Who
// asks after that begins anew, beside the work that is being given up.
//
// The lock guards who waits for what. Looking whether the work is under way, and joining or announcing it,
// are one step under it: with a gap between them, two would look, find nothing, and both begin.
//
// How they wait: at one `Condition` for each flight. It remembers its signal, so who joins a moment before
// the landing misses nothing; and it lets a cancelled task go at once, which `Task.value` would not.

/// Work under way, by key: done once for all who ask while somebody waits for it.
package final class Flights<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  /// One piece of work; its result is there once the condition is signalled.
  private final class Flight: Sendable {
    let landing: Condition
    let landed: Signal
    let result = Lock<Result<Value, any Error>?>(nil)

    init() { (landing, landed) = Condition.makeCondition() }
  }

  private struct Entry {
    let flight = Flight()
    var passengers = 1
    var task: Task<Void, Never>?
  }

  private let entries = Lock<[Key: Entry]>([:])

  package init() {}

  /// Begins `work` unless it is under way for this key, and waits for its result.
  ///
  /// If the work of another caller is waited for, `join` is called before the wait.
  ///
  /// - Returns: What the work returns.
  /// - Throws: What the work throws, to all who wait for it; `CancellationError` as soon as the calling
  ///   task is cancelled, while the others go on.
  package func value(
    for key: Key,
    onJoining join: () -> Void = {},
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    try Task.checkCancellation()
    let (flight, isFirst) = board(key)
    if isFirst { start(flight, key, work) } else { join() }
    do {
      try await flight.landing.wait()
    } catch {
      leave(flight, key)
      throw error
    }
    guard let result = flight.result.withLock({ $0 }) else {
      preconditionFailure("a flight was signalled before it had a result")
    }
    return try result.get()
  }

  private func board(_ key: Key) -> (Flight, isFirst: Bool) {
    entries.withLock { entries in
      if let flight = entries[key]?.flight {
        entries[key]?.passengers += 1
        return (flight, false)
      }
      let entry = Entry()
      entries[key] = entry
      return (entry.flight, true)
    }
  }

  private func start(
    _ flight: Flight,
    _ key: Key,
    _ work: @escaping @Sendable () async throws -> Value
  ) {
    let task = Task {
      let result: Result<Value, any Error>
      do { result = .success(try await work()) } catch { result = .failure(error) }
      flight.result.withLock { $0 = result }
      // A caller that comes from here on begins anew; those on board have the result.
      remove(flight, key)
      flight.landed.signal()
    }
    // The first is still on board, so nobody has had to cancel the task yet; it may have landed.
    entries.withLock { if $0[key]?.flight === flight { $0[key]?.task = task } }
  }

  /// Takes a cancelled caller off; without passengers the work is given up.
  private func leave(_ flight: Flight, _ key: Key) {
    let abandoned = entries.withLock { entries -> Task<Void, Never>? in
      guard let entry = entries[key], entry.flight === flight else { return nil }
      entries[key]?.passengers -= 1
      if entry.passengers > 1 { return nil }
      entries[key] = nil
      return entry.task
    }
    abandoned?.cancel()
  }

  private func remove(_ flight: Flight, _ key: Key) {
    entries.withLock { if $0[key]?.flight === flight { $0[key] = nil } }
  }
}
