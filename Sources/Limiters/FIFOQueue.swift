// Closures run one at a time, in the order in which they were sent.
//
// Code that is not asynchronous can start tasks but cannot order them: of two `Task { }` in a row, either
// may start first. A FIFO queue keeps the order: each body starts when the one before it has *ended*,
// however often that one suspended.
//
// Structure: one permit (see `SerialPermit`), passed on when a body ends. A task in `enqueueAndWait` waits
// for the permit and then runs its body itself. So the body keeps its caller's isolation, and neither the
// body nor its value need be Sendable. An enqueued closure has no task: a drain task runs such closures
// one after the other. It starts when a closure gets the permit, and ends as soon as the permit goes to a
// waiting task or is free. An idle queue holds no task.
//
// The drain task is detached: it runs closures of many callers, so it must not carry the task-local values
// or the priority of the one that happened to find the queue idle. It runs on the executor that the queue
// was given: a drain task on the global pool could not run in virtual time.
//
// A body that waits for its own queue waits for its own end: a deadlock, which only cancellation can end.
// If bodies must call back into the queue, use an `ActorQueue`.

/// Runs closures one at a time, each to its end, in the order in which they were enqueued.
///
/// ```swift
/// let log = FIFOQueue(name: "log")
/// log.enqueue { await file.append("started") }
/// let size = try await log.enqueueAndWait { await file.size }
/// ```
///
/// - Warning: A body must not `enqueueAndWait` on the queue it runs on: it would wait for its own end.
public final class FIFOQueue: Sendable {
  private let name: String?
  private let priority: TaskPriority?
  private let executor: (any TaskExecutor)?
  @usableFromInline let permit = SerialPermit()

  /// Makes an empty queue.
  ///
  /// ```swift
  /// let uploads = FIFOQueue(name: "uploads", priority: .utility)
  /// ```
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
  public var isRunning: Bool { permit.isTaken }

  /// How many bodies wait to run: a snapshot, as ``isRunning``.
  public var waiting: Int { permit.waiting }

  /// Has `body` run after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// log.enqueue { await file.append("started") }
  /// ```
  ///
  /// From any thread. Once enqueued, `body` runs, even if the task that enqueued it is cancelled or
  /// ends.
  ///
  /// - Complexity: O(1) amortised.
  public func enqueue(_ body: @escaping @Sendable () async -> Void) {
    drain(from: permit.enqueue(body))
  }

  /// Has `body` run after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// log.enqueue {
  ///   try await file.appendIfRoom("more")
  /// } onError: {
  ///   report($0)
  /// }
  /// ```
  ///
  /// No caller waits for `body` and could catch what it throws, so its errors go to `onError`.
  ///
  /// - Parameters:
  ///   - body: Runs even if the task that enqueued it is cancelled or ends.
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
  /// ```swift
  /// let size = try await log.enqueueAndWait { await file.size }
  /// ```
  ///
  /// - Parameter body: Need not be `Sendable`, nor what it returns: they stay where the caller is.
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before it is
  ///   admitted, also where it need not wait: it leaves the queue at once and `body` does not run.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func enqueueAndWait<Value>(_ body: () async throws -> Value) async throws -> Value {
    try await permit.acquire()
    defer { passOn() }
    return try await body()
  }

  /// Runs `body` as ``enqueueAndWait(_:)`` does, waiting even if the task is cancelled meanwhile.
  ///
  /// ```swift
  /// await log.enqueueAndWaitUncancellably { await file.append("ended") }
  /// ```
  ///
  /// For bodies that must run. Code that awaits the cancelled task waits as long.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Throws: What `body` throws, nothing of its own.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  public func enqueueAndWaitUncancellably<Value, Failure: Error>(
    _ body: () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    await permit.acquireUncancellably()
    defer { passOn() }
    return try await body()
  }

  /// Runs `body` on `actor`, after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// log.enqueue(on: file) { file in file.append("on the actor") }
  /// ```
  ///
  /// Otherwise as ``enqueue(_:)``. The actor is kept alive until `body` has run.
  ///
  /// - Complexity: O(1) amortised.
  public func enqueue<Isolation: Actor>(
    on actor: Isolation,
    _ body: @escaping @Sendable (isolated Isolation) async -> Void
  ) {
    enqueue { await body(actor) }
  }

  /// Runs `body` on `actor` after everything enqueued before it, and returns its value.
  ///
  /// ```swift
  /// let length = try await log.enqueueAndWait(on: file) { file in file.size }
  /// ```
  ///
  /// Otherwise as ``enqueueAndWait(_:)``.
  ///
  /// - Returns: What `body` returns.
  /// - Complexity: O(1) amortised.
  /// - Throws: As ``enqueueAndWait(_:)``.
  public func enqueueAndWait<Isolation: Actor, Value: Sendable>(
    on actor: Isolation,
    _ body: @Sendable (isolated Isolation) async throws -> Value
  ) async throws -> Value {
    try await enqueueAndWait { try await body(actor) }
  }

  @usableFromInline
  func passOn() { drain(from: permit.release()) }

  private final class Place: Sendable {
    private let work: Lock<SerialPermit.Work?>

    init(_ work: SerialPermit.Work) { self.work = Lock(work) }

    func take() -> SerialPermit.Work? { work.withLock { $0.take() } }
  }

  /// Starts a task that runs `work`, which has the permit, and then the work that the permit goes to.
  private func drain(from work: SerialPermit.Work?) {
    guard let work else { return }
    // The task refers to the first work by way of a place that it empties: on a busy queue it runs for
    // ever, and would keep alive what its closure captured.
    let first = Place(work)
    Task.detached(name: name, on: executor, priority: priority) { [permit] in
      await first.take()?.run()
      while let next = permit.release() { await next.run() }
    }
  }
}
