// The one permit of an ordered queue.
//
// Both ordered queues work alike: there is one permit, a line of those who wait for it, and the holder
// passes it on. They differ only in *when* it is passed on: a FIFO queue passes it on when a body ends, an
// actor queue when a body starts on the actor.
//
// Two kinds of entries stand in the line. A waiter is a task suspended in `enqueueAndWait`, at a Condition: its
// Signal stands in the line, and is the permit (see Condition.swift). A piece of work is a closure that nobody
// waits for. It has no task that a signal could wake, so the code that passes the permit to it must start it.
// Therefore `enqueue` and `release` return the work that now holds the permit, and their caller starts it. Work
// that is returned and not started holds the permit for ever.
//
// Cancellation works as in the limiter: the lock decides whether a waiter got the permit or left the
// line.

/// One permit, and the line of waiting tasks and enqueued work for it.
///
/// The asynchronous part of what a caller does while the permit is free is inlined where it is called (see
/// ConcurrencyLimiter.swift); taking the lock is a call.
@usableFromInline
final class SerialPermit: Sendable {
  /// Work that nobody waits for, and the priority that it was enqueued with.
  final class Work: Sendable {
    let priority: TaskPriority
    let run: @Sendable () async -> Void

    fileprivate init(_ run: @escaping @Sendable () async -> Void) {
      priority = Task.currentPriority
      self.run = run
    }
  }

  private let state = Lock(SerialPermitState<Signal, Work>())

  /// Whether the permit is in use; a snapshot.
  var isTaken: Bool { state.withLock { $0.isTaken } }

  /// How many tasks and pieces of work wait for the permit; a snapshot.
  var waiting: Int { state.withLock { $0.waiting } }

  /// Takes the permit, waiting for it in line.
  ///
  /// - Throws: `CancellationError` if the task is cancelled before the permit was passed to it.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  func acquire() async throws {
    try Task.checkCancellation()
    if !acquireAtOnce() { try await waitInLine() }
  }

  @usableFromInline
  func acquireAtOnce() -> Bool { state.withLock { $0.acquireAtOnce() } }

  @usableFromInline
  func waitInLine() async throws {
    let (condition, signal) = Condition.makeForOneWaiter()
    guard let ticket = state.withLock({ $0.arrive(signal) }) else { return }
    try await condition.wait(leavingWith: { state.withLock { $0.leave(ticket) } }).get()
  }

  /// Takes the permit, waiting for it in line even if the task is cancelled meanwhile.
  #if !DEBUG
  @inline(always)
  #endif
  @inlinable
  func acquireUncancellably() async { if !acquireAtOnce() { await waitInLineUncancellably() } }

  @usableFromInline
  func waitInLineUncancellably() async {
    let (condition, signal) = Condition.makeForOneWaiter()
    if state.withLock({ $0.arrive(signal) }) != nil { await condition.outcome() }
  }

  /// Puts work in the line; returns it if it has the permit already.
  ///
  /// Start what is returned.
  func enqueue(_ run: @escaping @Sendable () async -> Void) -> Work? {
    let work = Work(run)
    return state.withLock { $0.enqueue(work) } ? work : nil
  }

  /// Passes the permit on; returns the work that has it now, if it is work.
  ///
  /// Start what is returned.
  func release() -> Work? {
    switch state.withLock({ $0.release() }) {
    case .waiter(let signal):
      signal.settle(.signalled)
      return nil
    case .work(let work):
      return work
    case nil:
      return nil
    }
  }
}

/// The decisions about the permit, without their effects.
struct SerialPermitState<Waiter, Work> {
  enum Entry {
    case waiter(Waiter)
    case work(Work)
  }

  typealias Ticket = WaiterQueue<Entry>.Ticket

  private(set) var isTaken = false
  private var line = WaiterQueue<Entry>()

  var waiting: Int { line.count }

  /// Takes the permit if it is free.
  mutating func acquireAtOnce() -> Bool {
    guard !isTaken else { return false }
    isTaken = true
    return true
  }

  /// Takes the permit and returns nil, or puts the newcomer in the line and returns its ticket.
  mutating func arrive(_ waiter: Waiter) -> Ticket? {
    acquireAtOnce() ? nil : line.append(.waiter(waiter))
  }

  /// Returns true if the work has the permit now, false if it stands in the line.
  mutating func enqueue(_ work: Work) -> Bool {
    if acquireAtOnce() { return true }
    _ = line.append(.work(work))
    return false
  }

  /// Returns the entry that has the permit now; nil if the permit is free.
  mutating func release() -> Entry? {
    if let next = line.popFirst() { return next }
    isTaken = false
    return nil
  }

  /// Takes a cancelled waiter out; nil if it has the permit already.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    guard case .waiter(let waiter) = line.remove(ticket) else { return nil }
    return waiter
  }
}

extension SerialPermitState: Sendable where Waiter: Sendable, Work: Sendable {}
extension SerialPermitState.Entry: Sendable where Waiter: Sendable, Work: Sendable {}
