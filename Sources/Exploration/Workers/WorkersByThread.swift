internal import Basics

/// The workers that have begun, by what the kernel calls their threads.
///
/// Under a lock of the system: of a `Mutex` the thread sanitizer does not see who waited for it, and says that the two
/// race.
final class WorkersByThread: Sendable {
  private let lock = RawLock()
  // Used under the lock only.
  nonisolated(unsafe) private var workers: [Int32: Worker] = [:]

  func withLock<Result>(_ body: (inout [Int32: Worker]) -> Result) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return body(&workers)
  }
}
