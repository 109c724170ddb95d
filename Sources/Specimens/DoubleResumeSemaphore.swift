package import Basics
internal import ExplorableLimiters

// Grant, then cancel: the waiter is resumed twice.
//
// A counting semaphore for tasks. It keeps a waiter's continuation under the waiter's number. A signal
// takes the first number out of the line and resumes its continuation. A cancellation handler takes its
// own number out of the line and resumes its continuation with the error.
//
// DEFECT: a signal takes the waiter out of the line but leaves its continuation where the cancellation
// handler still finds it, until the waiter has woken and removes it. A cancellation in between resumes it
// a second time, which stops the process. A widely used semaphore for Swift shipped this. Ordinary tests
// pass, and the thread sanitizer finds nothing, because each access is made under the lock.
//
// The interleaving that shows it, with limit 1: t1 runs; t2 arrives and waits; t1 departs and
// resumes t2; before t2 has taken its first step, t2 is cancelled.
//
// The fix: the code that removes a waiter from the line, under the lock, resumes it, and no other code
// does. See Sources/Limiters/Event.swift and ConcurrencyLimiter.swift.

/// DEFECT: a waiter that was granted its permit and then cancelled is resumed twice.
package final class DoubleResumeSemaphore: Sendable {
  private struct State {
    var free: Int
    var line: [Int] = []
    var continuations: [Int: ReportedContinuation<Void>] = [:]
    var arrivals = 0
  }

  private let limit: Int
  private let state: Lock<State>
  private let report: DoubleResumeReporter?

  /// A semaphore with `limit` permits, which stops the program at a second resume.
  package convenience init(limit: Int) { self.init(limit: limit, onDoubleResume: nil) }

  /// A semaphore with `limit` permits, which tells `report` of a second resume instead.
  package init(limit: Int, onDoubleResume report: DoubleResumeReporter?) {
    self.limit = limit
    self.report = report
    state = Lock(State(free: limit))
  }

  package var permitsInUse: Int { limit - state.withLock { $0.free } }

  package func run<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await wait()
    defer { signal() }
    return try await body()
  }

  private func wait() async throws {
    try Task.checkCancellation()
    let number = state.withLock { state in
      state.arrivals += 1
      return state.arrivals
    }
    defer { state.withLock { $0.continuations[number] = nil } }
    try await withTaskCancellationHandler {
      try await ReportedContinuation.wait(
        for: "the waiter's continuation",
        reportingTo: report
      ) { continuation in
        let result: Result<Void, any Error>? = state.withLock { state in
          // Cancelled before it was in the line: the handler has found nothing.
          if Task.isCancelled { return .failure(CancellationError()) }
          if state.free > 0 {
            state.free -= 1
            return .success(())
          }
          state.line.append(number)
          state.continuations[number] = continuation
          return nil
        }
        if let result { continuation.resume(with: result) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        state.line.removeAll { $0 == number }
        return state.continuations[number]
      }
      continuation?.resume(with: .failure(CancellationError()))
    }
  }

  private func signal() {
    let continuation: ReportedContinuation<Void>? = state.withLock { state in
      if state.line.isEmpty {
        state.free += 1
        return nil
      }
      // Left in `continuations`, for the handler to find.
      return state.continuations[state.line.removeFirst()]
    }
    continuation?.resume(with: .success(()))
  }
}
