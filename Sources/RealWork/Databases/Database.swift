internal import Basics
internal import CSQLite
package import Foundation
internal import Synchronization

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
// Write-ahead log: readers go on reading while one writes, each the file as it was at its transaction's
// first read. What was committed is in the log, which a killed process cannot take back: the next to open
// the file finds it.
//
// What is promised, here and in `DatabasePool`:
// - A transaction is done whole or not at all, also if its body throws, its task is cancelled, the disk is
//   full or the process is killed. Once `write` has returned, a killed process cannot take it back.
// - All that one `read` reads is from one moment, and a connection for reading refuses to write.
// - A value is handed to SQLite whole, and comes back whole; what cannot is an error, and so are a second
//   statement, and more or fewer values than the statement takes. A column's declared type still converts,
//   as SQLite does: text "5" in an INTEGER column comes back as the integer 5.
// - In one pool, those who write take turns in order of arrival. Another process has no place in that line:
//   the two find each other busy, look again each millisecond, and give up after so many looks as
//   `patience` has milliseconds. A look takes longer than that on a busy machine, so the wait does too.
// - A connection that breaks is replaced. A statement that failed is not tried again.
//
// What is not:
// - Power failures: how often SQLite waits for the disk (`synchronous`) is left as it was built.
// - Limits: a statement runs until its end or its task's cancellation, its rows are all in memory, and the
//   log grows while one transaction reads on. A connection forgets its compiled statements at the
//   sixty-fifth, all of them.
// - A file on a network's disk: the write-ahead log needs memory that all its processes share.
//
// What a production system would use instead: GRDB, whose `DatabasePool` has the same shape, one writer and
// several readers, and beside it migrations of the schema, records from rows, observation of changes and
// SQLCipher's encryption. It would set `synchronous` on purpose, look after the log's size, back files up
// by SQLite's own backup, which a copy of the file is not, and check a file that it has not written. Where
// more than one machine writes, or many writers at once, it would ask a server, as PostgreSQL is.

