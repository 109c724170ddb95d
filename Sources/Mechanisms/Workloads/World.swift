/// Where simulated work takes its time: on the wall clock or in virtual time.
///
/// The three ways of taking time differ in what they hold meanwhile, which is what the lab teaches:
/// a suspended task holds no thread, a blocked one holds a thread that does nothing, a spinning one
/// holds a thread and a core.
package protocol World: Sendable {
  /// Nanoseconds since the run began.
  var now: Int64 { get }

  /// Suspends the calling task for `nanoseconds`, holding no worker.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled.
  func suspend(for nanoseconds: Int64) async throws

  /// Moves the calling task off the thread that started it, before work that would hold it.
  func leaveStartingThread() async

  /// Blocks the calling worker for `nanoseconds`.
  func block(for nanoseconds: Int64)

  /// Computes on the calling worker for `nanoseconds`.
  func spin(for nanoseconds: Int64)
}
