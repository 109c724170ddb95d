internal import Basics
internal import Synchronization

/// The tasks of a schedule that is told, noticed where a thread that is not explored resumes one.
///
/// Such a thread sends the task to the pool, and the exploration would hear of it only when a thread of the pool
/// has come to it, which in a busy process may take seconds.
enum FollowedTasks {
  private static let followed = Mutex<(serials: Set<UInt64>, escapes: Escapes)?>(nil)
  /// Asked for each job of the process that is not explored.
  private static let areAny = Atomic(false)

  /// Forgets those of before, and notes from now on with `escapes`.
  static func begin(noting escapes: Escapes) {
    followed.withLock { $0 = ([], escapes) }
    areAny.store(true, ordering: .releasing)
  }

  static func end() {
    areAny.store(false, ordering: .releasing)
    followed.withLock { $0 = nil }
  }

  static func add(serial: UInt64) { followed.withLock { _ = $0?.serials.insert(serial) } }

  /// Notes a job that a thread which is not explored sends to the pool, if it is of a task that is followed.
  static func notice(_ job: UnownedJob) {
    guard areAny.load(ordering: .acquiring) else { return }
    let serial = job.taskSerial
    let escapes = followed.withLock { $0?.serials.contains(serial) == true ? $0?.escapes : nil }
    escapes?.note(job)
  }
}
