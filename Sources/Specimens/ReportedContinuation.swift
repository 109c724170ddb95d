internal import Limiters

// Not a specimen: what lets one show its defect without ending the process.
//
// A continuation resumed a second time aborts the program if it is checked, and is undefined behaviour
// if it is not. An explorer that looks for exactly that must survive it a thousand times. So the
// specimens resume through this wrapper: the first resume goes through, every further one goes to a
// reporter.

/// Told what was resumed a second time, as a noun: "the waiter's continuation".
package typealias DoubleResumeReporter = @Sendable (_ what: String) -> Void

/// A continuation whose second resume is reported instead of suffered.
package final class ReportedContinuation<Value: Sendable>: Sendable {
  private let what: String
  private let report: DoubleResumeReporter
  private let isResumed = Lock(false)
  // An unsafe one, so that a specimen that loses its waiter does so in silence. Resumed at most
  // once: `isResumed` is set under its lock by the first, and only the first goes on.
  private let continuation: UnsafeContinuation<Value, any Error>

  private init(
    _ continuation: UnsafeContinuation<Value, any Error>,
    what: String,
    report: @escaping DoubleResumeReporter
  ) {
    self.continuation = continuation
    self.what = what
    self.report = report
  }

  /// Suspends the calling task until the continuation given to `park` is resumed.
  ///
  /// - Parameters:
  ///   - what: The continuation as a noun, for the report.
  ///   - report: Told of every resume after the first; nil to stop with a message.
  ///   - park: Puts the continuation where somebody will resume it.
  /// - Returns: What it is resumed with first.
  /// - Throws: The error it is resumed with first.
  package static func wait(
    for what: String,
    reportingTo report: DoubleResumeReporter?,
    _ park: (ReportedContinuation<Value>) -> Void
  ) async throws -> Value {
    let report = report ?? stopForDoubleResume
    // Wrapped at once, and resumed only through the wrapper, which does so at most once.
    return try await withUnsafeThrowingContinuation { continuation in
      park(ReportedContinuation(continuation, what: what, report: report))
    }
  }

  package func resume(with result: sending Result<Value, any Error>) {
    let isFirst = isResumed.withLock { isResumed in
      defer { isResumed = true }
      return !isResumed
    }
    if isFirst { continuation.resume(with: result) } else { report(what) }
  }
}

private func stopForDoubleResume(_ what: String) {
  fatalError(
    "\(what) was resumed twice; this limiter is wrong on purpose, see its file in Sources/Specimens"
  )
}
