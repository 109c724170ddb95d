// The limiter's decisions, without its effects.
//
// How many permits there are, how many are free, who waits. Each method decides what an event means and
// returns whom to wake; the limiter calls it under its lock and acts after the lock is released. So the
// decisions can be tested exhaustively, and no waiter is resumed under the lock.
//
// The invariant: the first waiter in line does not fit. Each event that could change that (permits come
// back, the limit is changed, somebody leaves the line, or joins it and is first by priority) therefore ends
// by admitting from the front, so nobody waits while permits for it rest. A later task is admitted only in
// its turn: nobody overtakes (no barging), and many light tasks cannot starve a heavy one. The price is that
// permits rest while they are gathered for a heavy waiter, or while a waiter that has its permit wakes up.
//
// Time passes without an event. A waiter that comes first because it has waited for so long, and that fits,
// is therefore admitted at the next event: a timer for that would cost every waiter a task.
//
// Fits: as many permits are free as it needs, or nobody holds any. The second lets a task that needs more
// permits than there are run alone. It would otherwise wait for ever.
//
// While nobody waits, the counts are in the atomic word and not here (see PermitWord.swift): `absorb`
// takes them out of it, `offer` says what to put back.

/// The permits of a limiter and the line for them.
struct LimiterState<Waiter> {
  typealias Place = WaitingLine<Waiter>.Place
  typealias Ticket = WaitingLine<Waiter>.Ticket

  enum Arrival {
    case admitted
    /// In line. The turns are of those who fit now: of the newcomer too, if it is among them.
    case wait(Ticket, Turns)
    /// The limiter is closed.
    case refused
  }

  /// Why a waiter leaves the line.
  enum Departure {
    case cancelled
    case timedOut
  }

  /// Those to wake: seldom more than one, which needs no array.
  struct Turns {
    var first: Waiter?
    var others: [Waiter]?

    mutating func append(_ waiter: Waiter) {
      if first == nil {
        first = waiter
        return
      }
      if others == nil { others = [] }
      others?.append(waiter)
    }
  }

  private(set) var limit: Int
  /// Permits that nobody has; less than 0 after the limit was lowered below those in use.
  private(set) var free: Int
  /// Those who have permits, including waiters that have not woken yet.
  private(set) var holders = 0
  private(set) var admitted = 0
  private(set) var cancelled = 0
  private(set) var timedOut = 0
  private(set) var isClosed = false
  /// The limiter is gone, and those who hold permits keep the rest of it.
  private var isAbandoned = false
  private var longestWait = Duration.zero
  private var line: WaitingLine<Waiter>
  /// Woken when the limiter is closed and nobody has a permit.
  private var ending: [Waiter] = []

  init(limit: Int, agingAfter: Duration? = nil) {
    self.limit = limit
    free = limit
    line = WaitingLine(agingAfter: agingAfter)
  }

  /// Permits in use.
  var running: Int { limit - free }
  var waiting: Int { line.count }

  /// The longest anybody waited or has waited so far.
  func longestWait(at now: Duration) -> Duration {
    max(longestWait, now - (line.oldestArrival ?? now))
  }

  /// Takes the counts out of the atomic word.
  mutating func absorb(_ word: PermitWord) {
    free = word.free
    holders = word.holders
    admitted += word.admissions
  }

  /// What to put back into the atomic word; nil to keep it locked, so that everybody asks here.
  func offer() -> PermitWord? {
    guard line.count == 0, free >= 0, holders <= PermitWord.mostHolders, !isClosed, !isAbandoned
    else { return nil }
    return PermitWord(free: free, holders: holders)
  }

  /// Takes permits if they are free; false if the newcomer must wait.
  mutating func admitAtOnce(_ weight: Int = 1) -> Bool {
    guard line.count == 0, fits(weight), !isClosed else { return false }
    admit(weight)
    return true
  }

  /// Admits the newcomer or puts it in the line.
  mutating func arrive(_ place: consuming Place) -> Arrival {
    if isClosed, !place.outlastsClosing { return .refused }
    if line.count == 0, fits(place.weight) {
      admit(place.weight)
      return .admitted
    }
    let now = place.arrived
    return .wait(line.append(place), admitWaiters(at: now))
  }

  /// Gives permits back: returns the waiters they go to.
  mutating func depart(_ weight: Int = 1, at now: Duration = .zero) -> Turns {
    free += weight
    holders -= 1
    return admitWaiters(at: now)
  }

  /// Takes a waiter out; nil if it has its permit already, or was refused.
  ///
  /// Those behind it may fit now.
  mutating func leave(
    _ ticket: Ticket,
    _ why: Departure = .cancelled,
    at now: Duration = .zero
  ) -> (leaver: Waiter, turns: Turns)? {
    guard let place = line.remove(ticket) else { return nil }
    switch why {
    case .cancelled: cancelled += 1
    case .timedOut: timedOut += 1
    }
    longestWait = max(longestWait, now - place.arrived)
    return (place.waiter, admitWaiters(at: now))
  }

  /// Changes the number of permits: returns the waiters that get some.
  mutating func setLimit(_ limit: Int, at now: Duration = .zero) -> Turns {
    free += limit - self.limit
    self.limit = limit
    return admitWaiters(at: now)
  }

  /// Refuses all who wait or arrive later, unless they outlast closing.
  ///
  /// Returns those that wait no longer, and those to wake.
  mutating func close(at now: Duration = .zero) -> (refused: [Waiter], turns: Turns) {
    isClosed = true
    longestWait = longestWait(at: now)
    return (line.close(), admitWaiters(at: now))
  }

  /// Notes that the limiter is gone; false if nobody has a permit who could outlive it.
  mutating func abandon() -> Bool {
    isAbandoned = holders > 0
    return isAbandoned
  }

  /// The limiter is gone, and all permits are back.
  ///
  /// True once: nobody arrives any more.
  var isOver: Bool { isAbandoned && holders == 0 }

  /// Notes who is to be told when all have left a closed limiter; false if all have left already.
  mutating func awaitEnd(_ waiter: Waiter) -> Bool {
    if hasEnded { return false }
    ending.append(waiter)
    return true
  }

  /// Nobody is in line either: where nobody holds a permit, the first in line fits.
  private var hasEnded: Bool { isClosed && holders == 0 }

  private func fits(_ weight: Int) -> Bool { free >= weight || holders == 0 }

  private mutating func admit(_ weight: Int) {
    free -= weight
    holders += 1
    admitted += 1
  }

  private mutating func admitWaiters(at now: Duration) -> Turns {
    var turns = Turns()
    while let place = line.popFirst(at: now, upTo: holders == 0 ? .max : free) {
      admit(place.weight)
      longestWait = max(longestWait, now - place.arrived)
      turns.append(place.waiter)
    }
    if hasEnded, !ending.isEmpty {
      for waiter in ending { turns.append(waiter) }
      ending = []
    }
    return turns
  }
}

extension LimiterState: Sendable where Waiter: Sendable {}
extension LimiterState.Turns: Sendable where Waiter: Sendable {}
extension LimiterState.Arrival: Sendable where Waiter: Sendable {}
