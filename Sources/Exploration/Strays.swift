import Synchronization

/// Notes that something ran where it should not have.
final class Strays: Sendable {
  private let seen = Atomic<Bool>(false)

  var any: Bool { seen.load(ordering: .acquiring) }

  func note() { seen.store(true, ordering: .releasing) }
}
