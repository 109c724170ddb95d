internal import CExplorable
internal import Glibc

/// A lock without a value, as Foundation's `NSLock`, that an exploration can stop at.
///
/// For code that takes and frees a lock by two calls. Who can choose takes `Mutex`, which frees itself.
package final class LockObject: Sendable {
  // One address for as long as the object lives, as a mutex of pthreads asks for. Only pthread's functions use what
  // is there, and they may be called from any thread.
  nonisolated(unsafe) private let real: UnsafeMutablePointer<pthread_mutex_t>
  private let identity = MutexIdentity()
  // Written and read by the thread that has the lock.
  nonisolated(unsafe) private var isExplored = false

  package init() {
    real = .allocate(capacity: 1)
    pthread_mutex_init(real, nil)
  }

  deinit {
    pthread_mutex_destroy(real)
    real.deallocate()
  }

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
    guard pthread_mutex_trylock(real) == 0 else {
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
    pthread_mutex_lock(real)
    isExplored = explores
  }

  private func free() {
    let explores = isExplored
    isExplored = false
    pthread_mutex_unlock(real)
    if explores { identity.didUnlock() }
  }
}
