internal import Synchronization

// A thread for an actor whose methods block.
//
// A call to SQLite or to the file system keeps its thread until the disk has answered, and a write to a
// terminal until somebody reads it. The threads that run Swift's tasks are as many as the processors: two such
// calls on two processors, and no other task of the program moves (lesson 5). So an actor that makes such calls
// brings a thread of its own. Tasks that call it are suspended meanwhile, holding none.
//
//     actor Files {
//       private let thread = ThreadExecutor("files")
//       nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }
//     }
//
// A `DispatchQueue` would do as well, but not for many actors at once: on Linux, GCD adds about one thread
// a second once those it has are blocked (lesson 4).

/// Runs the jobs of one actor, one after the other, on a thread of its own.
///
/// The thread ends with the executor.
package final class ThreadExecutor: SerialExecutor {
  private let jobs = JobLine()

  /// - Parameter name: what debuggers and `top` call the thread; the system keeps 15 bytes of it.
  package init(_ name: String) {
    let jobs = jobs
    OSThread(name) { while let job = jobs.next() { job() } }.detach()
  }

  deinit { jobs.add(nil) }

  package func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    // Holds the executor until the job, which may release the actor, has ended.
    jobs.add { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
  }
}

/// What the thread is to do, in order; nil for its end.
private final class JobLine: Sendable {
  private let line = Mutex<[(@Sendable () -> Void)?]>([])
  private let count = ThreadSemaphore()

  func add(_ job: (@Sendable () -> Void)?) {
    line.withLock { $0.append(job) }
    count.post()
  }

  /// Waits for the next job.
  func next() -> (@Sendable () -> Void)? {
    count.wait()
    return line.withLock { $0.removeFirst() }
  }
}
