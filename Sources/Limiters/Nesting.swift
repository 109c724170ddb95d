// Finding a `run` inside of a `run`.
//
// Each `run` of a limiter that detects nesting leaves a mark in a task-local value, which its child tasks
// inherit, and those started with `Task { }`. Before a task waits, it looks for a mark of the same limiter
// that has not been taken off: its holder still runs, and may be waiting for this very task.
//
// A task that was started with `Task { }` may outlive the body that started it, and start another from a
// body of its own, and so on. So each mark is set beside those only whose bodies still run: otherwise such a
// chain of tasks would keep a mark for each body that there ever was.

/// A run of a limiter, known to the tasks that are inside of it.
final class RunMark: Sendable {
  /// The marks of the runs that a task is inside of, innermost last.
  @TaskLocal static var current: [RunMark] = []

  private let limiter: ObjectIdentifier
  private let hasEnded = Lock(false)

  private init(_ limiter: LimiterCore) { self.limiter = ObjectIdentifier(limiter) }

  private var isUnderWay: Bool { !hasEnded.withLock { $0 } }

  /// Whether the current task is inside of a run of `limiter` that has not ended.
  static func isOnTask(inside limiter: LimiterCore) -> Bool {
    // A core outlives the runs of its limiter, so nobody else has its identity before they have ended.
    current.contains { $0.limiter == ObjectIdentifier(limiter) && $0.isUnderWay }
  }

  /// Runs `body`, which has a permit of `limiter`, marked.
  static func mark<Value, Failure: Error>(
    _ limiter: LimiterCore,
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let mark = RunMark(limiter)
    defer { mark.hasEnded.withLock { $0 = true } }
    let marks = current.filter(\.isUnderWay) + [mark]
    let result: Result<Value, Failure> = await $current.withValue(marks) {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }
    return try result.get()
  }
}
