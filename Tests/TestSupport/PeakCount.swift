internal import Synchronization

/// Counts who is inside: how often, and how many at most at once.
package final class PeakCount: Sendable {
  private let counts = Mutex((inside: 0, highest: 0, entries: 0))

  package init() {}

  /// How many are inside now.
  package var inside: Int { counts.withLock { $0.inside } }

  /// The most that were ever inside at once.
  package var highest: Int { counts.withLock { $0.highest } }

  /// How often anybody entered.
  package var entries: Int { counts.withLock { $0.entries } }

  package func enter() {
    counts.withLock {
      $0.inside += 1
      $0.entries += 1
      $0.highest = max($0.highest, $0.inside)
    }
  }

  package func leave() { counts.withLock { $0.inside -= 1 } }
}
