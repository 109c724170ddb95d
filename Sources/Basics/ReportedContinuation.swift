internal import Synchronization

// How code that may resume a continuation twice is explored.
//
// A second resume stops the program if the continuation is checked, and is undefined behaviour if it is
// not. An explorer that looks for second resumes must survive them. So code that may be wrong in this
// way, a specimen or a learner's, resumes through this wrapper: the first resume goes through, each
// later one goes to a reporter.

/// Told what was resumed a second time, as a noun: "the waiter's continuation".
package typealias DoubleResumeReporter = @Sendable (_ what: String) -> Void

/// A continuation that survives a second resume and reports it.
package final class ReportedContinuation<Value: Sendable>: Sendable {
  private let what: String
  private let report: DoubleResumeReporter
  private let isResumed = Atomic(false)
  // An unsafe one, because a checked one would print a warning when a specimen loses its waiter.
  // Resumed at most once: `exchange` is atomic and returns false to the first caller only.
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
  ///   - park: Puts the continuation where the code that resumes it finds it.
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
    let wasResumed = isResumed.exchange(true, ordering: .acquiringAndReleasing)
    if wasResumed { report(what) } else { continuation.resume(with: result) }
  }
}

private func stopForDoubleResume(_ what: String) {
  fatalError(
    "\(what) was resumed twice; if its limiter is a specimen, its file in Sources/Specimens says why"
  )
}
