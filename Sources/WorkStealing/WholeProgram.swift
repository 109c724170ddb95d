internal import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

// The executor as the pool of a whole program.
//
// A task that prefers an executor looks it up at each switch, in a list under a lock of the runtime: a quarter of what
// it costs two tasks on this executor to hand a permit to each other. A task that prefers none is spared that, and goes to the process's
// default executor, which can be replaced since Swift 6.3, by an interface that is still called experimental. What
// Task.sleep waits by stays with the executor that was there before: its timers are Dispatch's, and a task that has
// slept goes on here.

extension WorkStealingExecutor {
  /// Makes an executor the pool of the whole program: it runs each task that prefers no other.
  ///
  /// ```swift
  /// @main struct Server {
  ///   static func main() async {
  ///     WorkStealingExecutor.serveWholeProgram()
  ///     await serve()
  ///   }
  /// }
  /// ```
  ///
  /// So `Task {}` and `Task.detached` run on its threads, child tasks and `async let`, actors without an executor of
  /// their own, and what follows a `Task.sleep`. The main actor stays on the main thread. A task that is under way goes
  /// on here when it has suspended, so call it first in the program. A visit to a limiter costs less than on an
  /// executor that a task prefers.
  ///
  /// As with every pool, do not block its threads: they are as few as processors. After ``shutdown()`` the program's
  /// tasks run on Swift's own pool again.
  ///
  /// - Parameters:
  ///   - workers: As for ``init(workers:name:)``.
  ///   - name: As for ``init(workers:name:)``.
  /// - Returns: The executor. A program has one: a second call changes nothing and returns the first one's.
  /// - Precondition: `workers` is at least 1.
  @discardableResult
  public static func serveWholeProgram(workers: Int? = nil, name: String = "worker")
    -> WorkStealingExecutor
  {
    let pool = ProgramExecutors.pool.withLock { known in
      if let known { return known }
      let pool = ProgramPool(workers: workers, name: name)
      known = pool
      return pool
    }
    _ = ProgramExecutors.installation
    return pool.executor
  }
}

/// The pool that a program had before an executor of ours took its place.
enum SwiftsPool {
  static let executor: any TaskExecutor = Task.defaultExecutor

  static var timers: any SchedulingExecutor {
    guard let timers = executor as? any SchedulingExecutor else {
      fatalError(
        "WorkStealingExecutor: this program's own pool has no timers, so no task can sleep"
      )
    }
    return timers
  }
}

private enum ProgramExecutors: ExecutorFactory {
  static let pool = Mutex<ProgramPool?>(nil)

  static let mainExecutor: any MainExecutor = MainActor.executor
  static var defaultExecutor: any TaskExecutor { pool.withLock { $0 } ?? SwiftsPool.executor }

  static let installation: Void = {
    // Looked up before they are replaced.
    _ = (mainExecutor, SwiftsPool.executor)
    _createExecutors(factory: ProgramExecutors.self)
  }()
}

/// What the runtime knows as the default executor: it takes jobs for later too.
///
/// A type of its own, since the protocol for that cannot be seen by other packages yet. The executor runs its jobs in
/// this one's name: a task that finds another one's there would be given to it anew at each switch.
private final class ProgramPool: TaskExecutor, SchedulingExecutor {
  let executor: WorkStealingExecutor

  init(workers: Int?, name: String) {
    executor = WorkStealingExecutor(threads: workers)
    executor.start(name, inTheNameOf: self)
  }

  func enqueue(_ job: consuming ExecutorJob) { executor.enqueue(job) }

  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob,
    after delay: C.Duration,
    tolerance: C.Duration?,
    clock: C
  ) {
    SwiftsPool.timers.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
  }

  func enqueue<C: Clock>(
    _ job: consuming ExecutorJob,
    at instant: C.Instant,
    tolerance: C.Duration?,
    clock: C
  ) {
    SwiftsPool.timers.enqueue(job, at: instant, tolerance: tolerance, clock: clock)
  }
}
