package import Dispatch
internal import ExplorableSynchronization
internal import Limiters

/// A queue of GCD as a lock: an exploration stops at its `sync` as at a `Mutex`.
package enum LearnerQueues {
  /// By the queue: one whose address is used again has the same lock, which is free then.
  private static let locks = Lock<[ObjectIdentifier: LockObject]>([:])

  /// What `sync` does, and besides lets something else come before it and behind it.
  package static func sync<Result>(
    _ queue: DispatchQueue,
    _ body: () throws -> Result
  ) rethrows -> Result {
    let lock = locks.withLock { locks in
      let name = ObjectIdentifier(queue)
      if let lock = locks[name] { return lock }
      let lock = LockObject()
      locks[name] = lock
      return lock
    }
    return try lock.withLock { try queue.sync(execute: body) }
  }
}
