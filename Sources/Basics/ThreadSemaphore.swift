internal import Glibc

/// A count that threads wait for, the kernel's own.
package final class ThreadSemaphore: @unchecked Sendable {
  // Safe: the system's semaphore is made to be used by several threads; its address never changes.
  private let semaphore: UnsafeMutablePointer<sem_t>

  package init() {
    semaphore = .allocate(capacity: 1)
    semaphore.initialize(to: sem_t())
    sem_init(semaphore, 0, 0)
  }

  deinit {
    sem_destroy(semaphore)
    semaphore.deallocate()
  }

  /// Raises the count, and lets a thread that waits go on.
  package func post() { sem_post(semaphore) }

  /// Waits until the count is more than 0, and lowers it.
  package func wait() { while sem_wait(semaphore) != 0 {} }

  /// Waits for at most `nanoseconds`; whether the count was lowered.
  package func wait(atMost nanoseconds: Int) -> Bool {
    var deadline = timespec()
    timespec_get(&deadline, TIME_UTC)
    let sum = deadline.tv_nsec + nanoseconds
    deadline.tv_sec += sum / 1_000_000_000
    deadline.tv_nsec = sum % 1_000_000_000
    while sem_timedwait(semaphore, &deadline) != 0 { if errno != EINTR { return false } }
    return true
  }
}
