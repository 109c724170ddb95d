internal import Basics
import Synchronization

/// Notes that something ran where it should not have.
final class Escapes: Sendable {
  private let seen = Atomic<Bool>(false)
  private let first = Mutex<[UInt]>([])
  private let asleep = Mutex<Sleeper?>(nil)
  private let timer = Mutex<[UInt]?>(nil)
  private let calls = Mutex<[String: [UInt]]>([:])

  var any: Bool { seen.load(ordering: .acquiring) }

  /// Where the first that is a task waited; empty if it is none.
  var resumePoints: [UInt] { first.withLock { $0 } }

  /// An agent that sleeps where the exploration cannot wake it, and where in the code.
  struct Sleeper {
    var agent: Int
    var points: [UInt]
  }

  /// The first that did; nil for none.
  var sleeper: Sleeper? { asleep.withLock { $0 } }

  /// Where a task first began to wait for the runtime's own time; nil if none did.
  var timerPoints: [UInt]? { timer.withLock { $0 } }

  /// The functions that the code called whose work nobody sees, and from where.
  var unseenCalls: [String: [UInt]] { calls.withLock { $0 } }

  func note(unseenCall name: String, at points: [UInt]) { calls.withLock { $0[name] = points } }

  /// Notes that the calling task begins to wait for the runtime's own time, which alone is no harm:
  /// it may be cancelled before that time is over.
  func noteTimer() {
    // To look where the code stands takes long.
    if timerPoints == nil {
      let points = SourceLines.here()
      timer.withLock { $0 = $0 ?? points }
    }
  }

  func note(_ sleeper: Sleeper) {
    asleep.withLock { $0 = $0 ?? sleeper }
    seen.store(true, ordering: .releasing)
  }

  func note(_ job: UnownedJob) {
    let points = job.taskSerial == 0 ? [] : job.resumePoints
    first.withLock { if !any { $0 = points } }
    seen.store(true, ordering: .releasing)
  }
}
