internal import Synchronization

/// The bare semaphore with a cancellation handler around each wait.
///
/// What the handler costs, the runtime asks for: registering it, two more changes of executor, an object that
/// a signal and a cancellation can both find. What a limiter costs beyond this is the limiter's own.
final class CancellableSemaphore: Sendable {
  /// What one task waits for, once.
  private final class Waiter: Sendable {
    private enum State {
      case empty
      case suspended(UnsafeContinuation<Bool, Never>)
      case settled(Bool)
    }

    private let state = Mutex(State.empty)

    /// False if the task was cancelled.
    func wait() async -> Bool {
      await withUnsafeContinuation { continuation in
        // Resumed once: here if it is settled; else by `settle`, which takes it out.
        let settled = state.withLock { state -> Bool? in
          if case .settled(let isServed) = state { return isServed }
          state = .suspended(continuation)
          return nil
        }
        if let settled { continuation.resume(returning: settled) }
      }
    }

    /// Called once, by who took the waiter out of the line.
    func settle(_ isServed: Bool) {
      let continuation = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
        guard case .suspended(let continuation) = state else {
          state = .settled(isServed)
          return nil
        }
        state = .settled(isServed)
        return continuation
      }
      continuation?.resume(returning: isServed)
    }
  }

  private struct State {
    var permits: Int
    /// Nil where the task was cancelled.
    var line: [Waiter?] = []
    /// How many at the front of the line have gone, and how many of those are not in the array any more.
    var gone = 0
    var dropped = 0

    /// Takes the first out; frees the permit if there is none.
    mutating func next() -> Waiter? {
      while gone < line.count {
        let next = line[gone].take()
        gone += 1
        if gone > 64, 2 * gone > line.count {
          line.removeFirst(gone)
          dropped += gone
          gone = 0
        }
        if let next { return next }
      }
      permits += 1
      return nil
    }

    mutating func leave(_ ticket: Int) -> Waiter? {
      ticket < dropped ? nil : line[ticket - dropped].take()
    }
  }

  private let state: Mutex<State>

  init(permits: Int) { state = Mutex(State(permits: permits)) }

  /// How many permits nobody has.
  var free: Int { state.withLock { $0.permits } }

  private func waitInLine() async throws {
    let waiter = Waiter()
    let ticket = state.withLock { state -> Int? in
      guard state.permits == 0 else {
        state.permits -= 1
        return nil
      }
      state.line.append(waiter)
      return state.dropped + state.line.count - 1
    }
    guard let ticket else { return }
    let isServed = await withTaskCancellationHandler {
      await waiter.wait()
    } onCancel: {
      state.withLock { $0.leave(ticket) }?.settle(false)
    }
    if !isServed { throw CancellationError() }
  }

  func run(_ body: () async throws -> Void) async throws {
    try Task.checkCancellation()
    let isFree = state.withLock { state in
      guard state.permits > 0 else { return false }
      state.permits -= 1
      return true
    }
    if !isFree { try await waitInLine() }
    defer { state.withLock { $0.next() }?.settle(true) }
    try await body()
  }
}
