// The published Condition and Signal, structure and flaw as published (for the source, see
// PublishedLimiter.swift).
//
// A Condition is the reading end of an `AsyncStream`, a Signal the writing end. No element is sent:
// `wait` is a `for await` that ends when the stream does, and to signal is to finish the stream.
//
// DEFECT: when the waiting task is cancelled, iteration of an `AsyncStream` simply ends. `wait`
// returns, as it does when signalled, and its caller cannot tell the difference. The interleaving that
// shows it: t1 waits; t1 is cancelled; t1 goes on as if signalled.
//
// `Condition` in Limiters is the sound one: a cancelled wait throws.

/// DEFECT: a cancelled wait returns as if it had been signalled.
package struct PublishedCondition: Sendable {
  private let stream: AsyncStream<Void>

  /// Makes the two ends of one event.
  package static func makeCondition() -> (condition: PublishedCondition, signal: PublishedSignal) {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    return (PublishedCondition(stream: stream), PublishedSignal(continuation: continuation))
  }

  /// Returns when signalled and also when cancelled, which is the defect.
  package func wait() async {
    for await _ in stream {}
  }
}

/// The end of a ``PublishedCondition`` at which the event is made to happen.
package struct PublishedSignal: Sendable {
  fileprivate let continuation: AsyncStream<Void>.Continuation

  package func signal() { continuation.finish() }
}
