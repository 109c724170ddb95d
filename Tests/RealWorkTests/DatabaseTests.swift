import Basics
import Foundation
import Limiters
import RealWork
import Synchronization
import TestSupport
import Testing

@Suite(.watched) struct `A pool of databases` {
  let folder: TemporaryFolder
  let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.url.appendingPathComponent("rows.sqlite").path
  }

  /// Counts up to the number, in SQLite.
  private static let counting =
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT count(*) FROM n"
  private static let forEver: Int64 = 1 << 60

  @Test func `what is written is read, by every reader`() async throws {
    let pool = DatabasePool(path, readers: 4)
    try await pool.write { database in
      try database.rows("CREATE TABLE row (number INTEGER, share REAL, text TEXT, gap TEXT)")
      try database.rows(
        "INSERT INTO row VALUES (?, ?, ?, ?)",
        .integer(7),
        .real(0.5),
        .text("seven ∞"),
        .null
      )
    }
    let rows = try await (0..<8).concurrentMap(limit: 8) { _ in
      try await pool.read { try $0.rows("SELECT * FROM row") }
    }
    #expect(
      rows == Array(repeating: [[.integer(7), .real(0.5), .text("seven ∞"), .null]], count: 8)
    )
    #expect(pool.lent == 0)
    await pool.shutdown()
  }

  @Test func `a transaction that throws leaves nothing behind`() async throws {
    struct Change: Error {}
    let pool = DatabasePool(path, readers: 1)
    try await pool.write { _ = try $0.rows("CREATE TABLE row (number INTEGER)") }
    await #expect(throws: Change.self) {
      try await pool.write { database in
        try database.rows("INSERT INTO row VALUES (1)")
        throw Change()
      }
    }
    #expect(try await pool.read { try $0.rows("SELECT count(*) FROM row") } == [[.integer(0)]])
    #expect(pool.lent == 0)
  }

  @Test func `a reader reads what was there when it began, while another writes`() async throws {
    let pool = DatabasePool(path, readers: 1)
    try await pool.write { _ = try $0.rows("CREATE TABLE row (number INTEGER)") }
    let (begun, begin) = Condition.makeCondition()
    let written = ThreadSemaphore()
    async let counts = pool.read { database in
      let before = try database.rows("SELECT count(*) FROM row")
      begin.signal()
      // On the connection's own thread, which may wait.
      written.wait()
      return [before, try database.rows("SELECT count(*) FROM row")]
    }
    try await begun.wait()
    let write = Task { try await pool.write { _ = try $0.rows("INSERT INTO row VALUES (1)") } }
    #expect(await ends(write), "it waits for the reader")
    written.post()
    try await write.value
    #expect(try await counts == [[[.integer(0)]], [[.integer(0)]]])
    #expect(try await pool.read { try $0.rows("SELECT count(*) FROM row") } == [[.integer(1)]])
  }

  @Test func `a database that can have no write-ahead log is not opened`() async throws {
    let error = await #expect(throws: DatabaseError.self) {
      try await Database.open(":memory:", for: .readingAndWriting)
    }
    #expect(error?.message == "no write-ahead log can be kept for it")
    #expect(error?.statement == "opening :memory:")
  }

  @Test func `a reader cannot write`() async throws {
    let pool = DatabasePool(path, readers: 1)
    let error = await #expect(throws: DatabaseError.self) {
      try await pool.read { _ = try $0.rows("CREATE TABLE row (number INTEGER)") }
    }
    #expect(error?.description.contains("readonly") == true)
    #expect(error?.breaksConnection == false)
  }

  @Test(arguments: [true, false])
  func `cancelling a task interrupts its statement, and the connection goes on`(
    isWriting: Bool
  ) async throws {
    let pool = DatabasePool(path, readers: 1)
    let (begun, begin) = Condition.makeCondition()
    let long: @Sendable (isolated Database) throws -> [Database.Row] = { database in
      begin.signal()
      return try database.rows(Self.counting, .integer(Self.forEver))
    }
    let task = Task { try await isWriting ? pool.write(long) : pool.read(long) }
    try await begun.wait()
    task.cancel()
    try #require(await ends(task), "the statement runs on")
    await #expect(throws: CancellationError.self) { try await task.value }
    let short: @Sendable (isolated Database) throws -> [Database.Row] = { database in
      try database.rows(Self.counting, .integer(5))
    }
    let rows = try await isWriting ? pool.write(short) : pool.read(short)
    #expect(rows == [[.integer(5)]])
    #expect(pool.lent == 0)
  }

  @Test func `who is cancelled while all connections are lent leaves the line`() async throws {
    let pool = DatabasePool(path, readers: 1)
    let release = ThreadSemaphore()
    let (begun, begin) = Condition.makeCondition()
    async let held: Void = pool.read { _ in
      begin.signal()
      release.wait()
    }
    try await begun.wait()
    let waiting = Task { try await pool.read { try $0.rows("SELECT 1") } }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    release.post()
    try await held
    #expect(pool.lent == 0)
  }

  @Test func `a file that another writes to for too long is busy, and the error says so`()
    async throws
  {
    let one = try await Database.open(path, for: .readingAndWriting)
    let other = try await Database.open(path, for: .readingAndWriting, patience: .milliseconds(3))
    let patient = try await Database.open(
      path,
      for: .readingAndWriting,
      patience: .milliseconds(40)
    )
    try await one.rows("CREATE TABLE row (number INTEGER)")
    try await one.rows("BEGIN IMMEDIATE")
    let error = await #expect(throws: DatabaseError.self) {
      try await other.transaction(writing: true) { _ in }
    }
    #expect(error?.isBusy == true)
    #expect(error?.description.contains("keep transactions short") == true)
    // A pause before each further look: it waits for as long as it was to wait.
    let clock = ContinuousClock()
    let began = clock.now
    await #expect(throws: DatabaseError.self) {
      try await patient.transaction(writing: true) { _ in }
    }
    #expect(clock.now - began >= .milliseconds(40))
    #expect(patient.timesBusy > 40)
    try await one.rows("COMMIT")
    try await other.transaction(writing: true) { _ = try $0.rows("INSERT INTO row VALUES (1)") }
  }

  @Test func `who reads first and writes then is told that another has written meanwhile`()
    async throws
  {
    let one = try await Database.open(path, for: .readingAndWriting)
    let other = try await Database.open(path, for: .readingAndWriting)
    try await one.rows("CREATE TABLE row (number INTEGER)")
    try await other.rows("BEGIN")
    try await other.rows("SELECT * FROM row")
    try await one.rows("INSERT INTO row VALUES (1)")
    let error = await #expect(throws: DatabaseError.self) {
      try await other.rows("INSERT INTO row VALUES (2)")
    }
    // SQLite's own, of many that mean busy: the snapshot is not the latest.
    #expect(error?.code == 517)
    #expect(error?.isBusy == true && error?.breaksConnection == false)
    #expect(error?.description.contains("(SQLite's code 517)") == true)
    #expect(error?.description.contains("keep transactions short") == true)
    try await other.rows("ROLLBACK")
    try await other.rows("INSERT INTO row VALUES (2)")
  }

  @Test func `what breaks a constraint is an error that says which`() async throws {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE once (number INTEGER UNIQUE NOT NULL)")
    try await database.rows("INSERT INTO once VALUES (1)")
    for (value, code) in [(Database.Value.integer(1), 2067 as Int32), (.null, 1299)] {
      let error = await #expect(throws: DatabaseError.self) {
        try await database.rows("INSERT INTO once VALUES (?)", value)
      }
      #expect(error?.code == code)
      #expect(error?.isBusy == false && error?.breaksConnection == false)
    }
    #expect(try await database.rows("SELECT number FROM once") == [[.integer(1)]])
  }

  @Test func `a task that was cancelled before writes nothing`() async throws {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE row (number INTEGER)")
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      // Too short for SQLite to ask whether it is to go on.
      try await database.rows("INSERT INTO row VALUES (1)")
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(try await database.rows("SELECT count(*) FROM row") == [[.integer(0)]])
  }

  @Test func `one writes at a time, and the next waits without a connection of its own`()
    async throws
  {
    let pool = DatabasePool(path, readers: 4)
    let release = ThreadSemaphore()
    let (begun, begin) = Condition.makeCondition()
    let first = Task {
      try await pool.write { _ in
        begin.signal()
        release.wait()
      }
    }
    try await begun.wait()
    let hand = HandDrivenExecutor()
    let second = Task(executorPreference: hand) {
      try await pool.write { try $0.rows("SELECT 1") }
    }
    // As far as it comes by itself.
    hand.runAll()
    #expect(pool.lent == 1)
    release.post()
    try await first.value
    let rows = Task { try await second.value }
    let hasEnded = Atomic(false)
    Task {
      _ = await rows.result
      hasEnded.store(true, ordering: .releasing)
    }
    try #require(
      await comes {
        hand.runAll()
        return hasEnded.load(ordering: .acquiring)
      }
    )
    #expect(try await rows.value == [[.integer(1)]])
    #expect(pool.lent == 0)
  }

  @Test func `a pool that is shut down lends no connection, neither for reading nor for writing`()
    async throws
  {
    let pool = DatabasePool(path, readers: 1)
    try await pool.write { _ = try $0.rows("CREATE TABLE row (number INTEGER)") }
    try await pool.read { _ = try $0.rows("SELECT * FROM row") }
    await pool.shutdown()
    await #expect(throws: PoolClosed.self) { try await pool.write { _ = try $0.rows("SELECT 1") } }
    await #expect(throws: PoolClosed.self) { try await pool.read { _ = try $0.rows("SELECT 1") } }
    #expect(pool.lent == 0)
  }

  @Test func `waiting for another's write ends when the task is cancelled`() async throws {
    let one = try await Database.open(path, for: .readingAndWriting)
    let other = try await Database.open(path, for: .readingAndWriting, patience: .seconds(86_400))
    try await one.rows("BEGIN IMMEDIATE")
    let before = other.timesBusy
    let task = Task { try await other.transaction(writing: true) { _ in } }
    // Not before it waits: a task that is cancelled earlier does not come to the other's write.
    try #require(await comes { other.timesBusy > before }, "it does not wait")
    task.cancel()
    try #require(await ends(task), "it waits on")
    await #expect(throws: CancellationError.self) { try await task.value }
    try await one.rows("COMMIT")
  }

  @Test func `waiting for another's write ends when that has ended`() async throws {
    let one = try await Database.open(path, for: .readingAndWriting)
    let other = try await Database.open(path, for: .readingAndWriting, patience: .seconds(86_400))
    try await one.rows("CREATE TABLE row (number INTEGER)")
    try await one.rows("BEGIN IMMEDIATE")
    let before = other.timesBusy
    let written = Task {
      try await other.transaction(writing: true) {
        _ = try $0.rows("INSERT INTO row VALUES (2)")
      }
    }
    try #require(await comes { other.timesBusy > before }, "it does not wait")
    try await one.rows("INSERT INTO row VALUES (1)")
    try await one.rows("COMMIT")
    try await written.value
    #expect(
      try await one.rows("SELECT number FROM row ORDER BY rowid") == [[.integer(1)], [.integer(2)]]
    )
  }

  @Test(
    arguments: [
      .null, .integer(.min), .integer(.max), .integer(0), .real(0), .real(-.infinity),
      .real(.leastNonzeroMagnitude),
      .real(0.1), .text(""), .text("a\0b"), .text("\0"), .text("∞ 🧵"), .text("7"), .blob(Data()),
      .blob(Data([0])), .blob(Data([0xFF, 0, 0xC3])), .blob(Data(repeating: 7, count: 100_000)),
    ] as [Database.Value]
  )
  func `a value comes out as it went in`(_ value: Database.Value) async throws {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE row (value)")
    try await database.rows("INSERT INTO row VALUES (?)", value)
    #expect(try await database.rows("SELECT value FROM row") == [[value]])
    #expect(try await database.rows("SELECT ?", value) == [[value]])
  }

  private func error(_ text: String, _ values: Database.Value...) async throws -> DatabaseError? {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE IF NOT EXISTS row (value)")
    let error = await #expect(throws: DatabaseError.self) {
      // Values of any number, which a call cannot be given at once.
      switch values.count {
      case 0: try await database.rows(text)
      case 1: try await database.rows(text, values[0])
      default: try await database.rows(text, values[0], values[1])
      }
    }
    // The connection is as good as before, and nothing was kept.
    #expect(error?.breaksConnection == false)
    #expect(try await database.rows("SELECT count(*) FROM row") == [[.integer(0)]])
    return error
  }

  @Test func `more or fewer values than question marks are an error, and nothing is written`()
    async throws
  {
    let few = try await error("INSERT INTO row VALUES (?)")
    #expect(few?.message == "the statement takes 1 values and was given 0")
    let many = try await error("INSERT INTO row VALUES (?)", .integer(1), .integer(2))
    #expect(many?.message == "the statement takes 1 values and was given 2")
    _ = try await error("INSERT INTO row VALUES (1)", .integer(1))
  }

  @Test func `a statement is one statement`() async throws {
    for second in ["; DELETE FROM row", ";;INSERT INTO row VALUES (2)", "; -- and\n SELECT 1"] {
      let error = try await error("INSERT INTO row VALUES (1)" + second)
      #expect(error?.message == "a second statement follows the first: run one at a time")
    }
    for none in ["", "  ", ";", "-- nothing"] {
      #expect(try await error(none)?.message == "there is no statement in it")
    }
    let zero = try await error("INSERT INTO row VALUES (1)\0, (2)")
    #expect(zero?.message == "the statement has a zero byte in it")
    let database = try await Database.open(path, for: .reading)
    for end in [";", " ; ", "; -- a comment", "; /* one more */ ;"] {
      #expect(try await database.rows("SELECT 1" + end) == [[.integer(1)]])
    }
  }

  @Test func `what SQLite cannot keep is an error`() async throws {
    let error = try await error("INSERT INTO row VALUES (?)", .real(.nan))
    #expect(error?.message == "value 1 is not a number, which SQLite cannot keep")
    let database = try await Database.open(path, for: .reading)
    let text = await #expect(throws: DatabaseError.self) {
      try await database.rows("SELECT 1, CAST(x'C3' AS TEXT)")
    }
    #expect(text?.message == "the text in column 2 is not UTF-8")
  }

  @Test func `a column's declared type converts what it is given`() async throws {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE typed (number INTEGER)")
    try await database.rows("INSERT INTO typed VALUES (?)", .text("5"))
    #expect(try await database.rows("SELECT number FROM typed") == [[.integer(5)]])
  }

  @Test func `a full database keeps nothing of the transaction, says to free space, and goes on`()
    async throws
  {
    let database = try await Database.open(path, for: .readingAndWriting)
    try await database.rows("CREATE TABLE filled (bytes BLOB)")
    // For SQLite the same as a disk without space.
    try await database.rows("PRAGMA max_page_count = 10")
    let error = await #expect(throws: DatabaseError.self) {
      try await database.transaction(writing: true) { database in
        try database.rows("INSERT INTO filled VALUES (?)", .blob(Data([1])))
        try database.rows("INSERT INTO filled VALUES (zeroblob(1000000))")
      }
    }
    #expect(
      error?.description
        == """
        database or disk is full (SQLite's code 13), in: INSERT INTO filled VALUES (zeroblob(1000000)); \
        free some space on its disk
        """
    )
    #expect(error?.breaksConnection == false)
    try await database.rows("INSERT INTO filled VALUES (?)", .blob(Data([2])))
    #expect(try await database.rows("SELECT bytes FROM filled") == [[.blob(Data([2]))]])
  }

  @Test func `a database whose log cannot grow says to look at the disk`() {
    // SQLite's own: the file that connections share could not be made larger.
    let error = DatabaseError(code: 4874, message: "disk I/O error", statement: "BEGIN")
    #expect(error.description.contains("its disk may be full or broken"))
    #expect(error.breaksConnection)
  }

  @Test func `an error says what to do where something can be done`() {
    func advice(_ code: Int32) -> String {
      let error = DatabaseError(code: code, message: "no", statement: "SELECT 1")
      return String(error.description.drop { $0 != ":" })
    }
    // Broken, no database, not to be opened, no memory, misuse; by SQLite's own codes.
    for code in [11, 26, 14, 7, 21, 14 | 2 << 8] as [Int32] {
      #expect(advice(code) == ": SELECT 1; this connection cannot be used any more: open another")
    }
    for code in [1, 19, 20, 25, 2067] as [Int32] { #expect(advice(code) == ": SELECT 1") }
    #expect(advice(13) == ": SELECT 1; free some space on its disk")
    for code in [5, 6, 261] as [Int32] {
      #expect(advice(code).hasSuffix("than this one waits: keep transactions short"))
    }
  }

  @Test func `as many different statements as one likes can be run`() async throws {
    let database = try await Database.open(path, for: .reading)
    for number in 1...200 as ClosedRange<Int64> {
      #expect(try await database.rows("SELECT \(number)") == [[.integer(number)]])
      #expect(try await database.rows("SELECT 1") == [[.integer(1)]])
    }
  }

  @Test func `a broken connection is discarded, and another is opened in its place`() async throws {
    let broken = folder.url.appendingPathComponent("broken.sqlite").path
    try Data(repeating: 0x41, count: 10_000).write(to: URL(fileURLWithPath: broken))
    let opened = Mutex(0)
    let path = path
    let pool = DatabasePool(readers: 2) { access in
      opened.withLock { $0 += 1 }
      return try await Database.open(path, for: access)
    }
    try await pool.write { _ = try $0.rows("CREATE TABLE row (number INTEGER)") }
    let error = await #expect(throws: DatabaseError.self) {
      try await pool.read { database in
        // What a disk that fails does to a connection.
        try database.rows("ATTACH DATABASE ? AS broken", .text(broken))
        _ = try database.rows("SELECT * FROM broken.row")
      }
    }
    #expect(error?.breaksConnection == true)
    #expect(pool.lent == 0)
    #expect(try await pool.read { try $0.rows("SELECT count(*) FROM row") } == [[.integer(0)]])
    #expect(opened.withLock { $0 } == 3)
  }

  @Test func `nothing that was acknowledged is lost when the process is killed, many times`()
    async throws
  {
    let program = try BuiltProgram("row-writer")
    var generator = SplitMix64(seed: 7)
    var acknowledged: Int64 = 0
    for round in 1...(searchesRun ? 100 : 20) {
      let microseconds = generator.next(below: 20_000)
      let result = try await program.run([path, "\(microseconds)"])
      try #require(result.status == .signalled(9), "\(result.standardError)")
      let last = try #require(
        result.standardOutput.split(separator: "\n").last.flatMap { Int64($0) }
      )
      #expect(last > acknowledged)
      acknowledged = last
      let database = try await Database.open(path, for: .reading)
      #expect(try await database.rows("PRAGMA integrity_check") == [[.text("ok")]])
      let rows = try await database.rows("SELECT count(*), max(number) FROM row")
      guard case .integer(let count)? = rows.first?.first,
        case .integer(let number)? = rows.first?.last
      else {
        Issue.record("no count: \(rows)")
        return
      }
      // One more may have been committed and not acknowledged.
      #expect((last...last + 1).contains(number), "round \(round)")
      #expect(count == number)
    }
  }
}
