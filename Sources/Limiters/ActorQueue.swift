// In order onto an actor.
//
// An actor runs one piece of code at a time, but in no promised order: two tasks that call it may
// arrive either way round, and its executor may prefer a higher priority. An actor queue sends
// bodies to one actor so that they *start* in the order in which they were enqueued.
//
// Structure: one turn (see `Turn`), passed on when a body has started on the actor. That is
// early enough to keep nobody out longer than necessary, and late enough to keep the order: while
// the body runs it holds the actor, so the next body, wherever its task is by now, cannot start on the
// actor before this one suspends or ends. Hence the order holds up to the first suspension, and
// bodies that suspend overlap, as calls of an actor do.
//
// Because a started body no longer holds the turn, it may enqueue on its own queue and wait for it. A
// FIFO queue would deadlock.
//
// Each enqueued closure runs on a task of its own, started when the turn comes to it. If one task
// started a whole backlog without leaving the actor, everyone else who calls the actor would have to
// wait for the backlog; as it is, the actor is free between two bodies. These tasks are
// detached: they are started by whoever passes the turn, and must not inherit its task-local values or its
// priority.
//
// The queue refers to its actor weakly, so that an actor can own its queue. What is enqueued holds
// the actor until it has run.

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
public final class ActorQueue<ActorType: Actor>: Sendable {
  private struct Context: Sendable {
    weak var actor: ActorType?
    var wasAdopted = false
  }

  private let executor: (any TaskExecutor)?
  private let context = Lock(Context())
  private let turn = Turn()

  /// Makes an empty queue; call ``adoptExecutionContext(of:)`` before anything is enqueued.
  ///
  /// - Parameter executor: Where the tasks of enqueued closures start; nil for the global pool.
  public init(executor: (any TaskExecutor)? = nil) {
    self.executor = executor
  }

  /// Whether a body is on its way to the actor: a snapshot, out of date as soon as it is taken.
  ///
  /// A body that has started is no longer counted.
  public var isStarting: Bool { turn.isTaken }

  /// How many bodies wait for their turn: a snapshot, as ``isStarting``.
  public var waiting: Int { turn.waiting }

  /// Chooses the actor on which bodies run.
  ///
  /// May be called in the actor's `init`, as its last act. The queue refers to the actor weakly.
  ///
  /// - Precondition: The queue has not adopted another actor that still exists.
  public func adoptExecutionContext(of actor: ActorType) {
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
          + "order of their bodies could not be kept; make a queue for each actor"
      )
    }
  }

  /// Has `body` start on the actor after everything enqueued before it, and returns at once.
  ///
  /// From any thread. Once enqueued, `body` runs, whatever becomes of the task that enqueued it; the
  /// actor is kept alive until it has.
  ///
  /// - Complexity: O(1) amortised.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  public func enqueue(_ body: @escaping @Sendable (isolated ActorType) async -> Void) {
    let actor = adoptedActor()
    start(turn.enqueue { await self.run(body, on: actor) })
  }

  /// Has `body` start on the actor after everything enqueued before it, and returns at once.
  ///
  /// Nobody waits for `body`, so nobody is there to catch what it throws: `onError` is asked for, so
  /// that no error is lost.
  ///
  /// - Parameters:
  ///   - body: Runs in its turn, whatever becomes of the task that enqueued it.
  ///   - onError: Is given what `body` throws, on the actor.
  /// - Complexity: O(1) amortised.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  public func enqueue(
    _ body: @escaping @Sendable (isolated ActorType) async throws -> Void,
    onError: @escaping @Sendable (any Error) -> Void
  ) {
    enqueue { actor in
      do { try await body(actor) } catch { onError(error) }
    }
  }

  /// Runs `body` on the actor, starting after everything enqueued before it, and returns its value.
  ///
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before its turn: it
  ///   leaves the queue at once and `body` does not run.
  public func enqueueAndWait<Value: Sendable>(
    _ body: @Sendable (isolated ActorType) async throws -> Value
  ) async throws -> Value {
    let actor = adoptedActor()
    try await turn.take()
    return try await run(body, on: actor)
  }

  /// Runs `body` as ``enqueueAndWait(_:)`` does, waiting even if the task is cancelled meanwhile.
  ///
  /// For bodies that must run; whoever awaits the cancelled task waits as long as the queue is.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Precondition: The queue has adopted an actor, and it still exists.
  /// - Throws: What `body` throws, nothing of its own.
  public func enqueueAndWaitUncancellably<Value: Sendable, Failure: Error>(
    _ body: @Sendable (isolated ActorType) async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let actor = adoptedActor()
    await turn.takeUncancellably()
    return try await run(body, on: actor)
  }

  /// Runs `body`, which has the turn, and passes the turn on as soon as the actor is held.
  private func run<Value: Sendable, Failure: Error>(
    _ body: @Sendable (isolated ActorType) async throws(Failure) -> Value,
    on actor: isolated ActorType
  ) async throws(Failure) -> Value {
    start(turn.pass())
    return try await body(actor)
  }

  private func start(_ work: Turn.Work?) {
    guard let work else { return }
    Task.detached(executorPreference: executor, operation: work)
  }

  private func adoptedActor() -> ActorType {
    let (actor, wasAdopted) = context.withLock { ($0.actor, $0.wasAdopted) }
    if let actor { return actor }
    stop(
      wasAdopted
        ? "ActorQueue<\(ActorType.self)>: the adopted actor no longer exists, so there is nowhere to "
          + "run the body; keep the actor as long as its queue is used"
        : "ActorQueue<\(ActorType.self)>: no actor was adopted, so there is nowhere to run the body; "
          + "call adoptExecutionContext(of:) first, for example in the actor's init"
    )
  }
}
