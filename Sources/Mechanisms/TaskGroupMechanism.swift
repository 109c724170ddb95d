internal import Limiters

/// A task group that keeps at most N children running.
///
/// The loop is the one its users write: take the next task, and when N children are running, wait
/// for one to end before adding another. Tasks reach it through a stream, so that they can arrive
/// while it runs. The loop lives while visits are inside and ends with the last of them.
package final class TaskGroupMechanism: Mechanism {
  package static let id = "task-group"

  package static let profile = MechanismProfile(
    waiting: .queued,
    order: .fifo,
    cancellation: .skippedAtItsTurn,
    lacks: [
      .limit: "its loop was given the number when it began",
      .suspension: "its loop adds a child whenever one has ended",
      .barrier: "its children know nothing of each other",
      .notification: "the group itself returns when all have ended",
    ],
    treatsTasksAlike: true,
    inBatches: true,
    summary: "a task group that keeps at most N children running",
    explanation: """
      A loop adds children to a task group until N run, then awaits group.next() before it adds \
      another. Waiting tasks are entries in a list. Structured concurrency does the rest: \
      cancelling the parent cancels all children, and nothing outlives the scope.

      One entry cannot be cancelled by itself while it waits; it is skipped when its turn comes.
      """
  )

  /// The visits inside and the way to the loop that serves them.
  private struct State {
    var inside = 0
    /// Those of them that the loop has made children of the group and that have not ended.
    var running = 0
    var inlet: AsyncStream<Child>.Continuation?
  }

  private let limit: Int
  private let executor: (any TaskExecutor)?
  private let state = Lock(State())

  package init(_ setup: MechanismSetup) {
    limit = setup.limit
    executor = setup.executor
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    let cancellation = ChildCancellation()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let child = Child(visit: visit, cancellation: cancellation, ended: continuation)
        enter().yield(child)
      }
    } onCancel: {
      cancellation.cancel()
    }
    leave()
  }

  /// As many children as the limit, then one for each that ends.
  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<times {
        if index >= limit { await group.next() }
        group.addTask { await body.onTask() }
      }
    }
  }

  package func batch(_ count: Int, _ body: BatchBody) async {
    await withTaskGroup(of: Void.self) { group in
      for index in 0..<count {
        if index >= limit { await group.next() }
        group.addTask { await body.onTask(index) }
      }
    }
  }

  package var permitsInUse: Int? { state.withLock { $0.running } }

  /// Counts a visit in; the first starts the loop.
  private func enter() -> AsyncStream<Child>.Continuation {
    let (inlet, stream) = state.withLock { state in
      state.inside += 1
      if let inlet = state.inlet { return (inlet, AsyncStream<Child>?.none) }
      let (stream, inlet) = AsyncStream<Child>.makeStream()
      state.inlet = inlet
      return (inlet, stream)
    }
    if let stream {
      Task.detached(on: executor, priority: Task.currentPriority) { await self.serve(stream) }
    }
    return inlet
  }

  /// Counts a visit out; the last ends the loop.
  private func leave() {
    let inlet = state.withLock { state -> AsyncStream<Child>.Continuation? in
      state.inside -= 1
      guard state.inside == 0 else { return nil }
      defer { state.inlet = nil }
      return state.inlet
    }
    inlet?.finish()
  }

  private func serve(_ children: AsyncStream<Child>) async {
    await withTaskGroup(of: Void.self) { group in
      var running = 0
      for await child in children {
        if running == limit {
          await group.next()
          running -= 1
        }
        if child.cancellation.isCancelled {
          child.visit.leave()
          child.ended.resume()
        } else {
          running += 1
          state.withLock { $0.running += 1 }
          group.addTask {
            await child.serve()
            self.state.withLock { $0.running -= 1 }
            child.ended.resume()
          }
        }
      }
    }
  }

  /// One visit on its way through the group.
  private struct Child: Sendable {
    let visit: Visit
    let cancellation: ChildCancellation
    let ended: CheckedContinuation<Void, Never>

    func serve() async {
      // The task was cancelled between its admission to the group and its first step.
      if cancellation.isCancelled { return visit.leave() }
      await cancellation.governing { try? await visit.serve() }
    }
  }
}

/// Cancels one child of a group, which the group itself offers no way to do.
///
/// Safe to share: the handle of the child's task is stored only while that task runs `governing`,
/// which is the scope in which the runtime keeps it valid, and is used under the same lock that
/// removes it. `UnsafeCurrentTask.cancel` may be called from any thread. It runs the child's
/// cancellation handlers with the lock held, which cannot deadlock: they belong to the simulated
/// work, which knows nothing of this lock, and the lock is never taken from within a handler of the
/// child.
private final class ChildCancellation: @unchecked Sendable {
  private let lock = Lock(())
  private var cancelled = false
  private var child: UnsafeCurrentTask?

  var isCancelled: Bool { lock.withLock { _ in cancelled } }

  func cancel() {
    lock.withLock { _ in
      cancelled = true
      child?.cancel()
    }
  }

  /// Runs `body` on the current task, which `cancel()` then cancels.
  func governing(_ body: @escaping @Sendable () async -> Void) async {
    await withUnsafeCurrentTask { @Sendable task in
      lock.withLock { _ in
        child = task
        if cancelled { task?.cancel() }
      }
      await body()
      lock.withLock { _ in child = nil }
    }
  }
}
