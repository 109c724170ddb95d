internal import Synchronization

/// Counts who is inside: how often, and how many at most at once.
///
/// Three atomics and no lock, so that the count itself orders nothing that a test wants to find out.
package final class PeakCount: Sendable {
  private let insideCount = Atomic(0)
  private let highestCount = Atomic(0)
  private let entryCount = Atomic(0)

  package init() {}

  /// How many are inside now.
  package var inside: Int { insideCount.load(ordering: .acquiring) }

  /// The most that were ever inside at once.
  package var highest: Int { highestCount.load(ordering: .acquiring) }

  /// How often anybody entered.
  package var entries: Int { entryCount.load(ordering: .acquiring) }

  package func enter() {
    let (_, inside) = insideCount.add(1, ordering: .acquiringAndReleasing)
    highestCount.max(inside, ordering: .acquiringAndReleasing)
    entryCount.add(1, ordering: .acquiringAndReleasing)
  }

  package func leave() { insideCount.subtract(1, ordering: .acquiringAndReleasing) }
}
