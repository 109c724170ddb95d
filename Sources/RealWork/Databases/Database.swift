internal import Basics
internal import CSQLite

// A connection to an SQLite file, as an actor.
//
// A connection does one thing at a time, and so does an actor: no lock is needed, and SQLite's own is left
// out. Its calls block, so the actor has a thread of its own (`ThreadExecutor`); a task that asks is
// suspended until the rows are there.
//
// Cancellation. SQLite has `sqlite3_interrupt`, to be called from another thread while a statement runs; a
// call that comes a moment too early, between two statements, does nothing, and the cancelled statement
// runs to its end. So it is done the other way round. SQLite asks back every thousand steps, and whenever
// another connection's write keeps it waiting; it asks on the thread that runs the statement, where the
// task that awaits it is the current one. So the answer is `Task.isCancelled`, and there is no moment at
// which it could be missed. The statement ends as interrupted, its transaction is rolled back, and the
// connection is as good as before.
//
// Write-ahead log: readers go on reading while one writes, each the file as it was when its transaction
// began. What was committed is in the log, which a killed process cannot take back: the next to open the
// file finds it.

/// One connection to an SQLite file.
package actor Database {
  package enum Access: Hashable, Sendable {
    case reading
    case readingAndWriting
  }

  /// A value in a row, or one that a statement is given.
  package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
  }

  package typealias Row = [Value]

  private let thread: ThreadExecutor
  private var connection: OpaquePointer?
  /// Compiling a statement costs more than a short one takes to run.
  private var statements: [String: OpaquePointer] = [:]

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  private init(thread: ThreadExecutor) { self.thread = thread }

  isolated deinit {
    for statement in statements.values { sqlite3_finalize(statement) }
    sqlite3_close_v2(connection)
  }

  /// Opens a connection to a file, which is made if it is not there.
  ///
  /// A statement that meets another connection's write waits for it, up to `patience`.
  ///
  /// - Returns: The connection.
  /// - Throws: `DatabaseError`.
  package static func open(
    _ path: String,
    for access: Access,
    patience: Duration = .seconds(5)
  ) async throws -> Database {
    let database = Database(thread: ThreadExecutor("database"))
    try await database.connect(path, access, patience)
    return database
  }

  /// Runs a statement, with values for its question marks.
  ///
  /// - Returns: Its rows.
  /// - Throws: `CancellationError` if the task is cancelled before the last row; `DatabaseError`.
  @discardableResult
  package func rows(_ text: String, _ values: Value...) throws -> [Row] {
    try Task.checkCancellation()
    let statement = try prepared(text)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    for (index, value) in values.enumerated() { bind(value, to: statement, at: Int32(index + 1)) }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append(row(of: statement))
      case SQLITE_DONE: return rows
      default:
        // Cancelled while it ran, or while it waited for another's write.
        try Task.checkCancellation()
        throw error(text)
      }
    }
  }

  /// Runs `body` in one transaction: all it does is done, or nothing.
  ///
  /// Synchronous, so nothing else can use the connection in between.
  ///
  /// - Returns: What the body returns.
  /// - Throws: What the body throws, with the transaction rolled back; as `rows`.
  package func transaction<Result>(
    writing: Bool,
    _ body: @Sendable (isolated Database) throws -> Result
  ) throws -> Result {
    // Who will write says so at once: two who read first and write then would each wait for the other.
    try rows(writing ? "BEGIN IMMEDIATE" : "BEGIN")
    do {
      let result = try body(self)
      try rows("COMMIT")
      return result
    } catch {
      // SQLite may have rolled back by itself. This one is not to be cancelled.
      if sqlite3_get_autocommit(connection) == 0 {
        sqlite3_exec(connection, "ROLLBACK", nil, nil, nil)
      }
      throw error
    }
  }

  private func connect(_ path: String, _ access: Access, _ patience: Duration) throws {
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let opened = sqlite3_open_v2(path, &connection, flags, nil)
    guard opened == SQLITE_OK else { throw error("opening \(path)") }
    sqlite3_extended_result_codes(connection, 1)
    sqlite3_progress_handler(connection, 1_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
    // A millisecond for each look; the number of looks is all that the handler has to know.
    let looks = UnsafeMutableRawPointer(bitPattern: Int(patience / .milliseconds(1)))
    sqlite3_busy_handler(
      connection,
      { looks, count in
        guard count < Int(bitPattern: looks), !Task.isCancelled else { return 0 }
        sqlite3_sleep(1)
        return 1
      },
      looks
    )
    try rows("PRAGMA journal_mode = WAL")
    if access == .reading { try rows("PRAGMA query_only = ON") }
  }

  private func prepared(_ text: String) throws -> OpaquePointer {
    if let statement = statements[text] { return statement }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(connection, text, -1, &statement, nil) == SQLITE_OK, let statement
    else {
      try Task.checkCancellation()
      throw error(text)
    }
    statements[text] = statement
    return statement
  }

  private func bind(_ value: Value, to statement: OpaquePointer, at place: Int32) {
    switch value {
    case .null: sqlite3_bind_null(statement, place)
    case .integer(let number): sqlite3_bind_int64(statement, place, number)
    case .real(let number): sqlite3_bind_double(statement, place, number)
    case .text(let text):
      sqlite3_bind_copied_text(statement, place, text, Int32(text.utf8.count))
    }
  }

  private func row(of statement: OpaquePointer) -> Row {
    (0..<sqlite3_column_count(statement)).map { column in
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: .integer(sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: .real(sqlite3_column_double(statement, column))
      case SQLITE_NULL: .null
      default: .text(sqlite3_column_text(statement, column).map { String(cString: $0) } ?? "")
      }
    }
  }

  private func error(_ statement: String) -> DatabaseError {
    DatabaseError(
      code: sqlite3_extended_errcode(connection),
      message: String(cString: sqlite3_errmsg(connection)),
      statement: statement
    )
  }
}
