// The pool's decisions, without its effects.
//
// Each element of the pool stands in a slot, lent or idle; a task that builds one holds its place as
// `building`. Lent, idle and building together are at most `maxElements`: that is the limit.
//
// A task that reserved a place builds on its own task. If its builder throws, the place goes to the first
// waiter, which then builds on *its* task. If the pool had a builder task of its own, a builder that
// throws would leave open which waiter gets the error.
//
// The invariant: tasks wait only while every place is lent or being built. Each event that frees a place
// (an element returned, an element discarded, a build that failed) therefore gives it to the first
// waiter, if there is one.
//
// An element is recognised by its identity. The pool keeps its elements alive, lent ones too, so the
// identity of one cannot come to mean another object. So the pool recognises an object that is not among
// its elements, and an element that is idle when it is returned. Identity does not say *who* returns: a
// second return of an element that is lent again looks like the return of its present borrower.

/// What a task gets from a pool.
enum PoolGrant: Sendable {
  case element(any AnyObject & Sendable)
  /// A place is reserved: build an element, then call `built` or `buildFailed`.
  case place
}

/// The elements of a pool and the line for them.
///
/// Knows its elements as objects only, whatever their type. A user's module specialises the generic
/// `AsyncPool`, but cannot see into this one; were this generic over the elements too, every step
/// would go through their metadata, which costs eight times as much.
struct PoolState<Waiter> {
  typealias Element = any AnyObject & Sendable
  typealias Ticket = WaiterQueue<Waiter>.Ticket

  enum Arrival {
    case granted(PoolGrant)
    case wait(Ticket)
  }

  enum Return {
    case keep
    /// The element is lent on to this waiter.
    case hand(Waiter)
    /// The element is not one of this pool's, or was discarded.
    case foreign
    /// The element is idle: it was given back already.
    case double
  }

  enum Discard {
    case shrink
    /// The element's place goes to this waiter, who must build.
    case passPlace(Waiter)
    case foreign
    case double
  }

  private struct Slot: Sendable {
    /// Nil while the slot is vacant.
    var element: Element?
    var isLent: Bool
  }

  let maxElements: Int
  private(set) var building = 0
  private var slots: [Slot] = []
  private var vacant: [Int] = []
  /// The slots of idle elements, most recently used last: that one is taken first, while it is warm.
  private var idleSlots: [Int] = []
  private var slotOf: [ObjectIdentifier: Int] = [:]
  private var waiters = WaiterQueue<Waiter>()

  init(maxElements: Int) { self.maxElements = maxElements }

  var waiting: Int { waiters.count }
  var idle: Int { idleSlots.count }
  var lent: Int { slotOf.count - idleSlots.count }

  /// Takes an idle element or reserves a place; nil if every place is taken.
  mutating func acquire() -> PoolGrant? {
    if let slot = idleSlots.popLast(), let element = slots[slot].element {
      slots[slot].isLent = true
      return .element(element)
    }
    guard slotOf.count + building < maxElements else { return nil }
    building += 1
    return .place
  }

  /// Takes an idle element or reserves a place, or puts the newcomer in the line.
  mutating func arrive(_ waiter: Waiter) -> Arrival {
    if let grant = acquire() { return .granted(grant) }
    return .wait(waiters.append(waiter))
  }

  /// Takes in an element whose place was reserved, lent to the task that built it.
  ///
  /// Returns false, and takes nothing in, if the pool has this very object already.
  mutating func built(_ element: Element) -> Bool {
    guard slotOf[ObjectIdentifier(element)] == nil else { return false }
    let slot = vacant.popLast() ?? slots.count
    if slot == slots.count {
      slots.append(Slot(element: element, isLent: true))
    } else {
      slots[slot] = Slot(element: element, isLent: true)
    }
    slotOf[ObjectIdentifier(element)] = slot
    building -= 1
    return true
  }

  /// Gives a reserved place back: returns the waiter that gets it, and must build.
  mutating func buildFailed() -> Waiter? {
    if let next = waiters.popFirst() { return next }
    building -= 1
    return nil
  }

  mutating func `return`(_ element: Element) -> Return {
    guard let slot = slotOf[ObjectIdentifier(element)] else { return .foreign }
    guard slots[slot].isLent else { return .double }
    if let next = waiters.popFirst() { return .hand(next) }
    slots[slot].isLent = false
    idleSlots.append(slot)
    return .keep
  }

  mutating func discard(_ element: Element) -> Discard {
    guard let slot = slotOf[ObjectIdentifier(element)] else { return .foreign }
    guard slots[slot].isLent else { return .double }
    slotOf[ObjectIdentifier(element)] = nil
    slots[slot].element = nil
    vacant.append(slot)
    guard let next = waiters.popFirst() else { return .shrink }
    building += 1
    return .passPlace(next)
  }

  /// Takes a cancelled waiter out; nil if something was handed to it already.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    waiters.remove(ticket)
  }
}

extension PoolState: Sendable where Waiter: Sendable {}
extension PoolState.Return: Sendable where Waiter: Sendable {}
extension PoolState.Discard: Sendable where Waiter: Sendable {}
