import Synchronization

/// What was typed for the next line and taken from the terminal by something else that reads keys.
///
/// A terminal gives each key once: who reads one that is not theirs leaves it here, where the line editor
/// looks before it reads.
final class TypedAhead: Sendable {
  /// There is one terminal a process.
  static let shared = TypedAhead()

  private let keys = Mutex<[UInt8]>([])

  private init() {}

  var isEmpty: Bool { keys.withLock { $0.isEmpty } }

  func leave(_ key: UInt8) { keys.withLock { $0.append(key) } }

  func take() -> UInt8? {
    keys.withLock { $0.isEmpty ? nil : $0.removeFirst() }
  }
}
