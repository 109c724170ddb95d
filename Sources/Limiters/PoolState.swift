// The pool's decisions, without its effects.
//
// Each element of the pool has a place, and so has each that is being built: at most `maxElements` places
// are taken. That is the limit.
//
// A task that was given a place builds on its own task. If its builder throws, the place goes to the first
// waiter, which then builds on *its* task. If the pool had a builder task of its own, a builder that
// throws would leave open which waiter gets the error.
//
// The invariant: tasks wait only while every place is lent or being built. Each event that frees a place
// (an element returned, an element given up, a build that failed) therefore gives it to the first
// waiter, if there is one. Where the limit was lowered meanwhile, it gives the place to nobody until no more
// places are taken than the limit says.
//
// A loan names a place, and counts the loans of that place. So the return of a loan that is over finds another
// number there, or a place that is not lent. It is recognised, no matter which task has the element by now. A task
// that borrows with `get` has only the element. Its identity says which loan is meant, but not whose: a second
// return, while the element is lent again, looks like the return of its present borrower.
//
// Of the idle elements the one used last is offered, where none has to be looked at first or later: one task at a
// time borrows it and gives it back by a word of its own (see SpareWord.swift), without the lock. Such a borrower
// gets the element from beside the word, perhaps a little later than the loan. So until that borrower has ended the
// loan itself, no other element is offered, and this one is kept, even if the loan was ended for it meanwhile by who
// knows the element only.

/// One lending of a place.
@frozen @usableFromInline
struct PoolLoan: Hashable, Sendable {
  @usableFromInline let place: Int
  @usableFromInline let lending: Int64
  /// Whether its borrower took it without the lock, and may end it so; one that is found by identity says no.
  @usableFromInline let isByWord: Bool

  @inlinable
  init(place: Int, lending: Int64, isByWord: Bool = false) {
    self.place = place
    self.lending = lending
    self.isByWord = isByWord
  }
}

/// An element as the pool's state knows it: an object, whatever its type.
///
/// A user's module specialises the generic `AsyncPool`, but cannot see into this one; were the state
/// generic over the elements, every step would go through their metadata, which costs eight times as much.
@usableFromInline
struct PoolElement: Sendable {
  @usableFromInline let box: any AnyObject & Sendable
  /// Of the element itself, if it is an object.
  let identity: ObjectIdentifier?
}

/// What a task gets from a pool.
@usableFromInline
enum PoolGrant: Sendable {
  case element(PoolElement, PoolLoan)
  /// A place is reserved: build an element, then call `built` or `giveUp`.
  case place(PoolLoan)
}

/// The elements of a pool and the line for them.
struct PoolState<Waiter> {
  typealias Ticket = WaiterQueue<Waiter>.Ticket

  enum Arrival {
    case granted(PoolGrant)
    case wait(Ticket)
    /// The pool is shut down.
    case refused
  }

  /// What to do when a loan ends.
  enum Ending {
    /// The element lies idle; if `startsTimer`, nobody looks after its expiry yet.
    case keep(startsTimer: Bool)
    /// Something goes to this waiter.
    case hand(PoolGrant, to: Waiter)
    /// The place is vacant; `ended` are those who wait for the end of a pool that has come to it.
    case vacate(PoolElement?, ended: [Waiter])
    /// The loan was over already.
    case over
  }

  private struct Place: Sendable {
    var lending: Int64 = 0
    /// Nil while the place is vacant or its element is being built.
    var element: PoolElement?
    var isLent = true
    var idleSince = Duration.zero
  }

  private(set) var maxElements: Int
  let minElements: Int
  let idleTimeout: Duration?
  /// Whether an element may be borrowed without the lock: not if it has to be looked at before or after.
  private let offers: Bool
  private(set) var isShutDown = false
  private var places: [Place] = []
  private var vacant: [Int] = []
  /// The places of idle elements, most recently used last: that one is taken first, while it is warm.
  private var idlePlaces: [Int] = []
  /// The place of each element that is an object.
  private var placeOf: [ObjectIdentifier: Int] = [:]
  private var hasTimer = false
  private var waiters = WaiterQueue<Waiter>()
  /// Those who wait for the last loan of a shut-down pool.
  private var enders = WaiterQueue<Waiter>()
  /// Whether an element is on offer: then the word may have changed since.
  private(set) var isOffering = false
  /// The loan taken without the lock whose borrower has not ended it, as far as the lock knows.
  private var offeredLoan: PoolLoan?
  /// The element of that loan, if it is not the pool's any more.
  private var kept: PoolElement?

