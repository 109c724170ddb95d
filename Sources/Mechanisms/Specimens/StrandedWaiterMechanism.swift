internal import Specimens
internal import Synchronization

/// A pool whose first build fails.
package final class StrandedWaiterMechanism: Mechanism {
  package static let id = "specimen-stranded-waiter"

  package static let profile = MechanismProfile(
    order: .none,
    summary: "a pool whose builder suspends and may throw",
    explanation: """
      Who needs an element and finds a free place builds one; who finds none waits for an element \
      to come back. Here the first build fails, after a moment, as a refused connection does. Its \
      task is rejected and the place is free again, but those who wait are not told.

      The code is Sources/Specimens/StrandedWaiterPool.swift; done right, it is \
      Sources/Limiters/PoolState.swift.
      """,
    defect: "a waiter is not told that a failed build has left its place free",
    exposure: .init(.order, tasks: 2, limit: 1, violation: "lost-wake-up")
  )

  /// What is lent: it only has to exist.
  private final class Element: Sendable {}

  private struct Refused: Error {}

  private let pool: StrandedWaiterPool<Element>

  package init(_ setup: MechanismSetup) {
    let builds = Counter()
    pool = StrandedWaiterPool(maxElements: setup.limit) {
      let isFirst = builds.next() == 1
      await Task.yield()
      if isFirst { throw Refused() }
      return Element()
    }
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    var wasServed = false
    do {
      try await pool.withElement { _ in
        wasServed = true
        try await visit.serve(inline: true)
      }
    } catch is Refused {
      visit.reject()
    } catch {
      // Errors of the body are in the trace already.
      if !wasServed { visit.leave() }
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    var left = times
    while left > 0, !Task.isCancelled {
      do {
        try await pool.withElement { _ in await body.onTask() }
        left -= 1
      } catch {
        // The first build: try again.
      }
    }
  }

  package var permitsInUse: Int? { pool.lent }

  private final class Counter: Sendable {
    private let count = Atomic(0)

    /// 1, then 2, and so on.
    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
  }
}
