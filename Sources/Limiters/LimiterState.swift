// The limiter's decisions, without its effects.
//
// Three facts: how many permits there are, how many are in use, who waits. Each method decides what an
// event means and returns what to do about it; the limiter calls it under its lock and acts after the
// lock is released. So the decisions can be tested exhaustively, and no waiter is resumed under the lock.
//
// The invariant: `waiting > 0` only while `running >= limit`. A departing task's permit goes straight to
// the first waiter and is not free in between, so no newcomer can overtake (no barging). The price is
// that the permit is not used while the waiter wakes up; the gain is that no task starves.

/// The permits of a limiter and the line for them.
struct LimiterState<Waiter> {
  typealias Ticket = WaiterQueue<Waiter>.Ticket

  private(set) var limit: Int
  /// Permits in use, including those handed to a waiter that has not woken yet.
  private(set) var running = 0
  private var waiters = WaiterQueue<Waiter>()

  init(limit: Int) { self.limit = limit }

  var waiting: Int { waiters.count }

  /// Takes a permit if one is free; false if the newcomer must wait.
  mutating func admitAtOnce() -> Bool {
    guard running < limit else { return false }
    running += 1
    return true
  }

  /// Takes a permit and returns nil, or puts the newcomer in the line and returns its ticket.
  mutating func arrive(_ waiter: Waiter) -> Ticket? {
    admitAtOnce() ? nil : waiters.append(waiter)
  }

  /// Gives a permit back: returns the waiter it goes to, nil if it is free now.
  ///
  /// After the limit was lowered, permits above it are retired instead.
  mutating func depart() -> Waiter? {
    if running <= limit, let next = waiters.popFirst() { return next }
    running -= 1
    return nil
  }

  /// Takes a cancelled waiter out; nil if it has its permit already.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    waiters.remove(ticket)
  }

  /// Changes the number of permits: returns the waiters that get one, first to last.
  mutating func setLimit(_ limit: Int) -> [Waiter] {
    self.limit = limit
    var admitted: [Waiter] = []
    while running < limit, let next = waiters.popFirst() {
      running += 1
      admitted.append(next)
    }
    return admitted
  }
}

extension LimiterState: Sendable where Waiter: Sendable {}
