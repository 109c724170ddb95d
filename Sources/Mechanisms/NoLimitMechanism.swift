/// No limit: what every mechanism's cost and effect are compared with.
package struct NoLimitMechanism: RunMechanism {
  package static let id = "none"

  package static let profile = MechanismProfile(
    limit: .none,
    waiting: .none,
    order: .fifo,
    cancellation: .neverWaits,
    lacks: [
      .limit: "it has none",
      .suspension: "nobody waits for anything",
      .barrier: "nobody waits for anything",
      .notification: "each task is awaited by itself, and nobody is told of all",
    ],
    treatsTasksAlike: true,
    summary: "no limit: the baseline",
    explanation: """
      Every task runs as soon as it arrives. What it shows is what a limit is for: with suspending \
      work everything overlaps; with blocking or computing work the pool of threads becomes the \
      limit, and nobody chose it.
      """
  )

  package init(_ setup: MechanismSetup) {}

  package func run(_ body: () async throws -> Void) async throws { try await body() }

  @concurrent package func passes(_ times: Int) async {
    // Without it there would be no loop.
    for _ in 0..<times { stay() }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times {
      await body.onTask()
      // Without it there would be no loop around an empty body.
      stay()
    }
  }
}
