// Closures sent to an actor, started in the order in which they were sent.
//
// An actor runs one piece of code at a time, but promises no order: of two tasks that call it, either may
// arrive first, and its executor may prefer a higher priority. An actor queue makes bodies *start* on one
// actor in the order in which they were enqueued.
//
// Structure: one permit (see `SerialPermit`), passed on when a body has started on the actor. The body
// then holds the actor, so the next body cannot start there before this one suspends or ends. Hence the
// order holds up to the first suspension, and bodies that suspend overlap, as calls of an actor do.
//
// A started body no longer holds the permit, so it may enqueue on its own queue and wait for the result.
// On a FIFO queue that is a deadlock.
//
// Each enqueued closure runs on a task of its own, which starts when the closure gets the permit. If one
// task ran a whole backlog without leaving the actor, every other caller of the actor would wait for the
// backlog. With a task for each, the actor is free between two bodies. These tasks are detached: the task
// that passes the permit on starts them, and they must not inherit its task-local values or its priority.
// They have the priority of the code that enqueued them: if that code then waits for the queue itself, an
// actor treats both alike.
//
// The queue refers to its actor weakly, so that an actor can own its queue. An enqueued closure keeps the
// actor alive until it has run.
//
// The idea and the names, here and in FIFOQueue, are those of Dan Federman's swift-async-queue
// (github.com/dfed/swift-async-queue); this is another implementation, with cancellation.

/// Sends closures to an actor so that they start in the order in which they were enqueued.
///
/// ```swift
/// actor Ledger {
///   nonisolated let queue = ActorQueue<Ledger>()
///   private var entries: [String] = []
///   init() { queue.adoptExecutionContext(of: self) }
///   nonisolated func note(_ entry: String) {
///     queue.enqueue { ledger in ledger.entries.append(entry) }
///   }
/// }
/// ```
///
/// The order is kept up to the first suspension of each body; bodies that suspend overlap. A body may
/// wait for the queue it runs on.
///
/// On an actor with an executor of its own, as the main actor is, the runtime sends a task that prefers a task
/// executor to the actor once more before its body starts, and the next body may come there first. On such an
/// actor the order is certain only if no task that waits prefers one, and the queue has no `executor`.
public final class ActorQueue<ActorType: Actor>: Sendable {
  private struct Context: Sendable {
    weak var actor: ActorType?
    var wasAdopted = false
  }

  private let priority: TaskPriority?
  private let executor: (any TaskExecutor)?
  private let context = Lock(Context())
  private let permit = SerialPermit()

  /// Makes an empty queue; call ``adoptExecutionContext(of:file:line:)`` before anything is enqueued.
  ///
  /// - Parameters:
  ///   - priority: The priority of enqueued closures; nil for that of the code that enqueues each. An
  ///     actor prefers higher priorities: of two bodies that have suspended, it may resume the later first.
  ///   - executor: Where the tasks of enqueued closures start; nil for the global pool.
  public init(priority: TaskPriority? = nil, executor: (any TaskExecutor)? = nil) {
    self.priority = priority
    self.executor = executor
  }

  /// Whether a body is on its way to the actor: a snapshot, out of date as soon as it is taken.
  ///
  /// A body that has started is no longer counted.
  public var isStarting: Bool { permit.isTaken }

  /// How many bodies wait to start: a snapshot, as ``isStarting``.
  public var waiting: Int { permit.waiting }

  /// Chooses the actor on which bodies run.
  ///
  /// ```swift
  /// let queue = ActorQueue<File>()
  /// queue.adoptExecutionContext(of: file)
  /// ```
  ///
  /// May be called in the actor's `init`, as its last act. The queue refers to the actor weakly.
  ///
  /// - Precondition: The queue has not adopted another actor that still exists.
  public func adoptExecutionContext(
    of actor: ActorType,
    file: StaticString = #file,
    line: UInt = #line
  ) {
    // The former actor is let go outside of the lock: this may be the last reference to it.
    let former = context.withLock { context in
      let former = context.actor
      context.wasAdopted = true
      if former == nil { context.actor = actor }
      return former
    }
    guard former == nil || former === actor else {
      stop(
        "ActorQueue<\(ActorType.self)>: adopted a second actor while the first still exists, so the "
          + "order of their bodies could not be kept; make a queue for each actor",
        file: file,
        line: line
      )
    }
  }