/// One connection to an SQLite file.
package actor Database {
  package enum Access: Hashable, Sendable {
    case reading
    case readingAndWriting
  }

  /// A value in a row, or one that a statement is given: what SQLite can keep, and keeps unchanged.
  package enum Value: Hashable, Sendable {
    case null
    case integer(Int64)
    /// Any number; SQLite has no "not a number".
    case real(Double)
    case text(String)
    case blob(Data)
  }

  package typealias Row = [Value]

  private let thread: ThreadExecutor
  private var connection: OpaquePointer?
  /// Compiling a statement costs more than a short one takes to run.
  private var statements: [String: OpaquePointer] = [:]
  private static let mostStatements = 64
  private nonisolated let looks = BusyLooks()

  /// How often, so far, a statement of this connection found another connection writing, and waited.
  package nonisolated var timesBusy: Int { looks.count.load(ordering: .relaxed) }

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  private init(thread: ThreadExecutor) { self.thread = thread }

  isolated deinit {
    forgetStatements()
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

  /// Runs a statement, with a value for each of its question marks.
  ///
  /// Nothing is lost in silence: what does not fit is an error. That is text with a second statement behind
  /// the first, more or fewer values than question marks, a number that is none, and, in a row, text that
  /// is not UTF-8.
  ///
  /// - Returns: Its rows.
  /// - Throws: `CancellationError` if the task is cancelled before the statement begins, or found cancelled when SQLite
  ///   asks, every thousand steps; `DatabaseError`.
  @discardableResult
  package func rows(_ text: String, _ values: Value...) throws -> [Row] {
    try Task.checkCancellation()
    let statement = try prepared(text)
    defer {
      sqlite3_reset(statement)
      sqlite3_clear_bindings(statement)
    }
    let wanted = Int(sqlite3_bind_parameter_count(statement))
    guard values.count == wanted else {
      throw DatabaseError(
        code: SQLITE_RANGE,
        message: "the statement takes \(wanted) values and was given \(values.count)",
        statement: text
      )
    }
    for (index, value) in values.enumerated() {
      try bind(value, to: statement, at: Int32(index + 1), text)
    }
    var rows: [Row] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_ROW: rows.append(try row(of: statement, text))
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
    looks.most.store(Int(patience / .milliseconds(1)), ordering: .relaxed)
    sqlite3_busy_handler(
      connection,
      { looks, count in
        guard let looks else { return 0 }
        // Alive: the connection that calls this belongs to the actor that has it, and is closed before it.
        let busy = Unmanaged<BusyLooks>.fromOpaque(looks).takeUnretainedValue()
        busy.count.add(1, ordering: .relaxed)
        guard count < busy.most.load(ordering: .relaxed), !Task.isCancelled else { return 0 }
        sqlite3_sleep(1)
        return 1
      },
      Unmanaged.passUnretained(looks).toOpaque()
    )
    let mode = try rows("PRAGMA journal_mode = WAL")
    // SQLite goes on with another in silence, where readers and the writer wait for each other.
    guard mode == [[.text("wal")]] else {
      throw misuse("no write-ahead log can be kept for it", "opening \(path)")
    }
    if access == .reading { try rows("PRAGMA query_only = ON") }
  }

  private func prepared(_ text: String) throws -> OpaquePointer {
    if let statement = statements[text] { return statement }
    // For SQLite the text would end there.
    if text.utf8.contains(0) { throw misuse("the statement has a zero byte in it", text) }
    if statements.count >= Self.mostStatements { forgetStatements() }
    let (statement, rest) = try compiled(text)
    guard let statement else { throw misuse("there is no statement in it", text) }
    guard isBlank(rest) else {
      sqlite3_finalize(statement)
      throw misuse("a second statement follows the first: run one at a time", text)
    }
    statements[text] = statement
    return statement
  }

  /// Whether there is no statement in a text, but semicolons, space and comments.
  private func isBlank(_ text: String) -> Bool {
    var rest = text
    while !rest.isEmpty {
      guard let next = try? compiled(rest) else { return false }
      guard next.statement == nil else {
        sqlite3_finalize(next.statement)
        return false
      }
      rest = next.rest
    }
    return true
  }

  /// Compiles the first statement of a text, if there is one, and returns what follows it.
  private func compiled(_ text: String) throws -> (statement: OpaquePointer?, rest: String) {
    let (result, statement, rest) = Self.compile(text, connection)
    guard result == SQLITE_OK else {
      try Task.checkCancellation()
      throw error(text)
    }
    return (statement, rest)
  }

  private static func compile(
    _ text: String,
    _ connection: OpaquePointer?
  ) -> (result: Int32, statement: OpaquePointer?, rest: String) {
    text.withCString { start in
      var statement: OpaquePointer?
      var end: UnsafePointer<CChar>?
      let result = sqlite3_prepare_v2(connection, start, -1, &statement, &end)
      return (result, statement, end.map { String(cString: $0) } ?? "")
    }
  }

  private func forgetStatements() {
    for statement in statements.values { sqlite3_finalize(statement) }
    statements = [:]
  }

  private func bind(
    _ value: Value,
    to statement: OpaquePointer,
    at place: Int32,
    _ statementText: String
  ) throws {
    let result: Int32
    switch value {
    case .null: result = sqlite3_bind_null(statement, place)
    case .integer(let number): result = sqlite3_bind_int64(statement, place, number)
    case .real(let number):
      // SQLite would keep NULL.
      if number.isNaN {
        throw misfit("value \(place) is not a number, which SQLite cannot keep", statementText)
      }
      result = sqlite3_bind_double(statement, place, number)
    case .text(let text):
      result = sqlite3_bind_copied_text(
        statement,
        place,
        text,
        try length(text.utf8.count, statementText)
      )
    case .blob(let data):
      let length = try length(data.count, statementText)
      // Without bytes there may be no address either, which would mean NULL.
      result =
        length == 0
        ? sqlite3_bind_zeroblob(statement, place, 0)
        : data.withUnsafeBytes {
          sqlite3_bind_copied_blob(statement, place, $0.baseAddress, length)
        }
    }
    guard result == SQLITE_OK else { throw error(statementText) }
  }

  private func length(_ count: Int, _ text: String) throws -> Int32 {
    guard let length = Int32(exactly: count) else {
      throw DatabaseError(
        code: SQLITE_TOOBIG,
        message: "a value of \(count) bytes is too large",
        statement: text
      )
    }
    return length
  }

  private func row(of statement: OpaquePointer, _ text: String) throws -> Row {
    try (0..<sqlite3_column_count(statement)).map { column in
      switch sqlite3_column_type(statement, column) {
      case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
      case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
      case SQLITE_NULL: return .null
      case SQLITE_TEXT:
        // The bytes, not up to the first that is zero.
        let start = sqlite3_column_text(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        let bytes = UnsafeBufferPointer(start: start, count: start == nil ? 0 : count)
        guard let value = String(validating: bytes, as: UTF8.self) else {
          throw misfit("the text in column \(column + 1) is not UTF-8", text)
        }
        return .text(value)
      default:
        let start = sqlite3_column_blob(statement, column)
        let count = Int(sqlite3_column_bytes(statement, column))
        return .blob(start.map { Data(bytes: $0, count: count) } ?? Data())
      }
    }
  }

  private func misuse(_ message: String, _ text: String) -> DatabaseError {
    DatabaseError(code: SQLITE_ERROR, message: message, statement: text)
  }

  private func misfit(_ message: String, _ text: String) -> DatabaseError {
    DatabaseError(code: SQLITE_MISMATCH, message: message, statement: text)
  }

  private func error(_ statement: String) -> DatabaseError {
    DatabaseError(
      code: sqlite3_extended_errcode(connection),
      message: String(cString: sqlite3_errmsg(connection)),
      statement: statement
    )
  }
}

/// What a connection's busy handler has to know, and how often it was asked.
private final class BusyLooks: Sendable {
  let count = Atomic(0)
  /// A look takes a millisecond.
  let most = Atomic(0)
}
