/// Runs `body` until it succeeds, at most so many times, with a pause after each failure that is twice as
/// long as the one before.
///
/// A server that fails under load is not helped by clients that all come again at once: the longer it
/// fails, the less they ask. Cancellation is no failure; it ends the pause too.
///
/// - Returns: What the body returns.
/// - Throws: The error of the last attempt, or one that `isWorthRetrying` refuses; `CancellationError`.
package func retrying<Value, C: Clock>(
  attempts: Int,
  firstPause: C.Duration,
  clock: C = ContinuousClock(),
  isWorthRetrying: (any Error) -> Bool = { !($0 is CancellationError) },
  _ body: () async throws -> Value
) async throws -> Value {
  var pause = firstPause
  for _ in 1..<max(attempts, 1) {
    do { return try await body() } catch  where isWorthRetrying(error) {
      try await clock.sleep(until: clock.now.advanced(by: pause), tolerance: nil)
      pause *= 2
    }
  }
  return try await body()
}