  init(
    maxElements: Int,
    minElements: Int = 0,
    idleTimeout: Duration? = nil,
    validates: Bool = false
  ) {
    self.maxElements = maxElements
    self.minElements = minElements
    self.idleTimeout = idleTimeout
    offers = idleTimeout == nil && !validates
  }

  var waiting: Int { waiters.count }
  var idle: Int { idlePlaces.count }
  /// Elements and those under construction, idle or lent.
  var size: Int { places.count - vacant.count }

  /// Takes over what was borrowed and given back without the lock since ``offer()``.
  mutating func absorb(_ word: SpareWord) {
    isOffering = false
    idlePlaces.removeLast()
    let loan = word.loan
    places[loan.place].lending = loan.lending
    places[loan.place].isLent = word.isLent
    if word.isLent { offeredLoan = loan } else { idlePlaces.append(loan.place) }
  }

  /// The element that may be borrowed without the lock, and its word; nil if there is none to offer.
  mutating func offer() -> (SpareWord, PoolElement)? {
    // None idle, as when anybody waits; or the borrower of the last offer may not have seen what it borrowed.
    guard offers, offeredLoan == nil, let place = idlePlaces.last, place <= SpareWord.lastPlace,
      let element = places[place].element
    else { return nil }
    isOffering = true
    let last = PoolLoan(place: place, lending: places[place].lending)
    return (SpareWord(of: last, isLent: false), element)
  }

  /// Notes that a borrower has ended its loan itself; returns what was kept for that loan, to release.
  mutating func endOffer(_ loan: PoolLoan) -> PoolElement? {
    guard offeredLoan == loan else { return nil }
    offeredLoan = nil
    return kept.take()
  }

  /// Takes an idle element; nil if there is none.
  mutating func takeIdle() -> (PoolElement, PoolLoan)? {
    guard let place = idlePlaces.popLast(), let element = places[place].element else { return nil }
    return (element, lend(place))
  }

  /// Takes an idle element or reserves a place, or puts the newcomer in the line.
  mutating func arrive(_ waiter: Waiter) -> Arrival {
    if isShutDown { return .refused }
    if let (element, loan) = takeIdle() { return .granted(.element(element, loan)) }
    if let loan = reserve(upTo: maxElements) { return .granted(.place(loan)) }
    return .wait(waiters.append(waiter))
  }

  /// Reserves a place for a new element, if fewer than `size` are taken.
  mutating func reserve(upTo size: Int) -> PoolLoan? {
    guard self.size < size, !isShutDown else { return nil }
    if vacant.isEmpty {
      vacant.append(places.count)
      places.append(Place())
    }
    return lend(vacant.removeLast())
  }

  /// Takes in an element whose place was reserved, lent to the task that built it.
  ///
  /// Returns false, and takes nothing in, if the pool has this very object already.
  mutating func built(_ element: PoolElement, for loan: PoolLoan) -> Bool {
    if let identity = element.identity {
      guard placeOf[identity] == nil else { return false }
      placeOf[identity] = loan.place
    }
    places[loan.place].element = element
    return true
  }

  /// Takes out an element that is not good any more; its place stays with the borrower, who builds anew.
  ///
  /// Nil, and nothing is taken out, if the loan is over: then the place is nobody's, or another's.
  mutating func remove(_ loan: PoolLoan) -> PoolElement? {
    isCurrent(loan) ? takeElement(from: loan.place) : nil
  }

  /// Ends a loan: the element goes to the first waiter or lies idle.
  mutating func giveBack(_ loan: PoolLoan, at now: Duration = .zero) -> Ending {
    guard isCurrent(loan) else { return .over }
    guard !isShutDown, size <= maxElements, places[loan.place].element != nil else {
      return giveUp(loan)
    }
    if waiters.count > 0, let element = places[loan.place].element, let next = waiters.popFirst() {
      return .hand(.element(element, lend(loan.place)), to: next)
    }
    places[loan.place].isLent = false
    places[loan.place].idleSince = now
    idlePlaces.append(loan.place)
    let startsTimer = idleTimeout != nil && !hasTimer && size > minElements
    if startsTimer { hasTimer = true }
    return .keep(startsTimer: startsTimer)
  }

