internal import Exploration
internal import Foundation
internal import LessonBook
internal import Limiters
internal import RealWork

/// What pools of connections are asked: explored with a database that is none, then with a real one.
extension Grader {
  /// Lesson 19: a broken connection is replaced, and nobody notices.
  package static func connections<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook {
    GradeBook(
      [
        promise("answers", "three ask, two connections") {
          let database = FakeDatabase()
          let pool = Pool(limit: 2, open: database.open)
          async let one = pool.answer(to: 2)
          async let two = pool.answer(to: 3)
          async let three = pool.answer(to: 4)
          let answers = try await [one, two, three]
          try require(answers == [4, 9, 16], "a wrong answer")
          let counts = database.counts
          try require(counts.mostBusy <= 2, "\(counts.mostBusy) connections were in use at once")
          try require(counts.askedBusy == 0, "one connection was asked two things at once")
          try require(counts.asked == 3, "three questions were put \(counts.asked) times")
        },
        promise(
          "together",
          "three ask, three connections, all answers wait until all have asked",
          tasks: ["question 2", "question 3", "question 4"]
        ) {
          let (allAsked, asked) = Condition.makeCondition()
          let count = Lock(0)
          let database = FakeDatabase(onAnswer: {
            let isLast = count.withLock { count in
              count += 1
              return count == 3
            }
            if isLast { asked.signal() }
            try await allAsked.waitUncancellably()
          })
          let pool = Pool(limit: 3, open: database.open)
          async let one = pool.answer(to: 2)
          async let two = pool.answer(to: 3)
          async let three = pool.answer(to: 4)
          let answers = try await [one, two, three]
          try require(answers == [4, 9, 16], "a wrong answer")
        },
        promise("broken", "the first connection breaks") {
          let database = FakeDatabase(broken: 1)
          let pool = Pool(limit: 1, open: database.open)
          async let one = try? pool.answer(to: 2)
          async let two = try? pool.answer(to: 3)
          let answers = await [one, two]
          try require(database.counts.askedBroken == 0, "the broken connection was used again")
          try require(answers == [4, 9], "somebody got no answer")
          try require(database.counts.mostBusy <= 1, "two connections were in use at once")
        },
        promise("broken_twice", "the first two connections break, one asks") {
          let database = FakeDatabase(broken: 2)
          let pool = Pool(limit: 1, open: database.open)
          try require(try await pool.answer(to: 2) == 4, "a wrong answer")
          try require(try await pool.answer(to: 3) == 9, "a wrong answer")
          try require(database.counts.askedBroken == 0, "a broken connection was used again")
          try require(
            database.counts.opened == 3,
            "\(database.counts.opened) connections were opened, not 3"
          )
        },
        promise("errors", "a question that cannot be answered") {
          let database = FakeDatabase()
          let pool = Pool(limit: 1, open: database.open)
          do {
            _ = try await pool.answer(to: -1)
            try require(false, "its error did not come out")
          } catch is FakeDatabase.Negative {}
          try require(try await pool.answer(to: 5) == 25, "a wrong answer")
          try require(database.counts.opened == 1, "a connection that was good was given up")
        },
        promise(
          "errors_then_two",
          "a question that cannot be answered, then two at once, two connections",
          preemptions: onePreemption,
          schedules: 500
        ) {
          let database = FakeDatabase(onAnswer: { await Task.yield() })
          let pool = Pool(limit: 2, open: database.open)
          _ = try? await pool.answer(to: -1)
          async let one = pool.answer(to: 2)
          async let two = pool.answer(to: 3)
          let answers = try await [one, two]
          try require(answers == [4, 9], "a wrong answer")
          let counts = database.counts
          try require(counts.askedBusy == 0, "one connection was asked two things at once")
          try require(counts.mostBusy <= 2, "\(counts.mostBusy) connections were in use at once")
        },
        promise("unopened", "the first connection cannot be opened, one connection") {
          let database = FakeDatabase(unopened: 1)
          let pool = Pool(limit: 1, open: database.open)
          async let one = try? pool.answer(to: 2)
          async let two = try? pool.answer(to: 3)
          let answers = await [one, two]
          try require(
            Set(answers).isSubset(of: [4, 9, nil]) && answers.contains { $0 != nil },
            "only one was to fail"
          )
          try require(answers.contains(nil), "nobody was told that it could not be opened")
          try require(try await pool.answer(to: 5) == 25, "a wrong answer")
          try require(database.counts.mostBusy <= 1, "two connections were in use at once")
        },
        promise(
          "cancellation",
          "one of two is cancelled, one connection",
          tasks: ["the one that is cancelled", "the other"]
        ) {
          let database = FakeDatabase()
          let pool = Pool(limit: 1, open: database.open)
          let one = Task { try await pool.answer(to: 2) }
          let two = Task { try await pool.answer(to: 3) }
          await Task.yield()
          one.cancel()
          let answer = try? await two.value
          try require(answer == 9, "the other got no answer")
          _ = await one.result
          try require(database.counts.mostBusy <= 1, "two connections were in use at once")
        },
        promise(
          "line",
          "three ask, one connection, and the second of them is cancelled",
          tasks: ["the first", "the second, which is cancelled", "the third"]
        ) {
          let database = FakeDatabase()
          let pool = Pool(limit: 1, open: database.open)
          let first = Task { try await pool.answer(to: 1) }
          let gone = Task { try await pool.answer(to: 2) }
          let last = Task { try await pool.answer(to: 3) }
          // From here on the cancellation comes at any step of theirs.
          await Task.yield()
          gone.cancel()
          let answers = [try? await first.value, try? await last.value]
          try require(answers == [1, 9], "another got no answer")
          _ = await gone.result
          try require(try await pool.answer(to: 5) == 25, "a connection was lost")
          try require(database.counts.mostBusy <= 1, "two connections were in use at once")
        },
        cancelledInLine(type),
        newcomers(type),
        breakages(type),
        otherErrors(type),
        errorAfterBreakage(type),
        idleStay(type),
        anyThatIsFree(type),
        reopening(type),
        brokenOpening(type),
        cancelledWhileAnswered(type),
        cancelledWhileBreaking(type),
        cancelledQuestions(type),
        sameQuestion(type),
        cancelledWhileOpening(type),
        connectionLimits(type),
        manyBreakages(type),
        manyQuestions(type),
        longConnectionLine(type),
        realConnections(type),
      ] + afterWait(type) + misfortunes(type)
    )
  }

