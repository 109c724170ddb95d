internal import Limiters

/// `AsyncPool`: as many may run as there are elements to lend.
package final class PoolMechanism: RunMechanism {
  package static let id = "pool"

  package static let profile = MechanismProfile(
    order: .fifo,
    controls: [.limit],
    lacks: [
      .suspension: "an element that comes back goes to the first in line at once",
      .barrier: "an element that comes back goes to the first in line at once",
      .notification:
        "each task is awaited by itself, and nobody is told of all; shutdown() waits for them",
    ],
    treatsTasksAlike: true,
    summary: "AsyncPool of elements, each lent to one task at a time",
    explanation: """
      The permit is a thing: a connection, a buffer, an actor. Elements are built when first \
      needed, up to the limit, and lent to one task at a time. A returned element goes straight to \
      the first waiting task.

      A builder that throws loses neither a waiter nor its place. The code is \
      Sources/Limiters/AsyncPool.swift.
      """
  )

  /// What is lent: it only has to exist.
  private final class Element: Sendable {}

  private let pool: AsyncPool<Element>

  package init(_ setup: MechanismSetup) {
    pool = AsyncPool(maxElements: setup.limit) { Element() }
  }

  package func run(_ body: () async throws -> Void) async throws {
    try await pool.withElement { _ in try await body() }
  }

  @concurrent package func passes(_ times: Int) async {
    let pool = pool
    // Nobody cancels the task, so nothing is thrown.
    for _ in 0..<times { try? await pool.withElement { _ in } }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    let pool = pool
    for _ in 0..<times { try? await pool.withElement { _ in await body.onTask() } }
  }

  package var permitsInUse: Int? { pool.lent }

  package func changeLimit(to limit: Int) { pool.setMaxElements(limit) }
}
