import HeapModule

/// Who wakes when: a heap of deadlines with an order among equals.
///
/// A value type without effects: it says who is due, the scheduler wakes them. Equal deadlines fire
/// in the order in which they were set, by a serial number in the key, since a heap alone promises no
/// order among equals and a run must not depend on its shape.
///
/// A sleeper takes a `Ticket` before its deadline is set, so that a cancellation arriving in between
/// finds something to cancel. A cancelled deadline stays in the heap as an empty shell until it
/// surfaces, or until there are more than 64 that outnumber the rest and the heap is rebuilt: cancelling costs O(1)
/// amortised, and memory stays in proportion to those who really wait.
struct Timers {
  /// Who waits for a deadline.
  enum Waiter {
    /// A suspended task, and the tag of the task that put it to sleep.
    case sleeper(UnsafeContinuation<Void, any Error>, tag: Int32)
    /// A job that holds its worker, its thread parked on a seat.
    case held(Seat)
  }

  /// One use of one slot.
  struct Ticket: Hashable {
    fileprivate var slot: Int
    fileprivate var use: UInt32
  }

  private enum Phase {
    case free
    /// The ticket is out, the deadline not yet set.
    case issued
    /// Cancelled before the deadline was set.
    case revoked
    case waiting(Waiter)
  }

  private struct Slot {
    var use: UInt32 = 0
    var phase: Phase
  }

  private struct Deadline: Comparable {
    var time: Int64
    var serial: UInt64
    var ticket: Ticket

    static func < (one: Deadline, other: Deadline) -> Bool {
      one.time != other.time ? one.time < other.time : one.serial < other.serial
    }
  }

  private var heap = Heap<Deadline>()
  private var slots: [Slot] = []
  private var freeSlots: [Int] = []
  private var serial: UInt64 = 0
  private var shells = 0

  /// Whether nobody waits.
  var isEmpty: Bool { heap.count == shells }

  /// How many deadlines memory is kept for, cancelled ones among them.
  var heldDeadlines: Int { heap.count }

  /// The earliest deadline anybody waits for.
  ///
  /// - Complexity: amortised O(log n).
  mutating func next() -> Int64? {
    while let first = heap.min {
      if isWaiting(first.ticket) { return first.time }
      heap.removeMin()
      shells -= 1
    }
    return nil
  }

  mutating func issue() -> Ticket {
    if let slot = freeSlots.popLast() {
      slots[slot].phase = .issued
      return Ticket(slot: slot, use: slots[slot].use)
    }
    slots.append(Slot(phase: .issued))
    return Ticket(slot: slots.count - 1, use: 0)
  }

  /// Sets the deadline of a ticket; false when it was cancelled first, which uses the ticket up.
  mutating func set(_ ticket: Ticket, at time: Int64, for waiter: Waiter) -> Bool {
    if case .revoked = slots[ticket.slot].phase {
      release(ticket.slot)
      return false
    }
    slots[ticket.slot].phase = .waiting(waiter)
    heap.insert(Deadline(time: time, serial: serial, ticket: ticket))
    serial += 1
    return true
  }

  /// Cancels a ticket and returns who waits on it; nil when it has fired or nobody waits yet.
  mutating func cancel(_ ticket: Ticket) -> Waiter? {
    guard slots[ticket.slot].use == ticket.use else { return nil }
    switch slots[ticket.slot].phase {
    case .free, .revoked: return nil
    case .issued:
      slots[ticket.slot].phase = .revoked
      return nil
    case .waiting(let waiter):
      release(ticket.slot)
      shells += 1
      if shells > 64, shells > heap.count / 2 { dropShells() }
      return waiter
    }
  }

  /// Removes and returns the first whose deadline is at or before `time`.
  mutating func takeDue(by time: Int64) -> Waiter? {
    guard let due = next(), due <= time, let ticket = heap.popMin()?.ticket,
      case .waiting(let waiter) = slots[ticket.slot].phase
    else { return nil }
    release(ticket.slot)
    return waiter
  }

  private func isWaiting(_ ticket: Ticket) -> Bool { slots[ticket.slot].use == ticket.use }

  private mutating func release(_ slot: Int) {
    slots[slot].phase = .free
    slots[slot].use &+= 1
    freeSlots.append(slot)
  }

  private mutating func dropShells() {
    heap = Heap(heap.unordered.filter { isWaiting($0.ticket) })
    shells = 0
  }
}
