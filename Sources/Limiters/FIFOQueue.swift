// One at a time, in the order they were sent.
//
// Code that is not asynchronous can start a task but not say in which order tasks run: two `Task { }`
// in a row may start either way round. A FIFO queue keeps the order: each body starts when the one
// before it has *ended*, however often that one suspended.
//
// Structure: one turn (see `Turn`), passed on when a body ends. Two kinds of holders. A task in
// `enqueueAndWait` waits for the turn and then runs its body itself, so the body keeps its caller's
// isolation, and neither it nor its value need be Sendable. Enqueued closures have no task: a
// drain task runs them, one after the other, starting on demand and ending as soon as the turn goes to a
// waiting task or to nobody. An idle queue holds no task.
//
// The drain task is detached: it works for many, so it must not carry the task-local values or the
// priority of whichever caller happened to find the queue idle. Where an executor was given it runs
// there: a queue that started its drain on the global pool could not be run in virtual time.
//
// What goes wrong: a body that waits for its own queue waits for its own end. Nothing breaks that
// deadlock but cancellation. If bodies must call back into the queue, use an `ActorQueue`.

/// Runs closures one at a time, each to its end, in the order in which they were enqueued.
///
/// ```swift
/// let log = FIFOQueue(name: "log")
/// log.enqueue { await file.append("started") }
/// let size = try await log.enqueueAndWait { try await file.size }
/// ```
///
/// - Warning: A body must not `enqueueAndWait` on the queue it runs on: it would wait for its own end.
public final class FIFOQueue: Sendable {
  private let name: String?
  private let priority: TaskPriority?
  private let executor: (any TaskExecutor)?
  private let turn = Turn()

  /// Makes an empty queue.
  ///
  /// - Parameters:
  ///   - name: The name of the task that runs enqueued closures, for debuggers.
  ///   - priority: The priority of that task; nil for the default.
  ///   - executor: Where that task runs; nil for the global pool.
  public init(
    name: String? = nil,
    priority: TaskPriority? = nil,
    executor: (any TaskExecutor)? = nil
  ) {
    self.name = name
    self.priority = priority
    self.executor = executor
  }

  /// Whether a body runs: a snapshot, out of date as soon as it is taken while tasks run.
  public var isRunning: Bool { turn.isTaken }

  /// How many bodies wait for their turn: a snapshot, as ``isRunning``.
  public var waiting: Int { turn.waiting }

  /// Has `body` run after everything enqueued before it, and returns at once.
  ///
  /// From any thread. Once enqueued, `body` runs, whatever becomes of the task that enqueued it.
  ///
  /// - Complexity: O(1) amortised.
  public func enqueue(_ body: @escaping @Sendable () async -> Void) {
    drain(from: turn.enqueue(body))
  }

  /// Has `body` run after everything enqueued before it, and returns at once.
  ///
  /// Nobody waits for `body`, so nobody is there to catch what it throws: `onError` is asked for, so
  /// that no error is lost.
  ///
  /// - Parameters:
  ///   - body: Runs in its turn, whatever becomes of the task that enqueued it.
  ///   - onError: Is given what `body` throws, before the next body starts.
  /// - Complexity: O(1) amortised.
  public func enqueue(
    _ body: @escaping @Sendable () async throws -> Void,
    onError: @escaping @Sendable (any Error) -> Void
  ) {
    enqueue {
      do { try await body() } catch { onError(error) }
    }
  }

  /// Runs `body` after everything enqueued before it, on the calling task and in the caller's
  /// isolation.
  ///
  /// - Parameter body: Need not be `Sendable`, nor what it returns: they stay where the caller is.
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before its turn: it
  ///   leaves the queue at once and `body` does not run.
  public func enqueueAndWait<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await turn.take()
    defer { drain(from: turn.pass()) }
    return try await body()
  }

  /// Runs `body` as ``enqueueAndWait(_:)`` does, waiting even if the task is cancelled meanwhile.
  ///
  /// For bodies that must run; whoever awaits the cancelled task waits as long as the queue is.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Throws: What `body` throws, nothing of its own.
  public func enqueueAndWaitUncancellably<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await turn.takeUncancellably()
    defer { drain(from: turn.pass()) }
    return try await body()
  }

  /// Starts a task that runs `work`, which has the turn, and then whatever work the turn goes to.
  private func drain(from work: Turn.Work?) {
    guard let work else { return }
    Task.detached(name: name, executorPreference: executor, priority: priority) { [turn] in
      await work()
      while let next = turn.pass() { await next() }
    }
  }
}