  /// Sixty tasks ask real SQLite connections, the first two of which are broken.
  private static func realConnections<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    let asked = "60 tasks ask SQLite, and the first two connections are broken"
    return .task("real", asked, seconds: 600) { _ in
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
      defer { try? FileManager.default.removeItem(at: folder) }
      do {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // The file gets its write-ahead log before many open it at once: only one may switch it over.
        _ = try await SQLiteConnection(in: folder, broken: nil)
        // Written once, before anybody reads it: while it is written it is empty, and so a database.
        let noDatabase = folder.appendingPathComponent("broken.sqlite")
        try Data(repeating: 0x41, count: 4_096).write(to: noDatabase)
        let opened = Lock(0)
        let pool = Pool(limit: 4) {
          let number = opened.withLock { opened in
            opened += 1
            return opened
          }
          return try await SQLiteConnection(in: folder, broken: number <= 2 ? noDatabase : nil)
        }
        let wrong = Lock(0)
        try await (1...60).concurrentForEach(limit: 60) { number in
          if try await pool.answer(to: number) != number * number { wrong.withLock { $0 += 1 } }
        }
        let count = opened.withLock { $0 }
        return GradeItem(
          "real",
          passed: wrong.withLock { $0 } == 0 && count <= 6,
          "\(asked): \(60 - wrong.withLock { $0 }) right answers, \(count) connections opened"
        )
      } catch {
        return GradeItem("real", passed: false, "\(asked): \(error)")
      }
    }
  }
}

/// A real connection; a broken one is to a file that is no database.
private final class SQLiteConnection: LearnerConnection {
  private let database: Database
  /// A file that is no database; nil for a sound connection.
  private let broken: URL?

  init(in folder: URL, broken: URL?) async throws {
    let path = folder.appendingPathComponent("answers.sqlite").path
    database = try await Database.open(path, for: .readingAndWriting)
    self.broken = broken
  }

  func answer(to question: Int) async throws -> Int {
    do {
      // What a disk that fails does to a connection.
      if let broken { try await database.rows("ATTACH DATABASE ? AS broken", .text(broken.path)) }
      let rows = try await database.rows(
        "SELECT ? * ?",
        .integer(Int64(question)),
        .integer(Int64(question))
      )
      guard case .integer(let answer)? = rows.first?.first else { return 0 }
      return Int(answer)
    } catch let error as DatabaseError where error.breaksConnection {
      throw ConnectionBroken()
    }
  }
}
