internal import Synchronization

// The Condition and the Signal of a task in a line, as one object.
//
// A limiter's waiter is alone, and waits once; and the line keeps its signal until it signals it. So the
// pair needs neither a queue nor an end that notices that it is dropped, and all that it knows fits into one
// atomic word: nobody has come yet, the waiter is suspended, or the event is over, and how. The second of the
// two finds the other in the word: the waiter finds the outcome, the signal finds the waiter. One atomic
// operation for each of the two, where `Condition`, with its lock, takes two each: a wait through it takes
// some 600 instructions more.
//
// Who may signal: the code that took the waiter out of its line, under the lock of that line (see
// ConcurrencyLimiter.swift). A departing task takes it out and signals the permit, a cancellation handler
// takes it out and signals the cancellation; the second of the two finds nobody in the line.

/// An event that one task waits for and that happens once.
final class LineCondition: Sendable {
  private let word = Atomic<UInt>(LineWord.empty.bits)

  /// Waits for the event; if the task is cancelled, leaves the line that the condition stands in.
  ///
  /// The lock of that line decides between hand-off and cancellation, so this wait does not look at its task.
  /// When the task is cancelled, `leave` takes the condition out of the caller's line, and returns it if it
  /// was still there: then no other code can signal, and the wait ends as cancelled. If `leave` returns nil,
  /// other code has taken it and is about to signal, and the wait ends normally. A task that is cancelled
  /// before it waits is treated alike.
  ///
  /// Inlined, as are its caller and what it calls: a waiting task keeps a frame of each function that it is
  /// inside of. The runtime gives a task 984 bytes for frames, of which each takes 16 more than its size; the
  /// first frame that does not fit costs another kilobyte.
  @inline(__always)
  func wait(leavingWith leave: @Sendable () -> LineCondition?) async -> Condition.Outcome {
    await withTaskCancellationHandler {
      await self.wait()
    } onCancel: {
      leave()?.settle(.cancelled)
    }
  }

  /// Waits for the event, and does not leave when cancelled.
  @inline(__always) @discardableResult
  func wait() async -> Condition.Outcome {
    await withUnsafeContinuation { continuation in
      // Resumed exactly once: here if the event is over; otherwise the word holds the continuation, and
      // `settle`, which takes it out, is the only way on.
      let (isKept, found) = word.compareExchange(
        expected: LineWord.empty.bits,
        desired: LineWord(continuation).bits,
        ordering: .acquiringAndReleasing
      )
      if isKept { return }
      guard let outcome = LineWord(bits: found).outcome else {
        stop("a line's condition was waited for twice; each has one waiter")
      }
      continuation.resume(returning: outcome)
    }
  }

  func signal() { settle(.signalled) }

  /// Ends the wait, now or whenever it begins.
  func settle(_ outcome: Condition.Outcome) {
    let found = LineWord(
      bits: word.exchange(LineWord(outcome).bits, ordering: .acquiringAndReleasing)
    )
    if found.outcome != nil {
      stop("a line's condition was signalled twice; signal only what you took out of the line")
    }
    found.continuation?.resume(returning: outcome)
  }
}

/// What a line's condition knows: 0, the continuation of its waiter, or how the event ended (an odd number).
struct LineWord: Hashable {
  typealias Continuation = UnsafeContinuation<Condition.Outcome, Never>

  let bits: UInt

  init(bits: UInt) { self.bits = bits }

  /// Neither the waiter nor the signal has come.
  static var empty: Self { Self(bits: 0) }

  init(_ outcome: Condition.Outcome) { bits = UInt(outcome.rawValue) << 1 | 1 }

  /// A continuation is the address of a task's memory, so it is even and not 0.
  ///
  /// The word owns nothing: a task that is suspended stays until it is resumed.
  init(_ continuation: Continuation) { bits = unsafeBitCast(continuation, to: UInt.self) }

  var outcome: Condition.Outcome? {
    bits & 1 == 1 ? Condition.Outcome(rawValue: UInt8(truncatingIfNeeded: bits >> 1)) : nil
  }

  var continuation: Continuation? {
    // The bits were a continuation: all other words are 0 or odd.
    bits & 1 == 1 || bits == 0 ? nil : unsafeBitCast(bits, to: Continuation.self)
  }
}
