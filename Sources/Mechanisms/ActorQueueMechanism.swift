internal import Limiters

/// `ActorQueue`: onto one actor, in order.
package final class ActorQueueMechanism: Mechanism {
  package static let id = "actor-queue"

  package static let profile = MechanismProfile(
    limit: .one,
    order: .fifoToFirstSuspension,
    defaultKind: .spin,
    lacks: [
      .limit: "an actor runs one task at a time, by nature",
      .suspension: "an actor takes what it was sent",
      .barrier: "it keeps the order in which tasks begin, and knows of no end",
      .notification: "each task is awaited by itself, and nobody is told of all",
    ],
    treatsTasksAlike: true,
    summary: "ActorQueue: tasks start on one actor in order, up to their first suspension",
    explanation: """
      Tasks sent to the queue start on its actor in the order in which they were sent. While one \
      runs without suspending, none of the others does: its users send it short synchronous work, so \
      that is what it is given here (kind=spin). A task that suspends lets go of the actor, as \
      actors do, and the next starts: try kind=suspend, and more than one will be running.

      A task on the queue may await the queue. The code is Sources/Limiters/ActorQueue.swift.
      """
  )

  /// The actor the bodies run on; it has no state to guard.
  private actor Stage {}

  private let stage = Stage()
  private let queue: ActorQueue<Stage>

  package init(_ setup: MechanismSetup) {
    queue = ActorQueue(executor: setup.executor)
    queue.adoptExecutionContext(of: stage)
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    do {
      // The body's errors are in the trace and stay inside: what comes out is the cancelled wait's.
      try await queue.enqueueAndWait { _ in _ = try? await visit.serve() }
    } catch {
      visit.leave()
    }
  }

  @concurrent package func passes(_ times: Int) async {
    let queue = queue
    for _ in 0..<times { try? await queue.enqueueAndWait { _ in } }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    let queue = queue
    for _ in 0..<times { try? await queue.enqueueAndWait { _ in body.onThread() } }
  }

  package var permitsInUse: Int? { queue.isStarting ? 1 : 0 }
}
