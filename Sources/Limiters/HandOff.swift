// One value, from one task to another. Only this file, Condition.swift and LineCondition.swift touch continuations.
//
// A continuation exists only once its task has suspended, but a waiter must be in the queue before
// that, or it could miss its wake-up. So what stands in the queue is not a continuation but a hand-off: an
// object that accepts the value and the receiver in either order. If the value is delivered before the
// receiver has suspended, the value is kept and the receiver does not suspend for long. If the receiver
// suspends first, its continuation is kept and the delivery resumes it.
//
// Who may deliver: the code that removed the hand-off from its queue, under the lock of that queue. The
// task that gives a permit removes it to deliver the permit, the cancellation handler removes it to
// deliver the cancellation, and only one of the two can. If each delivered to a waiter that it can still
// *see*, a waiter that is granted its permit and then cancelled would be resumed twice. If the handler
// looked for a continuation that is not registered yet, a task cancelled on arrival would wait for ever.
//
// The continuation is an unsafe one: 18 ns against 54 ns and an allocation for a checked one, on every
// wait. What the checked one would check is the state machine below: a continuation enters as `.awaited`,
// and the one method that takes it out leaves `.done` behind.

/// Hands one value over from a task that has it to a task that waits for it.
///
/// `deliver(_:)` must be called exactly once and `receive()` at most once, in either order.
final class HandOff<Value: Sendable>: Sendable {
  private let state = Lock(HandOffState<Value, UnsafeContinuation<Value, Never>>.empty)

  /// Gives the value to the receiver, now or whenever it comes for it.
  func deliver(_ value: Value) {
    let receiver = state.withLock { $0.deliver(value) }
    receiver?.resume(returning: value)
  }

  /// Waits for the value.
  ///
  /// Cancelling the task does not end the wait: deliver something that says so.
  func receive() async -> Value {
    await withUnsafeContinuation { continuation in
      // Resumed exactly once: here if the value is there; otherwise the state holds the continuation,
      // and `deliver`, which takes it out as it leaves `.awaited`, is the only way on.
      let delivered = state.withLock { $0.receive(with: continuation) }
      if let delivered { continuation.resume(returning: delivered) }
    }
  }
}

/// Where a hand-off stands.
///
/// It ends in `.done`, no matter whether the value or the receiver comes first.
enum HandOffState<Value, Receiver> {
  /// Neither the value nor the receiver has come.
  case empty
  /// The receiver has come first and is suspended.
  case awaited(Receiver)
  /// The value has come first and lies ready.
  case delivered(Value)
  /// The receiver has the value.
  case done

  /// Returns the receiver to give the value to; nil if it is yet to come.
  mutating func deliver(_ value: Value) -> Receiver? {
    switch self {
    case .empty:
      self = .delivered(value)
      return nil
    case .awaited(let receiver):
      self = .done
      return receiver
    case .delivered, .done:
      stop("a hand-off was delivered twice; deliver only what you removed from its queue")
    }
  }

  /// Returns the value if it lies ready; nil if the receiver must wait for it.
  mutating func receive(with receiver: Receiver) -> Value? {
    switch self {
    case .empty:
      self = .awaited(receiver)
      return nil
    case .delivered(let value):
      self = .done
      return value
    case .awaited, .done:
      stop("a hand-off was received twice; each has one receiver")
    }
  }
}

extension HandOffState: Sendable where Value: Sendable, Receiver: Sendable {}
