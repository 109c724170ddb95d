import Limiters
import TestSupport
import Testing

// Everything public, used as another module uses it: from the main actor and from an actor of one's own,
// with values that are not Sendable. What matters most is that it compiles.

private final class Draft {
  var pages = 0
}

@MainActor private final class Screen {
  let draft = Draft()

  func use(_ limiter: ConcurrencyLimiter, _ pool: AsyncPool<String>) async throws -> Int {
    try await limiter.run { draft.pages += 1 }
    try await limiter.run(weight: 2) { draft.pages += 1 }
    try await limiter.run(waitingAtMost: .seconds(60)) { draft.pages += 1 }
    _ = await limiter.runIfFree { draft.pages += 1 }
    await limiter.runUncancellably { draft.pages += 1 }
    let permit = try await limiter.acquire(waitingAtMost: .seconds(60), clock: .suspending)
    draft.pages += 1
    permit.release()
    try await pool.withElement { draft.pages += $0.count }
    try await FIFOQueue().enqueueAndWait { draft.pages += 1 }
    let same = try await limiter.run { draft }
    return same.pages
  }
}

private actor Author {
  let draft = Draft()

  func use(_ limiter: ConcurrencyLimiter, _ pool: AsyncPool<String>) async throws -> Int {
    try await limiter.run { draft.pages += 1 }
    if let permit = limiter.tryAcquire(weight: 2) {
      draft.pages += 1
      permit.release()
    }
    try await pool.withElement(onError: .discard) { draft.pages += $0.count }
    let lease = try await pool.lease()
    draft.pages += lease.element.count
    lease.return()
    return try await FIFOQueue().enqueueAndWait { draft.pages }
  }
}

@Suite(.watched) struct `Another module` {
  private let limiter = ConcurrencyLimiter(concurrency: 2)
  private let pool = AsyncPool(maxElements: 1) { "four" }

  @Test func `uses the limiters from the main actor, with values that are not Sendable`()
    async throws
  {
    #expect(try await Screen().use(limiter, pool) == 11)
    #expect(limiter.statistics.admitted == 7)
  }

  @Test func `uses the limiters from an actor, with values that are not Sendable`() async throws {
    #expect(try await Author().use(limiter, pool) == 10)
  }
}
