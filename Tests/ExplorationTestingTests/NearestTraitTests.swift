import Exploration
import Synchronization
import TestSupport
import Testing

@testable import ExplorationTesting

/// A suite that is explored, and tests of it that are explored in their own way.
@Suite(.inTurn, .watched, .explored(preemptions: 0)) struct `The nearest trait explores` {
  private func most() async -> Int {
    let lock = Mutex((inside: 0, most: 0))
    let visit: @Sendable () async -> Void = {
      lock.withLock {
        $0.inside += 1
        $0.most = max($0.most, $0.inside)
      }
      await Task.yield()
      lock.withLock { $0.inside -= 1 }
    }
    async let one: Void = visit()
    async let other: Void = visit()
    _ = await (one, other)
    return lock.withLock { $0.most }
  }

  @Test func `of a suite, where a test has none`() async {
    #expect(await most() <= 2)
  }

  @Test(.explored(preemptions: 1)) func `of a test, and not that of its suite around it`() async {
    #expect(await most() <= 2)
  }
}
