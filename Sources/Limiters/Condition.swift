// Waiting for an event, and signalling that it has happened.
//
// A condition and its signal are two ends of one event that happens at most once. Any number of tasks
// wait at one end; the other end signals. There are two ends for two reasons. A task that waits cannot
// signal by mistake. And when the last reference to the `Signal` goes away, no code is left that could
// signal: dropping the `Signal` therefore wakes the waiters with an error, because they would wait for
// ever.
//
// The event is remembered: once signalled, each wait returns at once, and a second signal does nothing.
// So the pair is safe in this order: make the pair, put the signal where the other task will find it,
// wait. If the signal were not remembered, the other task could signal after you have put it there and
// before you wait, and your wait would miss it: the lost wake-up.
//
// Cost: the first waiter stands in the condition itself, so a condition with one waiter needs no array. The
// limiters' own lines need less, and pay less: see LineCondition.swift.
//
// Cancellation: `wait()` joins the condition's queue before its task suspends. The cancellation handler
// removes it from there and wakes it with `CancellationError`; if it is not there any more, the signal
// came first and the wait returns normally. If a task is cancelled before it waits, the handler runs at
// once and finds the wait in the queue. A cancelled wait must not return as if it had been signalled, as
// waiting on an `AsyncStream` does: in that way a limiter admits more than its limit.
//
// The pair is published together with a limiter built on it (see ConcurrencyLimiter.swift); this
// implementation is new, and exact under cancellation.

/// The end of an event at which tasks wait for it.
///
/// ```swift
/// let (condition, signal) = Condition.makeCondition()
/// Task {
///   try await download(url)
///   signal.signal()
/// }
/// try await condition.wait()
/// ```
public final class Condition: Sendable {
  /// How the waiting ended.
  enum Outcome: UInt8, Sendable {
    case signalled
    /// The waiting task was cancelled.
    case cancelled
    /// The signal went away unsignalled.
    case dropped
    /// A limiter's: the wait was bounded, and the bound came.
    case timedOut
    /// A limiter's: it was closed.
    case closed
  }

  /// One that waits: suspended already, or with an object that it will come to.
  fileprivate enum Waiter: Sendable {
    case suspended(UnsafeContinuation<Outcome, Never>)
    case coming(HandOff<Outcome>)

    func wake(with outcome: Outcome) {
      switch self {
      case .suspended(let continuation): continuation.resume(returning: outcome)
      case .coming(let handOff): handOff.deliver(outcome)
      }
    }
  }

  private let state = Lock(ConditionState<Waiter>())

  fileprivate init() {}

  /// Makes the two ends of one event.
  ///
  /// - Complexity: O(1), two allocations.
  public static func makeCondition() -> (condition: Condition, signal: Signal) {
    let condition = Condition()
    return (condition, Signal(condition))
  }

  /// Waits until the event has happened; returns at once if it has.
  ///
  /// Any number of tasks may wait, each any number of times. Whether a signal or a cancellation that
  /// come together win is open, but never both.
  ///
  /// - Complexity: O(1) amortised, and so is being cancelled.
  /// - Throws: `CancellationError` as soon as the task is cancelled before the event;
  ///   ``SignalDropped`` once the ``Signal`` has gone away unsignalled.
  public func wait() async throws {
    let handOff = HandOff<Outcome>()
    switch state.withLock({ $0.arrive(.coming(handOff)) }) {
    case .settled(let outcome):
      try outcome.get()
    case .wait(let ticket):
      let outcome = await withTaskCancellationHandler {
        await handOff.receive()
      } onCancel: {
        let leaver = state.withLock { $0.leave(ticket) }
        leaver?.wake(with: .cancelled)
      }
      try outcome.get()
    }
  }

  /// Waits until the event has happened, even if the task is cancelled meanwhile.
  ///
  /// For code that could not go on without the event, cancelled or not. Prefer ``wait()``: code that
  /// awaits a cancelled task waits until that task ends.
  ///
  /// - Complexity: O(1) amortised.
  /// - Throws: ``SignalDropped`` once the ``Signal`` has gone away unsignalled.
  public func waitUncancellably() async throws(SignalDropped) {
    let outcome = await withUnsafeContinuation {
      (continuation: UnsafeContinuation<Outcome, Never>) in
      // Resumed exactly once: here if the event is over; otherwise the state holds the continuation, and
      // `settle`, which takes it out, is the only way on. (`leave` needs a ticket, and nobody has it.)
      if case .settled(let outcome) = state.withLock({ $0.arrive(.suspended(continuation)) }) {
        continuation.resume(returning: outcome)
      }
    }
    if outcome == .dropped { throw SignalDropped() }
  }

  fileprivate func settle(_ outcome: Outcome) {
    let (first, others) = state.withLock { $0.settle(outcome) }
    first?.wake(with: outcome)
    for waiter in others ?? [] { waiter.wake(with: outcome) }
  }
}

/// The end of an event at which it is made to happen.
///
/// Keep it where the code that signals finds it. When the last reference goes away unsignalled, every
/// waiter wakes with ``SignalDropped``.
public final class Signal: Sendable {
  private let condition: Condition

  fileprivate init(_ condition: Condition) { self.condition = condition }

  deinit { condition.settle(.dropped) }

  /// Makes the event happen: wakes every waiter, and lets every later wait return at once.
  ///
  /// From any thread. Only the first call has an effect.
  ///
  /// - Complexity: O(n) for n waiters.
  public func signal() { condition.settle(.signalled) }
}

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
