internal import ExplorableLimiters

// Two limits, taken in either order: a deadlock.
//
// A copy needs a connection and a file, and there is a limit on each. A download opens the connection first
// and then the file, an upload the file first and then the connection. Both limiters are sound.
//
// DEFECT: each of two tasks can hold what the other waits for (a circular wait: Coffman, Elphick and
// Shoshani, System Deadlocks, Computing Surveys 1971). With one limiter the same happens when a body
// enters the limiter it runs in. Neither limiter can detect it: the mistake is the order in which they are
// taken, and that order is spread over two functions which each look right.
//
// The interleaving that shows it, with limits of 1: t1, a download, opens its connection; t2,
// an upload, opens its file; t1 waits for the file; t2 waits for the connection.
//
// The fix: take limits in one order everywhere (Havender, Avoiding deadlock in multitasking systems, IBM
// Systems Journal 1968), or take one limit at a time. See the notes on taking one permit at a time in
// Sources/Limiters/ConcurrencyLimiter.swift.

/// DEFECT: tasks that take two limits in opposite order can wait for each other for ever.
package final class NestedLimits: Sendable {
  /// Which limit is taken first.
  package enum Direction: Sendable {
    case download
    case upload
  }

  private let connections: ConcurrencyLimiter
  private let files: ConcurrencyLimiter

  package init(limit: Int) {
    connections = ConcurrencyLimiter(concurrency: limit)
    files = ConcurrencyLimiter(concurrency: limit)
  }

  /// Permits of both limits together.
  package var permitsInUse: Int { connections.running + files.running }

  /// Runs a body with a permit of each; `willTakeSecond` hears when it has the first.
  package func run<Value>(
    _ direction: Direction,
    willTakeSecond: () -> Void = {},
    _ body: () async throws -> Value
  ) async throws -> Value {
    let (first, second) =
      switch direction {
      case .download: (connections, files)
      // Here is the defect.
      case .upload: (files, connections)
      }
    return try await first.run {
      // Opening takes a moment; any await will do.
      await Task.yield()
      willTakeSecond()
      return try await second.run(body)
    }
  }
}
