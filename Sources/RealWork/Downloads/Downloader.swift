package import Foundation
package import Limiters

// An app's downloads: at most so many at once, each tried again when it fails, all of them suspended and
// resumed together.
//
// To suspend is to cut the transfers off and to go on later from where they were: the partial files are
// there (see `Transfers`). So a suspended download holds neither a connection nor, since it leaves the
// limiter, a permit. It waits at the gate, a `Condition` that `resume()` signals.

/// Downloads files, some at a time.
package final class Downloader: Sendable {
  private struct State {
    /// Signalled when downloads may go on; nil while they may.
    var gate: (condition: Condition, signal: Signal)?
    /// The transfers under way, and how each is cut off.
    var transfers: [Int: Task<Void, any Error>] = [:]
    var begun = 0
  }

  private let transfers: Transfers
  private let limiter: ConcurrencyLimiter
  private let attempts: Int
  private let backoff: @Sendable () -> Backoff
  private let state = Lock(State())

  /// At most `limit` transfers at once; one that fails as it may not fail the next time is tried again,
  /// `attempts` times in all, each time after a longer pause, in which it has no permit.
  ///
  /// As for `stallAfter`, see `Transfers`.
  package init(
    limit: Int,
    attempts: Int = 4,
    stallAfter: Duration = .seconds(30),
    backoff: @escaping @Sendable () -> Backoff = { Backoff(first: .milliseconds(200)) }
  ) {
    transfers = Transfers(connections: limit, stallAfter: stallAfter)
    limiter = ConcurrencyLimiter(concurrency: limit)
    self.attempts = attempts
    self.backoff = backoff
  }

  package var statistics: ConcurrencyLimiter.Statistics { limiter.statistics }

  /// Downloads what is at an address into a file.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; the last attempt's error.
  package func download(
    _ url: URL,
    to file: URL,
    progress: @escaping @Sendable (Transfers.Progress) -> Void = { _ in }
  ) async throws {
    try await retrying(attempts: attempts, backoff()) {
      repeat {
        try await passGate()
      } while try await !limiter.run { try await transfer(url, file, progress) }
    }
  }

  /// Cuts all transfers off; downloads wait, old and new, until `resume()`.
  package func suspend() {
    let cut = state.withLock { state -> [Task<Void, any Error>] in
      if state.gate == nil { state.gate = Condition.makeCondition() }
      return Array(state.transfers.values)
    }
    for transfer in cut { transfer.cancel() }
  }

  /// Lets the downloads go on from where they were.
  package func resume() {
    let gate = state.withLock { state in
      defer { state.gate = nil }
      return state.gate?.signal
    }
    gate?.signal()
  }

  private func passGate() async throws {
    try await state.withLock { $0.gate?.condition }?.wait()
  }

  /// Whether the file is there: not if the transfer was cut off by `suspend()`.
  private func transfer(
    _ url: URL,
    _ file: URL,
    _ progress: @escaping @Sendable (Transfers.Progress) -> Void
  ) async throws -> Bool {
    let (number, isOpen) = state.withLock { state in
      state.begun += 1
      return (state.begun, state.gate == nil)
    }
    guard isOpen else { return false }
    let task = Task { try await transfers.download(url, to: file, progress: progress) }
    let isCut = state.withLock { state in
      state.transfers[number] = task
      return state.gate != nil
    }
    if isCut { task.cancel() }
    defer { state.withLock { $0.transfers[number] = nil } }
    do {
      try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      return true
    } catch is CancellationError where !Task.isCancelled {
      return false
    }
  }
}
