internal import Basics
internal import Synchronization

/// Has a try at a lock of the answer's find that another thread has it: any may, at any moment.
///
/// Only the next of a thread does, so who tries again gets on.
enum TakenLock {
  private static let threads = Mutex<Set<UInt>>([])
  private static let areAny = Atomic(false)

  /// The next try of the calling thread fails, if it comes in `body`.
  static func during(_ body: () -> Void) {
    threads.withLock { threads in
      threads.insert(OSThread.current)
      areAny.store(true, ordering: .relaxed)
    }
    body()
    _ = isMet()
  }

  /// Whether the try that the calling thread is about to make fails.
  static func isMet() -> Bool {
    guard areAny.load(ordering: .relaxed) else { return false }
    return threads.withLock { threads in
      let isOne = threads.remove(OSThread.current) != nil
      areAny.store(!threads.isEmpty, ordering: .relaxed)
      return isOne
    }
  }
}
