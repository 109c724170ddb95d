internal import Limiters

/// Holds up who comes, until it is opened for those who are there.
final class SlowDoor: Sendable {
  private let held = Lock<[Signal]>([])

  /// How many stand before it.
  var count: Int { held.withLock { $0.count } }

  func pass() async throws {
    let (mayPass, passes) = Condition.makeCondition()
    held.withLock { $0.append(passes) }
    try await mayPass.waitUncancellably()
  }

  /// Lets all pass who stand before it; says whether anybody did.
  func open() -> Bool {
    let held = held.withLock { held in
      defer { held = [] }
      return held
    }
    for one in held { one.signal() }
    return !held.isEmpty
  }
}
