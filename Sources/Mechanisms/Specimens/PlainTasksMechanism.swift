internal import Specimens

/// A plain task for each message to an actor.
package final class PlainTasksMechanism: Mechanism {
  package static let id = "specimen-plain-tasks"

  package static let profile = MechanismProfile(
    limit: .one,
    order: .fifoToFirstSuspension,
    cancellation: .skippedAtItsTurn,
    defaultKind: .spin,
    summary: "messages to one actor, a plain task for each",
    explanation: """
      Code that cannot wait starts a task for each message to an actor. Nothing says which of two \
      such tasks starts first, so messages may arrive in another order than they were sent in. \
      fifo-queue and actor-queue keep the order.

      The code is Sources/Specimens/PlainTasks.swift; done right, it is \
      Sources/Limiters/ActorQueue.swift.
      """,
    defect: "of two messages, the one sent second may start first",
    exposure: .init(.order, tasks: 2, limit: 1, violation: "order")
  )

  private let sender: PlainTasks

  package init(_ setup: MechanismSetup) { sender = PlainTasks(executor: setup.executor) }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    let message = sender.send { _ in
      // The outcome is in the trace, and a message has nobody to throw to.
      if Task.isCancelled { visit.leave() } else { try? await visit.serve() }
    }
    await withTaskCancellationHandler {
      await message.value
    } onCancel: {
      message.cancel()
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { await sender.send { _ in body.onThread() }.value }
  }
}
