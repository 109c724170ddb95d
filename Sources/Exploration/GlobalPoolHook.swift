internal import Glibc

/// Keeps plain `Task {}` and `Task.detached` on the exploring thread.
///
/// Such tasks ask no executor: the runtime sends their jobs to the global pool. It calls a hook first,
/// one for the process. Ours looks whether the calling thread explores just now. If so, the job goes to
/// that exploration; if not, it goes on to the pool. So only what comes from the exploring thread is
/// kept, and other tasks of the process notice nothing.
///
/// Not kept: `Task.sleep`, whose timers belong to the runtime, and what other threads start.
enum GlobalPoolHook {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The thread's explorer, unretained: it sets itself before a schedule and takes itself out after.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    guard pthread_key_create(&key, nil) == 0 else {
      fatalError("the process has no thread-local key left for an exploration")
    }
    install()
    return key
  }()

  /// Whose jobs those of the calling thread are; nil for the pool's.
  static func setCurrent(_ executor: ExplorationExecutor?) {
    pthread_setspecific(
      key,
      executor.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) }
    )
  }

  fileprivate static var current: ExplorationExecutor? {
    pthread_getspecific(key).map {
      Unmanaged<ExplorationExecutor>.fromOpaque($0).takeUnretainedValue()
    }
  }

  private static func install() {
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "swift_task_enqueueGlobal_hook") else {
      // Without it plain tasks escape as they always did, and the exploration says so.
      return
    }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, original in
      if let executor = GlobalPoolHook.current {
        executor.take(job)
      } else {
        original(job)
      }
    }
  }
}
