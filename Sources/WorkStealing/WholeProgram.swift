internal import Synchronization
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

// The executor as the pool of a whole program.
//
// A task that prefers an executor pays for it. It looks the preference up at each switch, in a list under a lock of the
// runtime; and to call an actor, even one that is free, takes two jobs: one to get there and one to come back. A task
// that prefers none goes to the process's default executor, which can be replaced since Swift 6.3, by an interface
// that is still called experimental. There it looks nothing up, and goes to a free actor and back in the same job.
// What Task.sleep waits by stays with the executor that was there before: its timers are Dispatch's, and a task that
// has slept goes on here.

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
  /// Its threads then run `Task {}` and `Task.detached`, child tasks and `async let`, actors without an executor of
  /// their own, and what follows a `Task.sleep`. The main actor stays on the main thread. A task costs less than on an
  /// executor that it prefers: two that hand a permit to each other a fifth, a call of a free actor seven eighths. So
  /// do not prefer this one as well.
  ///
  /// Call it first in the program, before anything else starts a task or a thread: the runtime takes the new executor
  /// without a lock. Not in a program that explores, and not after a `fork`, whose child has none of the threads.
  ///
  /// As with every pool, do not block its threads: there are as few as processors. ``shutdown()`` returns at a moment
  /// at which the whole program has nothing to run. From then on its tasks run on Swift's own pool, and it cannot be
  /// served again.
  ///
  /// - Parameters:
  ///   - workers: As for ``init(workers:name:)``.
  ///   - name: As for ``init(workers:name:)``.
  /// - Returns: The executor. A program has one: later calls ignore their arguments and return that of the first.
  /// - Precondition: `workers` is at least 1.
  @discardableResult
  public static func serveWholeProgram(workers: Int? = nil, name: String = "worker")
    -> WorkStealingExecutor
  {
    let executor = ProgramExecutors.executor.withLock { known in
      if let known { return known }
      let executor = WorkStealingExecutor(threads: workers)
      executor.start(name, for: .program)
      known = executor
      return executor
    }
    _ = ProgramExecutors.installation
    return executor
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
  static let executor = Mutex<WorkStealingExecutor?>(nil)

  static let mainExecutor: any MainExecutor = MainActor.executor
  static let defaultExecutor: any TaskExecutor = ProgramPool()

  static let installation: Void = {
    // Looked up before they are replaced.
    _ = (mainExecutor, SwiftsPool.timers)
    _createExecutors(factory: ProgramExecutors.self)
  }()
}

/// What the runtime knows as the default executor: it takes jobs for later too.
///
/// A type of its own, since the protocol for that cannot be seen by other packages yet. It has no state: the runtime
/// puts it in its place without a lock, and a task that asks meanwhile does well with either.
private final class ProgramPool: TaskExecutor, SchedulingExecutor {
  /// Lives as long as the program.
  ///
  /// Its references are not counted: all workers would do so for each job.
  private static let executor = ProgramExecutors.executor.withLock {
    $0.map(Unmanaged.passRetained)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if let executor = Self.executor {
      executor._withUnsafeGuaranteedRef { $0.enqueue(ExecutorJob(job)) }
    } else {
      SwiftsPool.executor.enqueue(ExecutorJob(job))
    }
  }

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