  /// Ends a loan without its element: the place goes to the first waiter, who must build, or is vacant.
  mutating func giveUp(_ loan: PoolLoan) -> Ending {
    guard isCurrent(loan) else { return .over }
    let element = takeElement(from: loan.place)
    if size <= maxElements, let next = waiters.popFirst() {
      return .hand(.place(lend(loan.place)), to: next)
    }
    vacate(loan.place)
    return .vacate(element, ended: isShutDown && size == 0 ? enders.removeAll() : [])
  }

  /// Changes how many elements there may be.
  ///
  /// More: those who wait get places, to build in. Fewer: the elements that have been idle longest are let
  /// go; then each lent one as it comes back, until there are no more than `count`.
  mutating func resize(to count: Int) -> (places: [(PoolLoan, Waiter)], idle: [PoolElement]) {
    maxElements = count
    var granted: [(PoolLoan, Waiter)] = []
    while waiters.count > 0, let loan = reserve(upTo: count), let next = waiters.popFirst() {
      granted.append((loan, next))
    }
    var elements: [PoolElement] = []
    while size > count, !idlePlaces.isEmpty {
      let place = idlePlaces.removeFirst()
      if let element = takeElement(from: place) { elements.append(element) }
      vacate(place)
    }
    return (granted, elements)
  }

  /// Takes a cancelled waiter out; nil if something was handed to it already.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    waiters.remove(ticket)
  }

  /// Removes the elements that have lain idle too long: returns them, and when to look again.
  ///
  /// Nil ends the timer: there is nothing to wait for.
  mutating func expire(at now: Duration) -> (expired: [PoolElement], next: Duration?) {
    var expired: [PoolElement] = []
    while let idleTimeout, size > minElements, let oldest = idlePlaces.first {
      let due = places[oldest].idleSince + idleTimeout
      if due > now { return (expired, due) }
      idlePlaces.removeFirst()
      if let element = takeElement(from: oldest) { expired.append(element) }
      vacate(oldest)
    }
    hasTimer = false
    return (expired, nil)
  }

  /// Notes that nobody looks after the idle elements: the next that comes back starts a timer again.
  mutating func endTimer() { hasTimer = false }

  /// Lends nothing any more: returns the waiters to refuse, and the idle elements to let go of.
  mutating func shutDown() -> (refused: [Waiter], idle: [PoolElement]) {
    isShutDown = true
    var elements: [PoolElement] = []
    for place in idlePlaces {
      if let element = takeElement(from: place) { elements.append(element) }
      vacate(place)
    }
    idlePlaces = []
    return (waiters.removeAll(), elements)
  }

  /// Notes who is to be told when the last loan of a shut-down pool ends; false if all have ended.
  mutating func awaitEnd(_ waiter: Waiter) -> Bool {
    if size > 0 { _ = enders.append(waiter) }
    return size > 0
  }

  /// The last loan of the element with this identity; it is over if the element lies idle.
  func loan(of identity: ObjectIdentifier) -> PoolLoan? {
    placeOf[identity].map { PoolLoan(place: $0, lending: places[$0].lending) }
  }

  private func isCurrent(_ loan: PoolLoan) -> Bool {
    places[loan.place].isLent && places[loan.place].lending == loan.lending
  }

  private mutating func lend(_ place: Int) -> PoolLoan {
    places[place].isLent = true
    places[place].lending = (places[place].lending + 1) % SpareWord.lendings
    return PoolLoan(place: place, lending: places[place].lending)
  }

  private mutating func takeElement(from place: Int) -> PoolElement? {
    let element = places[place].element.take()
    if offeredLoan?.place == place, kept == nil { kept = element }
    if let identity = element?.identity { placeOf[identity] = nil }
    return element
  }

  private mutating func vacate(_ place: Int) {
    places[place].isLent = false
    vacant.append(place)
  }
}

extension PoolState: Sendable where Waiter: Sendable {}
extension PoolState.Ending: Sendable where Waiter: Sendable {}
