internal import Dispatch
internal import Foundation
internal import Limiters
internal import Synchronization

/// Foundation's `OperationQueue` with `maxConcurrentOperationCount`.
///
/// Work that holds its thread is a plain `Operation` with a `main`; work that suspends is an
/// asynchronous one, which stays "executing" until its task has ended. Only the second kind keeps
/// the limit for asynchronous work: `addOperation { Task { … } }` would let go of its place as soon
/// as the closure returns.
package final class OperationQueueMechanism: Mechanism {
  package static let id = "operation-queue"

  package static let profile = MechanismProfile(
    waiting: .queued,
    order: .priority,
    cancellation: .skippedAtItsTurn,
    clock: .real,
    defaultKind: .block,
    controls: [.limit, .suspension, .dependencies, .priorities, .barrier, .notification],
    completionSignal: "the barrier block ran",
    summary: "Foundation OperationQueue with maxConcurrentOperationCount",
    realOnlyReason: "OperationQueue owns its threads, so it runs on the wall clock only.",
    explanation: """
      Each task is an Operation; the queue starts at most maxConcurrentOperationCount of them on \
      threads of its own. A waiting operation is an object in a list: it holds no thread. The \
      queue can be suspended, operations can depend on each other and have priorities, and the \
      limit can be changed while it runs.

      Work given as a closure ends for the queue when the closure returns. A closure that starts \
      a Task returns at once, so the limit no longer holds: wrap asynchronous work in an \
      asynchronous Operation (kind=suspend does).

      A cancelled operation that waits keeps its place and is skipped when its turn comes; one \
      that runs must look at isCancelled itself. On Linux the queue adds about one thread a \
      second once all are blocked, so a high limit with blocking work starts slowly.
      """
  )

  private let queue = OperationQueue()
  /// The operations others may depend on, by task number, until the last visit has ended.
  private let operations = Lock<[Int: Operation]>([:])

  package init(_ setup: MechanismSetup) {
    queue.maxConcurrentOperationCount = setup.limit
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    if visit.task.isBarrier { return await carryBarrier(visit) }
    let operation = visit.task.kind.needsTask ? SuspendingOperation(visit) : VisitOperation(visit)
    switch visit.task.priority {
    case .low: operation.queuePriority = .low
    case .medium: operation.queuePriority = .normal
    case .high: operation.queuePriority = .high
    }
    let predecessor = operations.withLock { known in
      known[visit.task.number] = operation
      return visit.task.after.flatMap { known[$0] }
    }
    if let predecessor { operation.addDependency(predecessor) }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        operation.completionBlock = { continuation.resume() }
        queue.addOperation(operation)
      }
    } onCancel: {
      operation.cancel()
    }
    // Only if it was cancelled between the looks that the operation and its superclass take at it.
    operation.turnAway()
  }

  /// The queue begins it when all that was added before has ended, and begins nothing else before it has.
  private func carryBarrier(_ visit: Visit) async {
    let isCancelled = CancellationFlag()
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        queue.addBarrierBlock {
          if isCancelled.isRaised {
            visit.leave()
          } else {
            // The outcome is in the trace, and a block has nobody to throw to.
            try? visit.serveOnThread(isCancelled: { isCancelled.isRaised })
          }
          continuation.resume()
        }
      }
    } onCancel: {
      isCancelled.raise()
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      await withCheckedContinuation { continuation in
        queue.addOperation {
          body.onThread()
          continuation.resume()
        }
      }
    }
  }

  /// Nobody waits for each: that would charge an operation a continuation and a thread's way there and back.
  @concurrent package func passes(_ times: Int) async {
    for _ in 0..<times { queue.addOperation {} }
    await completed()
  }

  package func batch(_ count: Int, _ body: BatchBody) async {
    for index in 0..<count { queue.addOperation { body.onThread(index) } }
    await completed()
  }

  package func completed() async {
    await withCheckedContinuation { continuation in
      queue.addBarrierBlock { continuation.resume() }
    }
    // More may be given meanwhile, which may depend on some that have not ended.
    operations.withLock { $0 = $0.filter { !$0.value.isFinished } }
  }

  package var permitsInUse: Int? {
    // Closures end a moment after their last statement; only visits say when they have ended.
    queue.operations.count { $0 is VisitOperation && $0.isExecuting }
  }

  package func changeLimit(to limit: Int) { queue.maxConcurrentOperationCount = limit }

  package func setSuspended(_ suspended: Bool) { queue.isSuspended = suspended }
}

