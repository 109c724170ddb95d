internal import Synchronization

/// What Ctrl-C ends: the part of a command that takes long.
///
/// An interrupt may come at any moment of a command, also before there is anything to end; it is
/// then remembered until there is, so that it is never lost.
final class Interruption: Sendable {
  private struct State {
    var hasCome = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Whether an interrupt has come since `begin`.
  var hasCome: Bool { state.withLock { $0.hasCome } }

  /// A new line comes: what was meant for the last does not concern it.
  func begin() { state.withLock { $0 = State() } }

  func interrupt() {
    let action = state.withLock { state in
      state.hasCome = true
      return state.action
    }
    action?()
  }

  /// Runs `body`; an interrupt before or during it calls `action`.
  func whileRunning<Value>(
    _ body: () async throws -> Value,
    onInterrupt action: @escaping @Sendable () -> Void
  ) async rethrows -> Value {
    let isLate = state.withLock { state in
      state.action = action
      return state.hasCome
    }
    if isLate { action() }
    defer { state.withLock { $0.action = nil } }
    return try await body()
  }
}
