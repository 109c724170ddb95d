// A value, from one task to another: an event with a value beside it.
//
// What a pool hands over is more than that it has happened: an element, or a place to build one in. The value lies
// in the object whose faces the Condition and the Signal are. So a hand-off is one allocation, as an event is, and
// takes no lock: whoever hands the value over writes it, then signals; the waiter is woken, then reads it.
//
// Who may hand over, or settle: the code that removed the hand-off from its line, under the lock of that line. A
// task that gives an element back removes it to hand that over, a cancellation handler removes it to deliver the
// cancellation, and only one of the two can. If each delivered to a waiter that it can still *see*, a waiter that is
// granted its element and then cancelled would be resumed twice.

/// Hands one value over from a task that has it to a task that waits for it.
///
/// Safe to share: `given` is written once at most, by the one who removed the hand-off from its line, before it
/// settles the event; and read once, by the waiter, after it has seen the event settled. The word of the event,
/// which both come to, orders the two.
final class HandOff<Value: Sendable>: Event, @unchecked Sendable {
  private var given: Value?

  var condition: Condition { Condition(self) }
  var signal: Signal { Signal(self) }

  /// Gives the value to the waiter, now or whenever it comes for it.
  func hand(_ value: Value) {
    given = value
    settle(.signalled)
  }

  /// Takes the value that was handed over; nil if the event ended otherwise.
  ///
  /// To be called after the wait.
  func take() -> Value? { given.take() }
}