  /// Has `body` start on the actor after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// queue.enqueue { file in file.append("started") }
  /// ```
  ///
  /// From any thread. Once enqueued, `body` runs, even if the task that enqueued it is cancelled or
  /// ends; the actor is kept alive until it has.
  ///
  /// - Complexity: O(1) amortised.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  public func enqueue(
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (isolated ActorType) async -> Void
  ) {
    let actor = adoptedActor(file, line)
    start(permit.enqueue { await self.run(body, on: actor) })
  }

  /// Has `body` start on the actor after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// queue.enqueue { file in
  ///   try file.appendIfRoom("more")
  /// } onError: {
  ///   report($0)
  /// }
  /// ```
  ///
  /// No caller waits for `body` and could catch what it throws, so its errors go to `onError`, on the
  /// actor. `body` runs even if the task that enqueued it is cancelled or ends.
  ///
  /// - Complexity: O(1) amortised.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  public func enqueue(
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @escaping @Sendable (isolated ActorType) async throws -> Void,
    onError: @escaping @Sendable (any Error) -> Void
  ) {
    enqueue(file: file, line: line) { actor in
      do { try await body(actor) } catch { onError(error) }
    }
  }

  /// Runs `body` on the actor, starting after everything enqueued before it, and returns its value.
  ///
  /// ```swift
  /// let size = try await queue.enqueueAndWait { file in file.size }
  /// ```
  ///
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before it is
  ///   admitted, also where it need not wait: it leaves the queue at once and `body` does not run.
  public func enqueueAndWait<Value: Sendable>(
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @Sendable (isolated ActorType) async throws -> Value
  ) async throws -> Value {
    let actor = adoptedActor(file, line)
    try await permit.acquire()
    return try await run(body, on: actor)
  }

  /// Runs `body` as ``enqueueAndWait(file:line:_:)`` does, waiting even if the task is cancelled meanwhile.
  ///
  /// ```swift
  /// await queue.enqueueAndWaitUncancellably { file in file.append("ended") }
  /// ```
  ///
  /// For bodies that must run. Code that awaits the cancelled task waits as long.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  /// - Throws: What `body` throws, nothing of its own.
  public func enqueueAndWaitUncancellably<Value: Sendable, Failure: Error>(
    file: StaticString = #file,
    line: UInt = #line,
    _ body: @Sendable (isolated ActorType) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let actor = adoptedActor(file, line)
    await permit.acquireUncancellably()
    return try await run(body, on: actor)
  }

  /// Runs `body`, which has the permit, and passes the permit on as soon as it holds the actor.
  private func run<Value: Sendable, Failure: Error>(
    _ body: @Sendable (isolated ActorType) async throws(Failure) -> Value,
    on actor: isolated ActorType
  ) async throws(Failure) -> Value {
    start(permit.release())
    return try await body(actor)
  }

  private func start(_ work: SerialPermit.Work?) {
    guard let work else { return }
    Task.detached(
      on: executor,
      priority: priority ?? work.priority,
      operation: work.run
    )
  }

  private func adoptedActor(_ file: StaticString, _ line: UInt) -> ActorType {
    let (actor, wasAdopted) = context.withLock { ($0.actor, $0.wasAdopted) }
    if let actor { return actor }
    stop(
      wasAdopted
        ? "ActorQueue<\(ActorType.self)>: the adopted actor no longer exists, so there is nowhere to "
          + "run the body; keep the actor as long as its queue is used"
        : "ActorQueue<\(ActorType.self)>: no actor was adopted, so there is nowhere to run the body; "
          + "call adoptExecutionContext(of:) first, for example in the actor's init",
      file: file,
      line: line
    )
  }
}
