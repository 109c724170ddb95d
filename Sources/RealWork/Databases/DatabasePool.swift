internal import Limiters

// Many who read and one who writes, on connections that are lent.
//
// SQLite lets one connection write at a time; a second one waits, or is told that the file is busy. So
// there is one connection for writing, and a writing task waits for it in the line of an `AsyncPool`:
// served in order, and cancellable, which waiting inside SQLite is not. Readers need not wait for the
// writer, with a write-ahead log; theirs is a pool of as many connections as may read at once.
//
// A connection that breaks is discarded, and the next who needs one opens another in its place. The
// statement that met the break fails: whether it may be tried again, only its caller knows.

/// Connections to one SQLite file: some for reading, one for writing.
package final class DatabasePool: Sendable {
  private let readers: AsyncPool<Database>
  private let writer: AsyncPool<Database>

  /// Makes a pool whose connections are opened when first needed; `open` opens one.
  package init(
    readers: Int,
    open: @escaping @Sendable (Database.Access) async throws -> Database
  ) {
    self.readers = AsyncPool(maxElements: readers) { try await open(.reading) }
    writer = AsyncPool(maxElements: 1) { try await open(.readingAndWriting) }
  }

  /// Makes a pool of connections to a file.
  package convenience init(_ path: String, readers: Int) {
    self.init(readers: readers) { try await Database.open(path, for: $0) }
  }

  /// Runs `body` with a connection for reading: all that it reads is from one moment.
  ///
  /// - Returns: What the body returns.
  /// - Throws: `CancellationError` if the task is cancelled: at once while it waits, at SQLite's next question while a
  ///   statement runs, else before the next statement or the commit; what the body throws; `PoolClosed` after
  ///   `shutdown()`.
  package func read<Value: Sendable>(
    _ body: @Sendable (isolated Database) throws -> Value
  ) async throws -> Value {
    try await Self.run(on: readers, writing: false, body)
  }

  /// Runs `body` with the connection for writing: all that it does is done, or nothing.
  ///
  /// - Returns: What the body returns.
  /// - Throws: As `read`.
  package func write<Value: Sendable>(
    _ body: @Sendable (isolated Database) throws -> Value
  ) async throws -> Value {
    try await Self.run(on: writer, writing: true, body)
  }

  /// Lends no connection for reading any more and, once those have come back, none for writing; returns when that has
  /// come back too.
  package func shutdown() async {
    await readers.shutdown()
    await writer.shutdown()
  }

  /// How many connections are lent: a snapshot.
  package var lent: Int { readers.lent + writer.lent }

  private static func run<Value: Sendable>(
    on pool: AsyncPool<Database>,
    writing: Bool,
    _ body: @Sendable (isolated Database) throws -> Value
  ) async throws -> Value {
    try await pool.withElement { database in
      do {
        return try await database.transaction(writing: writing, body)
      } catch let error as DatabaseError where error.breaksConnection {
        pool.discard(database)
        throw error
      }
    }
  }
}
