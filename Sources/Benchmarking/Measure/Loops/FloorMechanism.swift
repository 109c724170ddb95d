internal import Mechanisms

/// The bare semaphore as a contestant: what the limiters are shown beside.
struct FloorMechanism: RunMechanism {
  static let id = "floor-semaphore"

  static let profile = MechanismProfile(
    order: .fifo,
    summary: "a Mutex and a line of continuations, without cancellation: the floor",
    explanation: """
      The least that a limiter can be made of which suspends its waiters. It is measured beside the \
      others and is none of them: a task cancelled while it waits goes on waiting.
      """
  )

  private let semaphore: BareSemaphore

  init(_ setup: MechanismSetup) { semaphore = BareSemaphore(permits: setup.limit) }

  func run(_ body: () async throws -> Void) async throws { try await semaphore.run(body) }

  @concurrent func passes(_ times: Int) async {
    for _ in 0..<times { try? await semaphore.run {} }
  }

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await semaphore.run { await body.onTask() } }
  }
}

/// The same with cancellation: what of a limiter's cost is the runtime's.
struct CancellableFloorMechanism: RunMechanism {
  static let id = "floor-semaphore-cancellable"

  static let profile = MechanismProfile(
    order: .fifo,
    summary: "a Mutex and a line of continuations, with a cancellation handler around each wait",
    explanation: """
      The floor of what a cancelled task can leave. It has no deadlines, weights or statistics, its limit \
      stays as it is, and it is measured beside the others.
      """
  )

  private let semaphore: CancellableSemaphore

  init(_ setup: MechanismSetup) { semaphore = CancellableSemaphore(permits: setup.limit) }

  func run(_ body: () async throws -> Void) async throws { try await semaphore.run(body) }

  @concurrent func passes(_ times: Int) async {
    for _ in 0..<times { try? await semaphore.run {} }
  }

  func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times { try? await semaphore.run { await body.onTask() } }
  }
}
