internal import Limiters
package import Testing

extension Trait where Self == InTurn {
  /// Runs one test at a time among all that have this trait.
  ///
  /// For tests that call the library's `explore`: it lets one exploration run at a time, and the others would
  /// each block a thread of the pool.
  package static var inTurn: Self { InTurn() }
}

/// The trait of tests that wait for each other without blocking a thread.
package struct InTurn: SuiteTrait, TestTrait, TestScoping {
  package var isRecursive: Bool { true }

  private static let turns = ConcurrencyLimiter(concurrency: 1)
  /// Whether the calling task is a test whose turn it is.
  @TaskLocal static var hasTurn = false

  package func provideScope(
    for test: Test,
    testCase: Test.Case?,
    performing function: @concurrent @Sendable () async throws -> Void
  ) async throws {
    try await Self.turns.run { try await Self.$hasTurn.withValue(true) { try await function() } }
  }
}
