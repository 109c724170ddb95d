internal import Basics
internal import CExplorable

/// A lock without a value, as Foundation's `NSLock`, that an exploration can stop at.
///
/// For code that takes and frees a lock by two calls. Who can choose takes `Mutex`, which frees itself.
package final class LockObject: Sendable {
  private let real = RawLock()
  private let identity = MutexIdentity()
  // Written and read by the thread that has the lock.
  nonisolated(unsafe) private var isExplored = false

  package init() {}

  /// Returns when the calling thread has the lock.
  @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
  package func lock() { take() }

  /// Frees the lock, which the calling thread must have.
  @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
  package func unlock() { free() }

  /// Takes the lock if no other thread has it.
  @available(*, noasync, message: "use withLock, which frees the lock before the task can suspend")
  package func `try`() -> Bool {
    var explores = false
    if exploration_is_under_way() {
      guard let taken = identity.mayLock() else { return false }
      explores = taken
    }
    guard real.tryLock() else {
      if explores { identity.didUnlock() }
      return false
    }
    isExplored = explores
    return true
  }

  /// Calls `body` once no other thread has the lock.
  package func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    take()
    defer { free() }
    return try body()
  }

  private func take() {
    let explores = exploration_is_under_way() && identity.willLock()
    real.lock()
    isExplored = explores
  }

  private func free() {
    let explores = isExplored
    isExplored = false
    if explores { identity.willUnlock() }
    real.unlock()
    if explores { identity.didUnlock() }
  }
}
