import Glibc
import Synchronization

/// A number in memory that an exploration does not see, as it sees no plain variable.
///
/// The atomic one only keeps the thread sanitizer content with what an answer does to it without a lock.
final class PlainCount: Sendable {
  private let number: Atomic<Int>
  private let calls = Atomic(0)

  init(_ number: Int = 0) { self.number = Atomic(number) }

  var value: Int { number.load(ordering: .relaxed) }

  /// Loses what another thread adds meanwhile, on one processor too: now and then the other gets it meanwhile.
  ///
  /// Not each time: on a busy machine each takes as long as a turn of all the others.
  func addUnguarded(_ more: Int) {
    let before = value
    if calls.wrappingAdd(1, ordering: .relaxed).newValue % 1_000 == 0 { sched_yield() }
    number.store(before &+ more, ordering: .relaxed)
  }

  func add(_ more: Int) { number.wrappingAdd(more, ordering: .relaxed) }
}
