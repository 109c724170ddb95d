internal import Foundation
internal import Mechanisms
internal import Workloads

/// Runs `body` on a thread that belongs to nobody else.
///
/// On Linux, Swift's pool and GCD's are the same threads, and a mechanism that blocks them can leave
/// none for the harness. What must go on whatever the mechanism does goes on here.
func onOwnThread<Value: Sendable>(
  _ name: String,
  _ body: @escaping @Sendable () -> Value
) async -> Value {
  await withCheckedContinuation { continuation in
    StartingThread.start(name) { continuation.resume(returning: body()) }
  }
}

/// Starts a visit on the calling thread: by the time this returns, it is in the limiter or waits for it.
///
/// From its first suspension on it belongs to the pool. `ended` is counted up when its last act is done.
@discardableResult
func startVisit(_ visit: Visit, on mechanism: any Mechanism, ended: Counter) -> Task<Void, Never> {
  Task.immediateDetached {
    await mechanism.carry(visit)
    ended.increment()
  }
}

/// Blocks the calling thread until `condition` holds.
func blockUntil(_ condition: () -> Bool) {
  while !condition() { usleep(50) }
}
