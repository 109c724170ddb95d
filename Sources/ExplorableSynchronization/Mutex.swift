public import CExplorable
public import Synchronization

/// A lock around a value, as `Synchronization.Mutex`, that an exploration can stop at.
///
/// Explored, taking it is a scheduling point, and a thread that waits for it does not run. Not explored
/// it is the real one behind one branch.
public struct Mutex<Value: ~Copyable>: ~Copyable, Sendable {
  @usableFromInline let real: Synchronization.Mutex<Value>
  @usableFromInline let identity: MutexIdentity

  /// Makes an unlocked mutex around `initialValue`.
  @inlinable
  public init(_ initialValue: consuming sending Value) {
    real = Synchronization.Mutex(initialValue)
    identity = MutexIdentity()
  }

  /// Calls `body` with the value once no other thread has the lock.
  @inlinable @inline(__always)
  public borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    let isExplored = exploration_is_under_way() && identity.willLock()
    defer { if isExplored { identity.didUnlock() } }
    return try real.withLock { value throws(Failure) in
      defer { if isExplored { identity.willUnlock() } }
      return try body(&value)
    }
  }

  /// Calls `body` with the value if no other thread has the lock; nil if one has.
  @inlinable @inline(__always)
  public borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    var isExplored = false
    if exploration_is_under_way() {
      guard let taken = identity.mayLock() else { return nil }
      isExplored = taken
    }
    defer { if isExplored { identity.didUnlock() } }
    return try real.withLockIfAvailable { value throws(Failure) in
      defer { if isExplored { identity.willUnlock() } }
      return try body(&value)
    }
  }
}

/// What a mutex is known by in an exploration, and what it asks of one.
@usableFromInline
struct MutexIdentity: ~Copyable, Sendable {
  private let identity = ObjectIdentity()

  @usableFromInline
  init() {}

  /// Returns when the lock may be taken; whether it is explored.
  @usableFromInline
  func willLock() -> Bool { currentPart?.pause(before: .lock, of: identity) ?? false }

  /// Whether it is explored; nil if the lock is taken.
  @usableFromInline
  func mayLock() -> Bool? {
    guard let part = currentPart else { return false }
    return part.pause(before: .tryLock, of: identity) ? true : nil
  }

  /// Stops before the lock is released, where somebody may try to take it meanwhile and see that it is taken.
  @usableFromInline
  func willUnlock() {
    guard let part = currentPart, part.standsBeforeRelease(of: part.number(of: identity))
    else { return }
    _ = part.pause(before: SynchronizationOperation(.goOn, 0))
  }

  @usableFromInline
  func didUnlock() {
    guard let part = currentPart else { return }
    part.noteRelease(of: part.number(of: identity))
  }
}
