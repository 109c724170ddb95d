package import Dispatch
internal import ExplorableSynchronization
internal import Limiters

/// A serial queue of GCD as a lock: an exploration stops at its `sync` as at a `Mutex`.
package enum LearnerQueues {
  /// The queue has its lock with it, so a new queue never gets that of one that is gone.
  private static let key = DispatchSpecificKey<LockObject>()
  private static let making = Lock(())

  /// What `sync` does, and besides lets something else come before it and behind it.
  package static func sync<Result>(
    _ queue: DispatchQueue,
    _ body: () throws -> Result
  ) rethrows -> Result {
    let lock = making.withLock { _ in
      if let lock = queue.getSpecific(key: key) { return lock }
      let lock = LockObject()
      queue.setSpecific(key: key, value: lock)
      return lock
    }
    return try lock.withLock { try queue.sync(execute: body) }
  }
}
