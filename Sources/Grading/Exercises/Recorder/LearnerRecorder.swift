/// What a learner mends in the exercise on priority inversion: records are read from files and added to a
/// ledger, by one task at a time.
package protocol LearnerRecorder: Sendable {
  init()

  /// Reads a record and adds it to `ledger`.
  func record(_ file: RecordFile, in ledger: Ledger) async throws
}

/// A file with one record; reading it suspends, again and again.
package struct RecordFile: Sendable {
  let reading: @Sendable () async throws -> Int

  /// The record.
  package func read() async throws -> Int { try await reading() }
}

/// What records are added to, by one task at a time.
package struct Ledger: Sendable {
  let adding: @Sendable (Int) async -> Void

  /// Adds a record; wrong if another task does so at the same time.
  package func add(_ record: Int) async { await adding(record) }
}
