/// What a worker runs next: the decision, without the queues.
///
/// A task that was just woken goes to the worker's slot, not to the back of the queue: what it needs is
/// still in the cache, and the one that woke it often waits for it. Without the slot, a hand-over between
/// two tasks takes as long as the queue is. Without a budget, two tasks that wake each other in turn keep
/// the worker for ever: after `budget` turns from the slot in a row, the one in the slot goes to the back.
/// (tokio has both. The slot: C. Lerche, Making the Tokio scheduler 10x faster, 2019. The budget of 3:
/// pull request 5712 of tokio, 2023.)
///
/// A worker with work of its own would never look at what comes from outside. So it looks there first
/// once in 61 turns, as Go's scheduler does. 61 is prime, so that it does not fall in step with a program.
struct Turns: Equatable, Hashable {
  /// What the worker takes its next job from.
  enum Choice: Equatable {
    case slot
    /// The slot has had its turns: its job goes to the back, and the queue is next.
    case slotToBack
    case queue
  }

  /// Turns from the slot in a row.
  static let budget = 3
  /// Turns from one look outside to the next.
  static let lookInterval = 61

  private var sinceLook = 0
  private var fromSlot = 0

  /// Begins a turn; whether it begins with a look outside.
  @inline(__always)
  mutating func looksOutside() -> Bool {
    sinceLook += 1
    guard sinceLook == Self.lookInterval else { return false }
    sinceLook = 0
    return true
  }

  /// Chooses where to look for a job of the worker's own.
  @inline(__always)
  mutating func choose(slotFilled: Bool) -> Choice {
    guard slotFilled else {
      fromSlot = 0
      return .queue
    }
    guard fromSlot < Self.budget else {
      fromSlot = 0
      return .slotToBack
    }
    fromSlot += 1
    return .slot
  }
}
