// Waiting for an event, and signalling that it has happened.
//
// A Condition and its Signal are two faces of one event that happens at most once. Tasks wait at one face; other
// code signals at the other. There are two faces for two reasons. A task that waits cannot signal by mistake. And
// when the last copy of the `Signal` goes away, no code is left that could signal: dropping the `Signal`
// therefore wakes the waiters with an error, because they would wait for ever.
//
// The event is remembered: once signalled, each wait returns at once, and a second signal does nothing.
// So the pair is safe in this order: make the pair, put the signal where the other task will find it,
// wait. If the signal were not remembered, the other task could signal after you have put it there and
// before you wait, and your wait would miss it: the lost wake-up.
//
// Everything here that waits in a line waits by such a pair: the limiter, the pool, the queues, the results of a
// sequence. Its newcomer makes a pair, puts the Signal in the line, under the line's lock, and waits at the
// Condition. Whoever takes the Signal out of the line, under the same lock, signals it after the lock is released.
// (A limiter in thirty lines: see Limiters.docc/ALimiterInThirtyLines.md.)
//
// Structure and cost: both faces are values, of one reference each, and equal to their copies. Where one task waits
// and its Signal is certain to be signalled, as in a line, both refer to the same object, one atomic word (see
// Event.swift): that is the whole cost of a pair. The pair that `makeCondition` makes is for any number of waiters,
// and notices that its Signal is dropped: it is a line itself, whose waiters wait by pairs of one waiter. The first of
// them stands in the event itself, so an event with one waiter needs no array.
//
// Cancellation: whoever takes a waiter out of its line wakes it, and the lock of the line decides who that is. A
// wait in a line therefore does not look at its task. The cancellation handler takes the Signal out of the line
// and wakes its waiter with the cancellation; if it is not there any more, other code has taken it and is about to
// signal, and the wait returns normally. If a task is cancelled before it waits, the handler runs at once and
// finds the Signal in the line. A cancelled wait must not return as if it had been signalled, as
// waiting on an `AsyncStream` does: in that way a limiter admits more than its limit.
//
// The pair is published together with a limiter built on it (see ConcurrencyLimiter.swift); this
// implementation is new, and exact under cancellation.

/// The face of an event at which tasks wait for it.
///
/// ```swift
/// let (condition, signal) = Condition.makeCondition()
/// Task {
///   try await download(url)
///   signal.signal()
/// }
/// try await condition.wait()
/// ```
public struct Condition: Hashable, Sendable {
  /// How the waiting ended.
  enum Outcome: UInt8, Sendable {
    case signalled
    /// The waiting task was cancelled.
    case cancelled
    /// The signal went away unsignalled.
    case dropped
    /// A limiter's: the wait was bounded, and the bound came.
    case timedOut
    /// A limiter's or a pool's: it was closed.
    case closed
  }

  private let event: Event

  /// Makes the two faces of one event.
  ///
  /// ```swift
  /// let (condition, signal) = Condition.makeCondition()
  /// ```
  ///
  /// - Complexity: O(1), two allocations.
  public static func makeCondition() -> (condition: Condition, signal: Signal) {
    let event = SharedEvent()
    return (Condition(event), Signal(SharedEvent.End(event)))
  }

  /// Makes the two faces of one event that one task waits for, and whose Signal is not dropped unsignalled.
  ///
  /// For a line, which keeps a Signal until it signals it.
  ///
  /// - Complexity: O(1), one allocation.
  @inline(__always)
  static func makeForOneWaiter() -> (condition: Condition, signal: Signal) {
    let event = Event()
    return (Condition(event), Signal(event))
  }

  @inline(__always)
  init(_ event: Event) { self.event = event }

  /// Whether both wait for the same event.
  public static func == (one: Self, other: Self) -> Bool {
    one.event === other.event
  }

  /// Feeds the identity of the event.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(event)) }

  /// Waits until the event has happened; returns at once if it has.
  ///
  /// ```swift
  /// try await condition.wait()
  /// ```
  ///
  /// Any number of tasks may wait, each any number of times. If a signal and a cancellation
  /// come together, either may win, never both.
  ///
  /// - Complexity: O(1) amortised, one allocation, and so is being cancelled.
  /// - Throws: `CancellationError` as soon as the task is cancelled before the event;
  ///   ``SignalDropped`` once the ``Signal`` has gone away unsignalled.
  public func wait() async throws { try await event.waitUnlessCancelled().get() }

  /// Waits until the event has happened, even if the task is cancelled meanwhile.
  ///
  /// ```swift
  /// try await condition.waitUncancellably()
  /// ```
  ///
  /// For code that could not go on without the event, cancelled or not. Prefer ``wait()``: code that
  /// awaits a cancelled task waits until that task ends.
  ///
  /// - Complexity: O(1) amortised, one allocation.
  /// - Throws: ``SignalDropped`` once the ``Signal`` has gone away unsignalled.
  public func waitUncancellably() async throws(SignalDropped) {
    if await event.waitUncancellably() == .dropped { throw SignalDropped() }
  }

  /// Waits, as the one waiter, until the event is over, and does not look whether the task is cancelled.
  @inline(__always) @discardableResult
  func outcome() async -> Outcome { await event.wait() }

  /// Waits, as the one waiter, until the event is over; if the task is cancelled, leaves the line that the Signal
  /// stands in.
  ///
  /// The lock of that line decides between hand-off and cancellation. When the task is cancelled, `leave` takes the
  /// Signal out of the caller's line, and returns it if it was still there: then no other code can signal, and the
  /// wait ends as cancelled. If `leave` returns nil, other code has taken it and is about to signal, and the wait
  /// ends normally. A task that is cancelled before it waits is treated alike.
  @inline(__always)
  func wait(leavingWith leave: @Sendable () -> Signal?) async -> Outcome {
    await withTaskCancellationHandler {
      await outcome()
    } onCancel: {
      leave()?.settle(.cancelled)
    }
  }
}

