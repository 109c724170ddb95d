internal import Synchronization

/// The floor under every limiter that suspends its waiters: a lock, a count, a line of continuations.
///
/// It knows neither cancellation nor priorities nor changes of its limit; what a limiter costs beyond it
/// is what those cost.
final class BareSemaphore: Sendable {
  private struct State {
    var permits: Int
    var line: [UnsafeContinuation<Void, Never>] = []
    /// How many at the front of the line have gone.
    var gone = 0
  }

  private let state: Mutex<State>

  init(permits: Int) { state = Mutex(State(permits: permits)) }

  @inline(__always)
  func wait() async {
    let isFree = state.withLock { state in
      guard state.permits > 0 else { return false }
      state.permits -= 1
      return true
    }
    if !isFree { await waitInLine() }
  }

  private func waitInLine() async {
    // Resumed once: here if a permit came free meanwhile, else by the signal that takes it out of the line,
    // each decided under the lock.
    await withUnsafeContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.permits == 0 else {
          state.permits -= 1
          return true
        }
        state.line.append(continuation)
        return false
      }
      if isFree { continuation.resume() }
    }
  }

  @inline(__always)
  func signal() {
    let next = state.withLock { state -> UnsafeContinuation<Void, Never>? in
      guard state.gone < state.line.count else {
        state.permits += 1
        return nil
      }
      let next = state.line[state.gone]
      state.gone += 1
      if state.gone > 64, 2 * state.gone > state.line.count {
        state.line.removeFirst(state.gone)
        state.gone = 0
      }
      return next
    }
    next?.resume()
  }

  func run(_ body: () async throws -> Void) async throws {
    await wait()
    defer { signal() }
    try await body()
  }
}
