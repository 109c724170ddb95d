import Dispatch
import Limiters
import Mechanisms

/// A world without time: work ends when the test opens its gate.
///
/// A task's service time is its number, so the length asked for says who asks.
final class GatedWorld: World {
  private struct State {
    var areAllOpen = false
    var open: Set<Int64> = []
    var suspended: [Int64: CheckedContinuation<Void, any Error>] = [:]
    var cancelled: Set<Int64> = []
    var blocked: [Int64: DispatchSemaphore] = [:]

    func isOpen(_ gate: Int64) -> Bool { areAllOpen || open.contains(gate) }
  }

  private let state = Lock(State())

  var now: Int64 { 0 }

  func open(_ task: Int) {
    let gate = Int64(task)
    let (suspended, blocked) = state.withLock { state in
      state.open.insert(gate)
      return (
        state.suspended.removeValue(forKey: gate), state.blocked.removeValue(forKey: gate)
      )
    }
    suspended?.resume()
    blocked?.signal()
  }

  /// Opens every gate, for ever.
  func openAll() {
    let (suspended, blocked) = state.withLock { state in
      state.areAllOpen = true
      defer {
        state.suspended = [:]
        state.blocked = [:]
      }
      return (state.suspended, state.blocked)
    }
    for continuation in suspended.values { continuation.resume() }
    for semaphore in blocked.values { semaphore.signal() }
  }

  func suspend(for gate: Int64) async throws {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          if state.cancelled.contains(gate) { return .failure(CancellationError()) }
          if state.isOpen(gate) { return .success(()) }
          state.suspended[gate] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.cancelled.insert(gate)
        return state.suspended.removeValue(forKey: gate)
      }
      continuation?.resume(throwing: CancellationError())
    }
  }

  func leaveStartingThread() async { await Task.yield() }

  func block(for gate: Int64) {
    let semaphore: DispatchSemaphore? = state.withLock { state in
      if state.isOpen(gate) { return nil }
      let semaphore = DispatchSemaphore(value: 0)
      state.blocked[gate] = semaphore
      return semaphore
    }
    semaphore?.wait()
  }

  func spin(for gate: Int64) { block(for: gate) }
}
