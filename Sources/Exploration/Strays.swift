internal import Basics
import Synchronization

/// Notes that something ran where it should not have.
final class Strays: Sendable {
  private let seen = Atomic<Bool>(false)
  private let first = Mutex<[UInt]>([])

  var any: Bool { seen.load(ordering: .acquiring) }

  /// Where the first that is a task waited; empty if it is none.
  var resumePoints: [UInt] { first.withLock { $0 } }

  func note(_ job: UnownedJob) {
    let points = job.taskSerial == 0 ? [] : job.resumePoints
    first.withLock { if !any { $0 = points } }
    seen.store(true, ordering: .releasing)
  }
}
