internal import ExplorableSynchronization

// Resume under the lock: a cancellation and a departure wait for each other.
//
// A counting semaphore for tasks. It keeps its waiters' continuations in a line, behind a lock. A signal
// takes the first out of the line and resumes it; a cancellation handler takes its own waiter out and
// resumes it with the answer that it was cancelled.
//
// DEFECT: the signal resumes while it holds the lock. Resuming a task waits until a cancellation handler of
// that task, if one runs, has ended; and the handler waits for the lock. Neither goes on.
//
// The interleaving that shows it, with limit 1: t1 runs, t2 waits; t2 is cancelled, and its handler is
// about to take the lock; t1 departs, takes the lock and resumes t2.
//
// The fix: decide under the lock, resume after it is released. See Sources/Limiters/Event.swift.

/// DEFECT: a waiter is resumed under the lock that its cancellation handler takes.
package final class HeldLockSemaphore: Sendable {
  private struct State {
    var free: Int
    var line: [(number: Int, waiter: UnsafeContinuation<Bool, Never>)] = []
    var left: Set<Int> = []
    var arrivals = 0
  }

  private let limit: Int
  private let state: Mutex<State>

  package init(limit: Int) {
    self.limit = limit
    state = Mutex(State(free: limit))
  }

  package var permitsInUse: Int { limit - state.withLock { $0.free } }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    if await !wait() { throw CancellationError() }
    defer { signal() }
    return try await body()
  }

  /// Takes a permit; false if the task was cancelled first.
  private func wait() async -> Bool {
    let number = state.withLock { state in
      state.arrivals += 1
      return state.arrivals
    }
    return await withTaskCancellationHandler {
      // Resumed once: by who takes it out of the line, or here if it never was in it.
      await withUnsafeContinuation { waiter in
        let answer = state.withLock { state -> Bool? in
          if state.left.remove(number) != nil { return false }
          if state.free > 0 {
            state.free -= 1
            return true
          }
          state.line.append((number, waiter))
          return nil
        }
        if let answer { waiter.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = state.withLock { state -> UnsafeContinuation<Bool, Never>? in
        if let index = state.line.firstIndex(where: { $0.number == number }) {
          return state.line.remove(at: index).waiter
        }
        state.left.insert(number)
        return nil
      }
      waiter?.resume(returning: false)
    }
  }

  private func signal() {
    state.withLock { state in
      if state.line.isEmpty {
        state.free += 1
      } else {
        // Here is the defect: the lock is held.
        state.line.removeFirst().waiter.resume(returning: true)
      }
    }
  }
}
