internal import Glibc
internal import Synchronization

/// Puts one thread to sleep, and lets others wake it.
///
/// It holds a token, or none. `unpark` leaves the token; `park` takes it, and sleeps until there is one.
/// So it does not matter which comes first, and an `unpark` is never lost.
///
/// Safe to share: the mutex and the condition are made for it, and live at fixed addresses.
package final class ThreadParker: @unchecked Sendable {
  private enum Word {
    static let empty = 0
    static let sleeping = 1
    static let token = 2
  }

  private let word = Atomic<Int>(Word.empty)
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  package init() {
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    // Not the wall clock, which people and programs set.
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Sleeps until there is a token, and takes it; only one thread may.
  package func park() { _ = park { pthread_cond_wait(condition, mutex) } }

  /// The same, for `nanoseconds` at most; false if no token came.
  package func park(nanoseconds: Int) -> Bool {
    let until = MachineClock.monotonic() + Int64(nanoseconds)
    var end = timespec(tv_sec: Int(until / 1_000_000_000), tv_nsec: Int(until % 1_000_000_000))
    return park { pthread_cond_timedwait(condition, mutex, &end) }
  }

  private func park(_ sleep: () -> Int32) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    let found = word.compareExchange(
      expected: Word.empty,
      desired: Word.sleeping,
      ordering: .acquiringAndReleasing
    )
    if found.exchanged {
      // It may also return for no reason; only the token counts.
      while word.load(ordering: .acquiring) != Word.token, sleep() == 0 {}
    }
    return word.exchange(Word.empty, ordering: .acquiringAndReleasing) == Word.token
  }

  /// Leaves the token.
  package func unpark() {
    guard word.exchange(Word.token, ordering: .acquiringAndReleasing) == Word.sleeping else {
      return
    }
    // The sleeper is between its last look at the word and its sleep, unless it holds the mutex no more.
    pthread_mutex_lock(mutex)
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }
}
