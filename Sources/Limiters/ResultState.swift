// The decisions about results that come one by one, without their effects: who waits for what, and what comes next.
//
// An element has a place from before it is taken out of its sequence until its result is taken. The one who works
// waits for a place, the one who takes for the result that comes next; there is one of each.

/// Results between the one who works and the one who takes them.
struct ResultState<Value, Failure: Error, Waiter> {
  enum Reservation {
    /// The place of the next element, by number.
    case place(Int)
    case wait
    /// No further element is wanted.
    case stop
  }

  enum Next {
    /// The next result, and who waited for the place that it leaves.
    case value(Value, worker: Waiter?)
    case failed(Failure)
    case ended
    case wait
  }

  private let ordered: Bool
  private var reserved = 0
  private var taken = 0
  /// By the number of its place, or of its arrival where no order is kept.
  private var ready: [Int: Value] = [:]
  private var arrived = 0
  private var failure: Failure?
  private var hasFailed = false
  private var hasEnded = false
  private var isAbandoned = false
  private var worker: Waiter?
  private var taker: Waiter?

  init(ordered: Bool) { self.ordered = ordered }

  /// Reserves a place for an element, if fewer than `limit` are reserved whose results were not taken.
  mutating func reserve(upTo limit: Int, _ waiter: Waiter) -> Reservation {
    if hasFailed || isAbandoned { return .stop }
    guard reserved - taken < limit else {
      worker = waiter
      return .wait
    }
    reserved += 1
    return .place(reserved - 1)
  }

  /// Puts a result in its place: returns the one who waits for it.
  ///
  /// What comes after an error comes of the cancellation that follows it, and is left out.
  mutating func put(_ value: Value, at place: Int) -> Waiter? {
    if hasFailed || isAbandoned { return nil }
    ready[ordered ? place : arrived] = value
    arrived += 1
    return ready[taken] == nil ? nil : taker.take()
  }

  /// Notes the first error: no further element is wanted.
  ///
  /// It is told when all has ended. Returns the worker, if it waits for a place.
  mutating func fail(_ error: Failure) -> Waiter? {
    guard !hasFailed else { return nil }
    hasFailed = true
    failure = error
    return worker.take()
  }

  /// Notes that nothing runs any more: returns the one who waits for a result.
  mutating func end() -> Waiter? {
    hasEnded = true
    return taker.take()
  }

  /// Takes the next result, or what there is instead of one.
  mutating func take(_ waiter: Waiter) -> Next {
    if let value = ready.removeValue(forKey: taken) {
      taken += 1
      return .value(value, worker: worker.take())
    }
    guard hasEnded else {
      taker = waiter
      return .wait
    }
    return failure.take().map { .failed($0) } ?? .ended
  }

  /// Notes that nobody takes a result any more: returns the worker, if it waits for a place.
  mutating func abandon() -> Waiter? {
    isAbandoned = true
    return worker.take()
  }
}

extension ResultState: Sendable where Value: Sendable, Waiter: Sendable {}
extension ResultState.Next: Sendable where Value: Sendable, Waiter: Sendable {}
