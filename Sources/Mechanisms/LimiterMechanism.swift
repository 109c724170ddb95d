internal import Limiters

/// `ConcurrencyLimiter`: permits handed over through Condition and Signal.
package final class LimiterMechanism: RunMechanism {
  package static let id = "limiter"

  package static let profile = MechanismProfile(
    order: .fifo,
    controls: [.limit],
    lacks: [
      .suspension: "a free permit goes to the first in line at once",
      .barrier:
        "a free permit goes to the first in line at once; run(weight:) with the whole limit has it to itself",
      .notification: "each task is awaited by itself, and nobody is told of all",
    ],
    treatsTasksAlike: true,
    summary: "ConcurrencyLimiter built on Condition and Signal",
    explanation: """
      A task that finds no permit makes a Condition, puts its Signal in a line and waits, suspended, \
      holding no thread. A departing task hands its permit to the first in line by signalling, so \
      nobody overtakes. While permits are free a call costs two atomic operations.

      A task cancelled while it waits leaves the line at once and its body never runs. The code is \
      Sources/Limiters/ConcurrencyLimiter.swift and Condition.swift; the same in thirty lines, \
      without what makes it fast, is Sources/Limiters/Limiters.docc/ALimiterInThirtyLines.md.
      """
  )

  private let limiter: ConcurrencyLimiter

  package init(_ setup: MechanismSetup) { limiter = ConcurrencyLimiter(concurrency: setup.limit) }

  package func run(_ body: () async throws -> Void) async throws { try await limiter.run(body) }

  @concurrent package func passes(_ times: Int) async {
    let limiter = limiter
    // Nobody cancels the task, so nothing is thrown.
    for _ in 0..<times { try? await limiter.run {} }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    let limiter = limiter
    for _ in 0..<times { try? await limiter.run { await body.onTask() } }
  }

  package var permitsInUse: Int? { limiter.running }

  package func changeLimit(to limit: Int) { limiter.setConcurrency(limit) }
}
