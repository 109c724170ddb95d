// A line that each waiter can leave at any time.
//
// The limiters here keep their waiters in this queue. Waiters join at the back, the first leaves when a
// permit is handed to it, and any of them may leave from the middle, because its task was cancelled. All
// three must be cheap: if leaving searched the line, cancelling n waiters would cost n²/2 steps under the
// limiter's lock. And leaving must remove the waiter at once: an entry that stays, marked as cancelled,
// keeps the memory of a task that is gone.
//
// Structure: an array of slots, threaded by two lists. The slots of waiters form a doubly linked list in
// order of arrival; vacant slots form a singly linked list and are used again first. Links are indices
// into the array, so a line of a thousand waiters is one allocation.
//
// A ticket names a slot and the arrival that took it (a generational index, as in a slot map). Arrivals
// are numbered, and no number is used again. So a ticket that is kept after its waiter has left finds
// another number in the slot, or a vacant slot, and removes nothing. That decides between cancellation
// and hand-off: both remove the waiter under the limiter's lock, and the second one gets nil.

/// A first-in, first-out queue whose elements can be removed from the middle by ticket.
///
/// - Complexity: Joining is O(1) amortised (the array grows by doubling); removing, at the front or
///   by ticket, is O(1) and touches at most three slots.
/// - Memory: One slot for each element waiting at the busiest moment. An array of more than
///   `keptSlots` slots is released when the queue runs empty.
struct WaiterQueue<Element> {
  /// The place of one element in the queue.
  struct Ticket: Hashable, Sendable {
    fileprivate let arrival: UInt64
    /// In four bytes, because a waiting task keeps its ticket in its frame: more tasks than it can number do not
    /// fit into memory.
    private let shortSlot: Int32

    fileprivate init(slot: Int, arrival: UInt64) {
      self.arrival = arrival
      shortSlot = Int32(slot)
    }

    fileprivate var slot: Int { Int(shortSlot) }
  }

  fileprivate struct Slot {
    var arrival: UInt64
    /// Nil while the slot is vacant.
    var element: Element?
    var previous: Int
    /// The slot behind this one; for a vacant slot, the next vacant one.
    var next: Int
  }

  /// How many slots are kept when the queue runs empty: enough that a short line seldom allocates
  /// again, few enough that an idle limiter holds a few kilobytes at most.
  static var keptSlots: Int { 64 }

  /// The index that stands for no slot.
  private static var nowhere: Int { -1 }

  private var slots: [Slot] = []
  private var front = nowhere
  private var back = nowhere
  private var vacant = nowhere
  private var arrivals: UInt64 = 0

  private(set) var count = 0

  /// What `value` says of the element that has waited longest.
  @inline(__always)
  func first<Value>(_ value: (borrowing Element) -> Value) -> Value? {
    guard front != Self.nowhere, case .some(let element) = slots[front].element else { return nil }
    return value(element)
  }

  /// The number of slots in memory, taken or vacant.
  var slotCount: Int { slots.count }

  /// The number of slots that there is memory for.
  var slotCapacity: Int { slots.capacity }

  /// Joins at the back.
  mutating func append(_ element: consuming Element) -> Ticket {
    arrivals += 1
    let index = takeSlot()
    // Field by field: a slot that is made elsewhere first costs a copy.
    slots[index].arrival = arrivals
    slots[index].element = element
    slots[index].previous = back
    slots[index].next = Self.nowhere
    if back == Self.nowhere { front = index } else { slots[back].next = index }
    back = index
    count += 1
    return Ticket(slot: index, arrival: arrivals)
  }

  private mutating func takeSlot() -> Int {
    guard vacant == Self.nowhere else {
      let index = vacant
      vacant = slots[index].next
      return index
    }
    slots.append(Slot(arrival: 0, element: nil, previous: Self.nowhere, next: Self.nowhere))
    return slots.count - 1
  }

  /// Removes the first element; nil if there is none.
  mutating func popFirst() -> Element? {
    front == Self.nowhere ? nil : remove(at: front)
  }

  /// Removes the element that got `ticket`; nil if it has left already.
  mutating func remove(_ ticket: Ticket) -> Element? {
    guard slots.indices.contains(ticket.slot) else { return nil }
    guard slots[ticket.slot].arrival == ticket.arrival else { return nil }
    guard slots[ticket.slot].element != nil else { return nil }
    return remove(at: ticket.slot)
  }

  /// Removes all, first to last.
  mutating func removeAll() -> [Element] {
    var all: [Element] = []
    all.reserveCapacity(count)
    while let element = popFirst() { all.append(element) }
    return all
  }

  private mutating func remove(at index: Int) -> Element? {
    let element = slots[index].element.take()
    let (previous, next) = (slots[index].previous, slots[index].next)
    if previous == Self.nowhere { front = next } else { slots[previous].next = next }
    if next == Self.nowhere { back = previous } else { slots[next].previous = previous }
    count -= 1
    if count == 0, slots.count > Self.keptSlots {
      slots = []
      vacant = Self.nowhere
    } else {
      slots[index].next = vacant
      vacant = index
    }
    return element
  }
}

extension WaiterQueue: Sendable where Element: Sendable {}
extension WaiterQueue.Slot: Sendable where Element: Sendable {}
