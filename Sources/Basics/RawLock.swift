internal import Glibc

/// A lock of the system that is taken and freed by two calls.
package final class RawLock: Sendable {
  // One address for as long as the object lives, as the system asks for. Only its functions use what is there, and
  // they may be called from any thread.
  nonisolated(unsafe) private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init() {
    mutex = .allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Returns when the calling thread has it.
  package func lock() { pthread_mutex_lock(mutex) }

  /// Frees it; the calling thread must have it.
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Takes it if nobody has it.
  package func tryLock() -> Bool { pthread_mutex_trylock(mutex) == 0 }
}
