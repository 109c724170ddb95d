internal import Synchronization

// The object whose two faces a Condition and its Signal are, when one task waits.
//
// All that it knows fits into one atomic word: nobody has come yet, the waiter is suspended, or the event is
// over, and how. The second of the two finds the other in the word: the waiter finds the outcome, the signal
// finds the waiter. So the one object is the one allocation of a wait, and each of the two comes to it by one
// atomic operation, with no lock.
//
// A continuation exists only once its task has suspended, but a waiter must be in its line before that, or it
// could miss its wake-up. So what stands in a line is not a continuation but a Signal: it may be signalled
// before the waiter has suspended, and the word remembers it. If a cancellation handler looked for a
// continuation that is not registered yet, a task cancelled on arrival would wait for ever.
//
// The continuation is an unsafe one: 18 ns against 54 ns and an allocation for a checked one, on every wait.
// What the checked one would check is the word: a continuation enters it where it was empty, and the one
// operation that takes it out leaves an outcome behind.

/// What happens once, and one task waits for.
///
/// What a line does with it cannot be overridden, so that it is inlined; what other code does with a Condition or a
/// Signal can be: by an event that any number of tasks wait for (see Condition.swift).
///
/// Safe to share though it is not final: the word is atomic, and each subclass says why it is safe.
class Event: @unchecked Sendable {
  private let word = Atomic(EventWord.empty)

  /// Waits until the event is over, even if the task is cancelled.
  ///
  /// Inlined, as are its caller and what it calls: a waiting task keeps a frame of each function that it is
  /// inside of. The runtime gives a task 984 bytes for frames, of which each takes 16 more than its size; the
  /// first frame that does not fit costs another kilobyte.
  @inline(__always)
  final func wait() async -> Condition.Outcome {
    await withUnsafeContinuation { continuation in
      // Resumed exactly once: here if the event is over; otherwise the word holds the continuation, and
      // `settle`, which takes it out, is the only way on.
      let (isKept, found) = word.compareExchange(
        expected: .empty,
        desired: EventWord(continuation),
        ordering: .acquiringAndReleasing
      )
      if isKept { return }
      guard let outcome = found.outcome else {
        stop("two tasks wait for an event for one waiter; give each task one of its own")
      }
      continuation.resume(returning: outcome)
    }
  }

  /// Ends the event, and with it the wait, now or whenever it begins.
  @inline(__always)
  final func settle(_ outcome: Condition.Outcome) {
    let found = word.exchange(EventWord(outcome), ordering: .acquiringAndReleasing)
    if found.outcome != nil {
      stop("a line's event was settled twice; settle only what you took out of the line")
    }
    found.continuation?.resume(returning: outcome)
  }

  /// Waits for whoever has the Condition; ends with the task's cancellation unless a line stands for that.
  func waitUnlessCancelled() async -> Condition.Outcome { await wait() }

  /// Waits for whoever has the Condition, to the end.
  func waitUncancellably() async -> Condition.Outcome { await wait() }

  /// Signals for whoever has the Signal.
  func happen() { settle(.signalled) }
}

/// What an event knows: 0, the continuation of its waiter, or how it ended (an odd number).
struct EventWord: RawRepresentable, AtomicRepresentable, Hashable {
  typealias Continuation = UnsafeContinuation<Condition.Outcome, Never>

  let rawValue: UInt

  init(rawValue: UInt) { self.rawValue = rawValue }

  /// Neither the waiter nor the signal has come.
  static var empty: Self { Self(rawValue: 0) }

  init(_ outcome: Condition.Outcome) { rawValue = UInt(outcome.rawValue) << 1 | 1 }

  /// A continuation is the address of a task's memory, so it is even and not 0.
  ///
  /// The word owns nothing: a task that is suspended stays until it is resumed.
  init(_ continuation: Continuation) { rawValue = unsafeBitCast(continuation, to: UInt.self) }

  var outcome: Condition.Outcome? {
    rawValue & 1 == 1
      ? Condition.Outcome(rawValue: UInt8(truncatingIfNeeded: rawValue >> 1)) : nil
  }

  var continuation: Continuation? {
    // The bits were a continuation: all other words are 0 or odd.
    rawValue & 1 == 1 || rawValue == 0 ? nil : unsafeBitCast(rawValue, to: Continuation.self)
  }
}
