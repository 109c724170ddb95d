// Finding a `run` inside of a `run`.
//
// Each `run` of a limiter that detects nesting leaves a mark in a task-local value, which its child tasks
// inherit, and those started with `Task { }`. Before a task waits, it looks for a mark of the same limiter
// that has not been taken off: its holder still runs, and may be waiting for this very task.

/// The runs that a task is inside of, innermost first.
final class NestedRuns: Sendable {
  @TaskLocal static var current: NestedRuns?

  private let limiter: ObjectIdentifier
  private let outer: NestedRuns?
  private let hasEnded = Lock(false)

  private init(_ limiter: ConcurrencyLimiter, inside outer: NestedRuns?) {
    self.limiter = ObjectIdentifier(limiter)
    self.outer = outer
  }

  /// Whether the current task is inside of a run of `limiter` that has not ended.
  static func contain(_ limiter: ConcurrencyLimiter) -> Bool {
    var run = current
    while let inner = run {
      // A limiter outlives its runs, so nobody else has its identity before they have ended.
      if inner.limiter == ObjectIdentifier(limiter), !inner.hasEnded.withLock({ $0 }) {
        return true
      }
      run = inner.outer
    }
    return false
  }

  /// Runs `body`, which has a permit of `limiter`, marked.
  static func mark<Value, Failure: Error>(
    _ limiter: ConcurrencyLimiter,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let run = NestedRuns(limiter, inside: current)
    defer { run.hasEnded.withLock { $0 = true } }
    let result: Result<Value, Failure> = await $current.withValue(run) {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