/// The same queue as many use it for asynchronous work: each operation is a closure that starts a task, and
/// is over when it has.
package final class OperationTaskMechanism: Mechanism {
  package static let id = "specimen-operation-task"

  package static let profile = MechanismProfile(
    waiting: .queued,
    order: .none,
    cancellation: .neverWaits,
    clock: .real,
    completionSignal: "the barrier block ran",
    summary: "an OperationQueue whose operations each start a task",
    realOnlyReason: OperationQueueMechanism.profile.realOnlyReason,
    explanation: """
      Each operation is a closure with a Task in it. The closure returns at once, and for the queue the \
      operation is over; the task goes on, and nobody counts it. So all tasks run at once, whatever the \
      limit, and the queue says that all is done before the first task has ended.

      The code is Sources/Mechanisms/OperationQueueMechanism.swift; done right, it is in the same file.
      """,
    defect: "an operation is over when its closure returns, and the limit counts operations"
  )

  private let queue = OperationQueue()

  package init(_ setup: MechanismSetup) { queue.maxConcurrentOperationCount = setup.limit }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    await start { try? await visit.serve() }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { await start { await body.onTask() } }
  }

  package func completed() async {
    await withCheckedContinuation { continuation in
      queue.addBarrierBlock { continuation.resume() }
    }
  }

  /// Returns when the task has ended; the queue does not wait for that.
  private func start(_ body: @escaping @Sendable () async -> Void) async {
    await withCheckedContinuation { continuation in
      queue.addOperation {
        // Here is the defect: the operation ends with this closure.
        Task {
          await body()
          continuation.resume()
        }
      }
    }
  }
}

/// A visit that holds its thread.
///
/// Safe to share: `visit` is immutable and Sendable, `isDecided` is atomic, and `Operation` guards the
/// rest itself.
private class VisitOperation: Operation, @unchecked Sendable {
  let visit: Visit
  /// Whether the visit was begun or turned away: one of them happens, once.
  private let isDecided = Atomic(false)

  init(_ visit: Visit) { self.visit = visit }

  /// The queue starts cancelled operations too, to have them finish.
  ///
  /// Their visits end here, so that the queue's barrier comes after every end.
  override func start() {
    if isCancelled { turnAway() }
    super.start()
  }

  override func main() {
    decide()
    // The outcome is in the trace, and an operation has nobody to throw to.
    try? visit.serveOnThread(isCancelled: { self.isCancelled })
  }

  /// Ends the visit without its body, unless it was begun.
  func turnAway() {
    if decide() { visit.leave() }
  }

  /// Returns true to the first who asks.
  @discardableResult
  func decide() -> Bool { !isDecided.exchange(true, ordering: .acquiringAndReleasing) }
}

/// A visit that suspends: the operation stays executing, on no thread, until its task has ended.
///
/// Safe to share for the reasons of its superclass; `phase` and `body` are under their locks.
private final class SuspendingOperation: VisitOperation, @unchecked Sendable {
  private enum Phase { case ready, executing, finished }

  private let phase = Lock(Phase.ready)
  private let body = Lock<Task<Void, Never>?>(nil)

  override var isAsynchronous: Bool { true }
  override var isExecuting: Bool { phase.withLock { $0 } == .executing }
  override var isFinished: Bool { phase.withLock { $0 } == .finished }

  override func start() {
    guard !isCancelled else {
      turnAway()
      return enter(.finished, changing: ["isFinished"])
    }
    decide()
    enter(.executing, changing: ["isExecuting"])
    let task = Task {
      try? await visit.serve()
      enter(.finished, changing: ["isExecuting", "isFinished"])
    }
    body.withLock { $0 = task }
    // A cancel that came before the task was stored found nothing to cancel.
    if isCancelled { task.cancel() }
  }

  override func cancel() {
    super.cancel()
    body.withLock { $0 }?.cancel()
  }

  /// The queue learns of the change through these notifications and no other way.
  private func enter(_ next: Phase, changing keys: [String]) {
    for key in keys { willChangeValue(forKey: key) }
    phase.withLock { $0 = next }
    for key in keys.reversed() { didChangeValue(forKey: key) }
  }
}
