internal import CExplorable
internal import Glibc
@_spi(ExperimentalCustomExecutors) @_spi(ExperimentalScheduling) internal import _Concurrency

/// Keeps plain `Task {}`, `Task.detached` and the main actor's jobs in the exploration that they come from.
///
/// Such tasks ask no executor: the runtime sends their jobs to the global pool. It calls a hook first,
/// one for the process. (Another says what the main actor's executor is.) Ours looks whether the calling
/// thread explores just now: it is the one that called the exploration, or a worker of one. If so, the job
/// goes to that exploration; if not, it goes on to the pool. So only what comes from these threads is kept,
/// and other tasks of the process notice nothing.
///
/// A `Task.sleep` that begins on a worker is kept too: its job comes to the default executor, to be run later (see
/// `Executors`). Not kept is what other threads start, nor a sleep on a clock whose time is no `Duration`.
enum GlobalPoolHook {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
  private typealias MainExecutor = @convention(thin) () -> UnownedSerialExecutor
  private typealias MainExecutorHook = @convention(thin) (MainExecutor) -> UnownedSerialExecutor

  private static let installed: Void = install()

  /// Whose jobs those of the calling thread are; nil for the pool's.
  ///
  /// Unretained: on the thread that called it, an explorer sets itself before a schedule and takes itself out after; on
  /// a worker it stays for the life of the thread.
  static func setCurrent(_ executor: ExplorationExecutor?) {
    installed
    thread_set_explorer(executor.map { Unmanaged.passUnretained($0).toOpaque() })
  }

  static var current: ExplorationExecutor? {
    thread_explorer().map {
      Unmanaged<ExplorationExecutor>.fromOpaque($0).takeUnretainedValue()
    }
  }

  /// Has a `Set` or a `Dictionary` go through its elements in the same order in each schedule.
  ///
  /// Each table hashes with a seed of its own, by default the address of its memory, so that code that resumes
  /// all waiters of a dictionary would resume them in another order each time. With this switch of the standard
  /// library, which `SWIFT_DETERMINISTIC_HASHING` sets too, the seed is the table's size. A table keeps the seed
  /// that it was made with, so those that exist are not touched. What all tables of a process have in common
  /// stays random.
  private static func keepOrderOfTables() {
    struct Parameters {
      var seeds: (UInt64, UInt64)
      var isDeterministic: Bool
    }
    dlsym(dlopen(nil, RTLD_NOW), "_swift_stdlib_Hashing_parameters")?
      .assumingMemoryBound(to: Parameters.self).pointee.isDeterministic = true
  }

  private static func install() {
    keepOrderOfTables()
    // Where there is none such tasks escape as they always did, and the exploration says so.
    // Kept before they are replaced.
    _ = (Executors.original, Executors.mainExecutor)
    _createExecutors(factory: Executors.self)
    let process = dlopen(nil, RTLD_NOW)
    dlsym(process, "swift_task_enqueueGlobal_hook")?.assumingMemoryBound(to: Hook?.self).pointee = {
      job,
      original in
      if let executor = GlobalPoolHook.current {
        executor.take(job, from: .pool)
      } else {
        FollowedTasks.notice(job)
        original(job)
      }
    }
    dlsym(process, "swift_task_getMainExecutor_hook")?
      .assumingMemoryBound(to: MainExecutorHook?.self).pointee = { original in
        GlobalPoolHook.current?.main.asUnownedSerialExecutor() ?? original()
      }
  }
}

/// The executors that the process has from the first exploration on: those it had, with a door before the
/// default one.
///
/// `Task.yield` of a plain task goes there directly, past the hook, and there is no other way to see it.
private enum Executors: ExecutorFactory {
  static let mainExecutor: any MainExecutor = MainActor.executor
  static let defaultExecutor: any TaskExecutor = Door()
  static let original: any TaskExecutor = Task.defaultExecutor

  /// Has no state, so that a task that asks for its executor just while it changes does well with either.
  final class Door: TaskExecutor, SchedulingExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if let executor = GlobalPoolHook.current {
        executor.take(job, from: .pool)
      } else {
        FollowedTasks.notice(job)
        original.enqueue(job)
      }
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      after delay: C.Duration,
      tolerance: C.Duration?,
      clock: C
    ) {
      if let time = delay as? Duration, let executor = GlobalPoolHook.current {
        let job = UnownedJob(job)
        if executor.take(job, in: time) { return }
        return wait(for: ExecutorJob(job), after: delay, tolerance: tolerance, clock: clock)
      }
      wait(for: job, after: delay, tolerance: tolerance, clock: clock)
    }

    private func wait<C: Clock>(
      for job: consuming ExecutorJob,
      after delay: C.Duration,
      tolerance: C.Duration?,
      clock: C
    ) {
      GlobalPoolHook.current?.escapes.noteTimer()
      guard let executor = original as? any SchedulingExecutor else {
        fatalError("the default executor of this process cannot wait")
      }
      executor.enqueue(job, after: delay, tolerance: tolerance, clock: clock)
    }

    func enqueue<C: Clock>(
      _ job: consuming ExecutorJob,
      at instant: C.Instant,
      tolerance: C.Duration?,
      clock: C
    ) {
      // Asked with points open, so that it shows the exploration's time where clocks are taken over.
      if let time = clock.now.duration(to: instant) as? Duration,
        let executor = GlobalPoolHook.current
      {
        let job = UnownedJob(job)
        if executor.take(job, in: time) { return }
        return wait(for: ExecutorJob(job), until: instant, tolerance: tolerance, clock: clock)
      }
      wait(for: job, until: instant, tolerance: tolerance, clock: clock)
    }

    private func wait<C: Clock>(
      for job: consuming ExecutorJob,
      until instant: C.Instant,
      tolerance: C.Duration?,
      clock: C
    ) {
      GlobalPoolHook.current?.escapes.noteTimer()
      guard let executor = original as? any SchedulingExecutor else {
        fatalError("the default executor of this process cannot wait")
      }
      executor.enqueue(job, at: instant, tolerance: tolerance, clock: clock)
    }
  }
}
