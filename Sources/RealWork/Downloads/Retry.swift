internal import Basics

/// How long to wait before each further attempt.
///
/// A server that fails under load is not helped by clients that come again at once, nor by clients that all
/// come again together. So the pause doubles from attempt to attempt, and each pause is drawn at random from
/// the upper half of that ("equal jitter": M. Brooker, "Exponential backoff and jitter", AWS 2015). A server
/// that says when to come again (`Retry-After`) is taken at its word: nobody comes earlier.
package struct Backoff: Sendable {
  private var whole: Duration
  private let most: Duration
  private var random: SplitMix64

  /// Pauses that double from `first` to `most`, drawn from `seed`.
  package init(
    first: Duration,
    most: Duration = .seconds(30),
    seed: UInt64 = .random(in: .min ... .max)
  ) {
    whole = min(first, most)
    self.most = most
    random = SplitMix64(seed: seed)
  }

  /// The pause before the next attempt, after `error`; nil if the server asks for a longer one than `most`:
  /// then the caller decides whether to ask again that late.
  package mutating func pause(after error: any Error) -> Duration? {
    let drawn = whole / 2 + whole / 2 * random.nextUnit()
    whole = min(whole * 2, most)
    guard let asked = (error as? any PassingError)?.pauseAskedFor else { return drawn }
    return asked <= most ? max(asked, drawn) : nil
  }
}

/// Runs `body` until it succeeds, at most so many times, with a pause after each failure.
///
/// Only what may pass is tried again; cancellation is no failure, and ends a pause too.
///
/// - Returns: What the body returns.
/// - Throws: The error of the last attempt, one that will not pass, or one after which the server asks for a longer
///   pause than `backoff` allows; `CancellationError`.
package func retrying<Value>(
  attempts: Int,
  _ backoff: Backoff,
  clock: any Clock<Duration> = ContinuousClock(),
  isWorthRetrying: (any Error) -> Bool = isWorthRetrying(_:),
  _ body: () async throws -> Value
) async throws -> Value {
  var backoff = backoff
  for _ in 1..<max(attempts, 1) {
    do { return try await body() } catch  where isWorthRetrying(error) {
      guard let pause = backoff.pause(after: error) else { throw error }
      try await clock.sleep(for: pause)
    }
  }
  return try await body()
}