/// The face of an event at which it is made to happen.
///
/// Keep it where the code that signals finds it. When the last copy goes away unsignalled, every waiter wakes with
/// ``SignalDropped``.
public struct Signal: Hashable, Sendable {
  private let event: Event

  @inline(__always)
  init(_ event: Event) { self.event = event }

  /// Whether both are the signal of the same event.
  public static func == (one: Self, other: Self) -> Bool {
    one.event === other.event
  }

  /// Feeds the identity of the event.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(event)) }

  /// Makes the event happen: wakes every waiter, and lets every later wait return at once.
  ///
  /// ```swift
  /// signal.signal()
  /// ```
  ///
  /// From any thread. Only the first call has an effect.
  ///
  /// - Complexity: O(n) for n waiters.
  public func signal() { event.happen() }

  /// Ends an event for one waiter: for whoever took the Signal out of its line.
  @inline(__always)
  func settle(_ outcome: Condition.Outcome) { event.settle(outcome) }
}

/// As `==`: for code written when a condition was an object.
public func === (one: Condition?, other: Condition?) -> Bool { one == other }

/// As `!=`: for code written when a condition was an object.
public func !== (one: Condition?, other: Condition?) -> Bool { one != other }

/// As `==`: for code written when a signal was an object.
public func === (one: Signal?, other: Signal?) -> Bool { one == other }

/// As `!=`: for code written when a signal was an object.
public func !== (one: Signal?, other: Signal?) -> Bool { one != other }

/// A wait that can never end otherwise: the condition's `Signal` went away unsignalled.
public struct SignalDropped: Error, Hashable, CustomStringConvertible {
  /// What happened, and what to do.
  public var description: String {
    """
    waited on a Condition whose Signal was dropped without being signalled, so nothing could ever \
    end the wait; keep the Signal until you call signal()
    """
  }
}

extension Condition.Outcome {
  func get() throws {
    switch self {
    case .signalled: return
    case .cancelled: throw CancellationError()
    case .dropped: throw SignalDropped()
    case .timedOut: throw WaitTimedOut()
    case .closed: throw LimiterClosed()
    }
  }
}

/// An event that any number of tasks wait for: a line of Signals, each of one waiter.
///
/// Safe to share: the line is behind a lock.
private final class SharedEvent: Event, @unchecked Sendable {
  /// What the copies of a Signal share.
  ///
  /// Safe to share: what it has is constant.
  final class End: Event, @unchecked Sendable {
    private let event: SharedEvent

    init(_ event: SharedEvent) { self.event = event }

    deinit { event.settleAll(.dropped) }

    override func happen() { event.settleAll(.signalled) }
  }

  private let state = Lock(ConditionState<Signal>())

  override func waitUnlessCancelled() async -> Condition.Outcome {
    let (condition, signal) = Condition.makeForOneWaiter()
    switch state.withLock({ $0.arrive(signal) }) {
    case .settled(let outcome): return outcome
    case .wait(let ticket):
      return await condition.wait(leavingWith: { state.withLock { $0.leave(ticket) } })
    }
  }

  override func waitUncancellably() async -> Condition.Outcome {
    let (condition, signal) = Condition.makeForOneWaiter()
    switch state.withLock({ $0.arrive(signal) }) {
    case .settled(let outcome): return outcome
    case .wait: return await condition.outcome()
    }
  }

  private func settleAll(_ outcome: Condition.Outcome) {
    let (first, others) = state.withLock { $0.settle(outcome) }
    first?.settle(outcome)
    for waiter in others ?? [] { waiter.settle(outcome) }
  }
}

/// What a condition knows: how the event ended, or who waits for it.
struct ConditionState<Waiter> {
  enum Ticket: Hashable, Sendable {
    /// The number of those who have been first.
    case first(Int)
    case other(WaiterQueue<Waiter>.Ticket)
  }

  enum Arrival {
    /// The event is over; do not wait.
    case settled(Condition.Outcome)
    case wait(Ticket)
  }

  private(set) var outcome: Condition.Outcome?
  /// Who came while nobody waited.
  private var first: Waiter?
  private var firsts = 0
  /// Nil until a second comes: most conditions have one waiter in their life.
  private var others: WaiterQueue<Waiter>?

  var waiting: Int { (others?.count ?? 0) + (first == nil ? 0 : 1) }

  mutating func arrive(_ waiter: Waiter) -> Arrival {
    if let outcome { return .settled(outcome) }
    return .wait(join(waiter))
  }

  private mutating func join(_ waiter: Waiter) -> Ticket {
    if waiting == 0 {
      first = waiter
      firsts += 1
      return .first(firsts)
    }
    var others = others.take() ?? WaiterQueue()
    defer { self.others = others }
    return .other(others.append(waiter))
  }

  /// Settles how the event ended and returns the waiters to tell.
  ///
  /// The first settlement stays.
  mutating func settle(_ outcome: Condition.Outcome) -> (first: Waiter?, others: [Waiter]?) {
    guard self.outcome == nil else { return (nil, nil) }
    self.outcome = outcome
    return (first.take(), others?.removeAll())
  }

  /// Returns the waiter to wake with the cancellation; nil if the event came first.
  mutating func leave(_ ticket: Ticket) -> Waiter? {
    switch ticket {
    case .first(let number): number == firsts ? first.take() : nil
    case .other(let ticket): others?.remove(ticket)
    }
  }
}

extension ConditionState: Sendable where Waiter: Sendable {}
