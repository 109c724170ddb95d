// Whose turn it is.
//
// The ordered queues are one machine. There is one turn; a line of those who want it; and whoever
// holds the turn passes it on. What differs is only *when* it is passed on: a FIFO queue passes it
// when a body ends, an actor queue when a body starts on the actor.
//
// Two kinds stand in the line. A waiter is a task suspended in `enqueueAndWait`: the turn is
// passed to it by signalling. A piece of work is a closure that somebody enqueued and did not wait
// for: it cannot be woken, so whoever passes the turn to it starts it. Hence the shape of
// the methods: `enqueue` and `pass` return the work that has the turn now, and their caller must start
// it. Work that is returned and not started would hold the turn for ever.
//
// Cancellation is the limiter's: the lock of the turn alone decides whether a waiter was passed the
// turn or left the line.

/// One turn, and the line of waiting tasks and enqueued work for it.
final class Turn: Sendable {
  typealias Work = @Sendable () async -> Void

  private let state = Lock(TurnState<Signal, Work>())

  /// Whether somebody has the turn; a snapshot.
  var isTaken: Bool { state.withLock { $0.isTaken } }

  /// How many tasks and pieces of work wait for the turn; a snapshot.
  var waiting: Int { state.withLock { $0.waiting } }

  /// Takes the turn, waiting for it in line.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before the turn was passed to it.
  func take() async throws {
    try Task.checkCancellation()
    if state.withLock({ $0.takeAtOnce() }) { return }
    guard let (condition, ticket) = joinLine() else { return }
    try await condition.wait(leavingWith: { state.withLock { $0.leave(ticket) } })
  }

  /// Takes the turn, waiting for it in line even if the task is cancelled meanwhile.
  func takeUncancellably() async {
    if state.withLock({ $0.takeAtOnce() }) { return }
    guard let (condition, _) = joinLine() else { return }
    do {
      try await condition.waitUncancellably()
    } catch {
      stop("a queue went away under a task that waits in it uncancellably; keep the queue")
    }
  }

  /// Puts work in the line; returns it if it has the turn already.
  ///
  /// Start what is returned.
  func enqueue(_ work: @escaping Work) -> Work? {
    state.withLock { $0.enqueue(work) } ? work : nil
  }

  /// Passes the turn on; returns the work that has it now, if it is work.
  ///
  /// Start what is returned.
  func pass() -> Work? {
    switch state.withLock({ $0.pass() }) {
    case .waiter(let signal):
      signal.signal()
      return nil
    case .work(let work):
      return work
    case nil:
      return nil
    }
  }

  /// Joins the line, unless the turn has become free meanwhile: then takes it and returns nil.
  ///
  /// In a function of its own so that the line holds the only reference to the signal.
  private func joinLine() -> (Condition, TurnState<Signal, Work>.Ticket)? {
    let (condition, signal) = Condition.makeCondition()
    let ticket = state.withLock { $0.arrive(signal) }
    return ticket.map { (condition, $0) }
  }
}

/// The decisions about a turn, without their effects.
struct TurnState<Waiter, Work> {
  enum Entry {
    case waiter(Waiter)
    case work(Work)
  }

  typealias Ticket = WaiterQueue<Entry>.Ticket

  private(set) var isTaken = false
  private var line = WaiterQueue<Entry>()

  var waiting: Int { line.count }

  /// Takes the turn if it is free.
  mutating func takeAtOnce() -> Bool {
    guard !isTaken else { return false }
    isTaken = true
    return true
  }

  /// Takes the turn and returns nil, or has the newcomer wait and returns its ticket.
  mutating func arrive(_ waiter: Waiter) -> Ticket? {
    takeAtOnce() ? nil : line.append(.waiter(waiter))
  }

  /// Returns true if the work has the turn now, false if it stands in the line.
  mutating func enqueue(_ work: Work) -> Bool {
    if takeAtOnce() { return true }
    _ = line.append(.work(work))
    return false
  }

  /// Returns who has the turn now; nil if it is free.
  mutating func pass() -> Entry? {
    if let next = line.popFirst() { return next }
    isTaken = false
    return nil
  }

  /// Takes a cancelled waiter out; nil if it has the turn already.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    guard case .waiter(let waiter) = line.remove(ticket) else { return nil }
    return waiter
  }
}

extension TurnState: Sendable where Waiter: Sendable, Work: Sendable {}
extension TurnState.Entry: Sendable where Waiter: Sendable, Work: Sendable {}
