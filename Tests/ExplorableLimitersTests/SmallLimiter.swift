import ExplorableLimiters

// The limiter of the documentation's thirty lines, word for word, over a lock that an exploration can stop at.

final class SmallLimiter: Sendable {
  private let state: Mutex<(free: Int, line: [Signal])>

  init(concurrency: Int) { state = Mutex((concurrency, [])) }

  func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    let (condition, signal) = Condition.makeCondition()
    let isFree = state.withLock { state in
      if state.free == 0 {
        state.line.append(signal)
        return false
      }
      state.free -= 1
      return true
    }
    do { if !isFree { try await condition.wait() } } catch {
      let place = state.withLock { state in
        state.line.firstIndex(of: signal).map { state.line.remove(at: $0) }
      }
      // Where the permit was handed over already, it is passed on.
      if place == nil { depart() }
      throw error
    }
    defer { depart() }
    return try await body()
  }

  private func depart() {
    let next: Signal? = state.withLock { state in
      if !state.line.isEmpty { return state.line.removeFirst() }
      state.free += 1
      return nil
    }
    next?.signal()
  }
}

extension SmallLimiter {
  /// Permits that nobody has, and tasks in line.
  var counts: (free: Int, waiting: Int) { state.withLock { ($0.free, $0.line.count) } }
}
