// An `ActorQueue` for the main actor: one queue for the whole program, and others where that is too much.

/// Sends closures to the main actor so that they start in the order in which they were enqueued.
///
/// ```swift
/// MainActorQueue.shared.enqueue { label.text = "started" }
/// ```
///
/// The order is kept up to the first suspension of each body; bodies that suspend overlap. A body may
/// wait for the queue it runs on. The main actor is free between two bodies.
///
/// The body of a task that waits and prefers a task executor may start after the next: see ``ActorQueue``.
public final class MainActorQueue: Sendable {
  /// One queue for the whole program, so that there is one order.
  public static let shared = MainActorQueue()

  private let queue: ActorQueue<MainActor>

  /// Makes a queue with an order of its own.
  ///
  /// ```swift
  /// let animations = MainActorQueue()
  /// animations.enqueue { label.text = "fading" }
  /// ```
  ///
  /// - Parameter priority: The priority of enqueued closures, as for an ``ActorQueue``.
  public init(priority: TaskPriority? = nil) {
    queue = ActorQueue(priority: priority)
    queue.adoptExecutionContext(of: MainActor.shared)
  }

  /// Whether a body is on its way to the main actor: a snapshot, out of date as soon as it is taken.
  ///
  /// A body that has started is no longer counted.
  public var isStarting: Bool { queue.isStarting }

  /// How many bodies wait to start: a snapshot, as ``isStarting``.
  public var waiting: Int { queue.waiting }

  /// Has `body` start on the main actor after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// MainActorQueue.shared.enqueue { label.text = "started" }
  /// ```
  ///
  /// From any thread. Once enqueued, `body` runs, even if the task that enqueued it is cancelled or
  /// ends.
  ///
  /// - Complexity: O(1) amortised.
  public func enqueue(_ body: @escaping @Sendable @MainActor () async -> Void) {
    queue.enqueue { _ in await body() }
  }

  /// Has `body` start on the main actor after everything enqueued before it, and returns at once.
  ///
  /// ```swift
  /// MainActorQueue.shared.enqueue {
  ///   try label.load("more")
  /// } onError: {
  ///   label.text = "\($0)"
  /// }
  /// ```
  ///
  /// No caller waits for `body` and could catch what it throws, so its errors go to `onError`.
  ///
  /// - Parameters:
  ///   - body: Runs even if the task that enqueued it is cancelled or ends.
  ///   - onError: Is given what `body` throws, on the main actor.
  /// - Complexity: O(1) amortised.
  public func enqueue(
    _ body: @escaping @Sendable @MainActor () async throws -> Void,
    onError: @escaping @Sendable @MainActor (any Error) -> Void
  ) {
    enqueue {
      do { try await body() } catch { onError(error) }
    }
  }

  /// Runs `body` on the main actor, starting after everything enqueued before it, and returns its
  /// value.
  ///
  /// ```swift
  /// let text = try await MainActorQueue.shared.enqueueAndWait { label.text }
  /// ```
  ///
  /// - Complexity: O(1) amortised to arrive, to be admitted and to be cancelled.
  /// - Throws: What `body` throws. `CancellationError` if the task is cancelled before it is
  ///   admitted, also where it need not wait: it leaves the queue at once and `body` does not run.
  public func enqueueAndWait<Value: Sendable>(
    _ body: @Sendable @MainActor () async throws -> Value
  ) async throws -> Value {
    try await queue.enqueueAndWait { _ in try await body() }
  }

  /// Runs `body` as ``enqueueAndWait(_:)`` does, waiting even if the task is cancelled meanwhile.
  ///
  /// ```swift
  /// await MainActorQueue.shared.enqueueAndWaitUncancellably { label.text = "ended" }
  /// ```
  ///
  /// For bodies that must run. Code that awaits the cancelled task waits as long.
  ///
  /// - Complexity: O(1) amortised to arrive and to be admitted.
  /// - Throws: What `body` throws, nothing of its own.
  public func enqueueAndWaitUncancellably<Value: Sendable, Failure: Error>(
    _ body: @Sendable @MainActor () async throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    try await queue.enqueueAndWaitUncancellably { _ async throws(Failure) in try await body() }
  }
}
