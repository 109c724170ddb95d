internal import Limiters

/// `MainActorQueue.shared`: onto the main actor, in order.
package final class MainActorQueueMechanism: Mechanism {
  package static let id = "main-actor-queue"

  package static let profile = MechanismProfile(
    limit: .one,
    order: .fifoToFirstSuspension,
    clock: .real,
    defaultKind: .spin,
    lacks: [
      .limit: "an actor runs one task at a time, by nature",
      .suspension: "an actor takes what it was sent",
      .barrier: "it keeps the order in which tasks begin, and knows of no end",
      .notification: "each task is awaited by itself, and nobody is told of all",
    ],
    summary: "MainActorQueue.shared: tasks start on the main actor in order",
    realOnlyReason:
      "the main actor runs on the main thread, so main-actor-queue runs on the wall clock only.",
    explanation: """
      As actor-queue, for the main actor. Everything that runs there keeps the main thread from \
      anything else, so its users send it short synchronous work (kind=spin here).

      There is one main actor and one shared queue for it. The code is \
      Sources/Limiters/MainActorQueue.swift.
      """
  )

  package init(_ setup: MechanismSetup) {}

  package func carry(_ visit: Visit) async {
    visit.arrive()
    do {
      // The body's errors are in the trace and stay inside: what comes out is the cancelled wait's.
      try await MainActorQueue.shared.enqueueAndWait { _ = try? await visit.serve() }
    } catch {
      visit.leave()
    }
  }

  @concurrent package func passes(_ times: Int) async {
    for _ in 0..<times { try? await MainActorQueue.shared.enqueueAndWait {} }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await MainActorQueue.shared.enqueueAndWait { body.onThread() } }
  }
}
