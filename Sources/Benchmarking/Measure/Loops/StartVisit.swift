internal import Glibc
internal import Mechanisms

/// Starts a visit on the calling thread: by the time this returns, it is in the limiter or waits for it.
///
/// From its first suspension on it belongs to the pool. `ended` is counted up when its last act is done.
@discardableResult
func startVisit(
  _ visit: Visit,
  on mechanism: any Mechanism,
  executor: (any TaskExecutor)? = nil,
  ended: Counter
) -> Task<Void, Never> {
  let carry: @Sendable @concurrent () async -> Void = {
    await mechanism.carry(visit)
    ended.increment()
  }
  // As in `detached(on:)`: nil would be a preference too.
  return if let executor {
    Task.immediateDetached(executorPreference: executor, operation: carry)
  } else {
    Task.immediateDetached(operation: carry)
  }
}

/// Blocks the calling thread until `condition` holds.
func blockUntil(_ condition: () -> Bool) {
  while !condition() { usleep(50) }
}
