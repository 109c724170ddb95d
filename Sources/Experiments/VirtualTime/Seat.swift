import Glibc

/// Where a thread that does not have the baton waits to be called.
///
/// A mailbox of one order. The lock inside also carries memory from the thread that gives the baton
/// to the one that takes it: everything the giver wrote, the taker sees.
final class Seat: @unchecked Sendable {
  // Safe: `order` is only touched under `lock`; `job` only by the thread that has the baton.

  /// What a called thread is to do.
  enum Order {
    /// Choose and run jobs.
    case lead
    /// Go on with the job that held its worker.
    case goOn
    /// Return from the drive that began on this thread.
    case finish
    /// End.
    case leave
  }

  /// What the scheduler was doing on this thread when its job began to hold.
  var job = RunningJob()

  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var order: Order?

  init() {
    lock = .allocate(capacity: 1)
    lock.initialize(to: pthread_mutex_t())
    pthread_mutex_init(lock, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    changed.deallocate()
    pthread_mutex_destroy(lock)
    lock.deallocate()
  }

  func give(_ order: Order) {
    pthread_mutex_lock(lock)
    precondition(self.order == nil, "a seat was given two orders at once")
    self.order = order
    pthread_cond_signal(changed)
    pthread_mutex_unlock(lock)
  }

  func wait() -> Order {
    pthread_mutex_lock(lock)
    defer { pthread_mutex_unlock(lock) }
    while true {
      if let given = order {
        order = nil
        return given
      }
      pthread_cond_wait(changed, lock)
    }
  }
}

/// The step under way: what `VirtualScheduler.current` tells.
struct RunningJob {
  var step: UInt64 = 0
  var worker: Int32 = 0
  /// The tag of the task that runs; 0 where it has none.
  var tag: Int32 = 0
  /// The tag of the task whose step made this one runnable; 0 for the driver.
  var cause: Int32 = 0
  /// Whether the job is a task of its own, rather than the turn of an actor.
  var isTask = false
}
