internal import Dispatch

// Waiting in a loop.
//
// On one processor a loop of `Task.yield()` starves what it may be waiting for. On Linux the pool is one queue
// for each priority, as wide as there are processors, on the threads of GCD's global queue. With one processor
// that is a serial queue on one thread, and while it is not empty it keeps the thread: no `Task.sleep` of that
// priority ends, no block of `DispatchQueue.global()` and no operation of an `OperationQueue` runs. (Measured
// with Swift 6.3. With two processors all of them do.)

/// A pause of a task that looks for something again and again.
package enum Moment {
  private static let queue = DispatchQueue(label: "moments")

  /// Lets a millisecond pass, on no thread of the pool, and then a turn of the pool; a cancelled task waits as long.
  package static func pass() async {
    await withCheckedContinuation { continuation in
      queue.asyncAfter(deadline: .now() + .milliseconds(1)) { continuation.resume() }
    }
    // Whoever prefers an executor has gone on there, and tasks that were made for the pool may not have begun.
    let isElsewhere = withUnsafeCurrentTask { $0?.unownedTaskExecutor != nil }
    if isElsewhere { await Task.detached {}.value }
  }
}
