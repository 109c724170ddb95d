internal import Limiters

/// `FIFOQueue`: one at a time, each from its start to its end.
package final class FIFOQueueMechanism: RunMechanism {
  package static let id = "fifo-queue"

  package static let profile = MechanismProfile(
    limit: .one,
    order: .fifo,
    lacks: [
      .limit: "it runs one task at a time, by nature",
      .suspension: "the next begins when the one before has ended",
      .barrier: "each task waits for all before it as it is",
      .notification: "each task is awaited by itself, and nobody is told of all",
    ],
    treatsTasksAlike: true,
    summary: "FIFOQueue: tasks start and end one after the other",
    explanation: """
      Tasks sent to the queue run one at a time, in the order in which they were sent, and the \
      next starts only when the one before has ended, however often it suspends. From synchronous \
      code, enqueue sends a closure and goes on; enqueueAndWait waits for its value.

      Awaiting the queue from inside one of its own tasks would wait for ever. The code is \
      Sources/Limiters/FIFOQueue.swift.
      """
  )

  private let queue: FIFOQueue

  package init(_ setup: MechanismSetup) { queue = FIFOQueue(executor: setup.executor) }

  package func run(_ body: () async throws -> Void) async throws {
    try await queue.enqueueAndWait(body)
  }

  @concurrent package func passes(_ times: Int) async {
    let queue = queue
    // Nobody cancels the task, so nothing is thrown.
    for _ in 0..<times { try? await queue.enqueueAndWait {} }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    let queue = queue
    for _ in 0..<times { try? await queue.enqueueAndWait { await body.onTask() } }
  }

  package var permitsInUse: Int? { queue.isRunning ? 1 : 0 }
}
