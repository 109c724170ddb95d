internal import Basics
internal import LessonBook
internal import Limiters

/// What one connection that breaks, or is long at work, does to the others.
extension Grader {
  /// After a breakage an error of the question's own is one still, and the second connection stays.
  static func errorAfterBreakage<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    check(
      "error_after_break",
      "a connection breaks, on the next one the question fails, and then another is asked, one connection"
    ) {
      let database = FakeDatabase(broken: 1)
      let pool = Pool(limit: 1, open: database.open)
      do {
        _ = try await pool.answer(to: -1)
        return "an error of a question did not come out"
      } catch is FakeDatabase.Negative {}
      if try await pool.answer(to: 3) != 9 { return "a wrong answer" }
      let opened = database.counts.opened
      return opened == 2
        ? nil
        : "\(opened) connections were opened, and one broke: a good one was given up. An error of the question's own "
          + "breaks no connection, also where another broke before"
    }
  }

  /// One breaks, and those that lie idle are good.
  static func idleStay<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    check(
      "idle_stay",
      "three ask at once, then the connection of one question breaks, then three ask at once, three connections"
    ) {
      let meeting = Lock<Rendezvous?>(Rendezvous(of: 3))
      let isFirst = Lock(true)
      let database = FakeDatabase(
        onQuestion: { question in
          guard question == 10 else { return }
          let breaks = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if breaks { throw ConnectionBroken() }
        },
        onAnswer: { await meeting.withLock { $0 }?.come() }
      )
      let pool = Pool(limit: 3, open: database.open)
      func threeAtOnce() async throws -> Bool {
        async let one = pool.answer(to: 1)
        async let two = pool.answer(to: 2)
        async let three = pool.answer(to: 3)
        return try await [one, two, three] == [1, 4, 9]
      }
      guard try await threeAtOnce() else { return "a wrong answer" }
      meeting.withLock { $0 = nil }
      if try await pool.answer(to: 10) != 100 { return "a wrong answer" }
      meeting.withLock { $0 = Rendezvous(of: 3) }
      guard try await threeAtOnce() else { return "a wrong answer" }
      let opened = database.counts.opened
      return opened <= 4
        ? nil
        : "\(opened) connections were opened, where 4 are enough: one broke, and good ones were given up with it"
    }
  }

  /// Who asks gets whichever connection is free, however long another is at work.
  static func anyThatIsFree<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    let count = 10
    return check(
      "any_free",
      "the first question takes long, and meanwhile \(count) ask one after another, two connections"
    ) {
      let question = FirstQuestion()
      let database = FakeDatabase(onAnswer: {
        if try await !question.hold() { await Moment.pass() }
      })
      let pool = Pool(limit: 2, open: database.open)
      let ask: @Sendable (Int) async throws -> Int = { try await pool.answer(to: $0) }
      let first = Task { try await ask(1) }
      try await question.comes()
      let told = Lock(0)
      let others = Task {
        for question in 2...count + 1 {
          guard try await ask(question) == question * question else { return false }
          told.withLock { $0 += 1 }
        }
        return true
      }
      let answered = await Moment.pass(until: count) { told.withLock { $0 } }
      question.mayEnd()
      let isRight = try await others.value
      guard try await first.value == 1, isRight else { return "a wrong answer" }
      return answered == count
        ? nil
        : "after \(answered) of them the next waited, although one connection was free. Whichever is free answers who "
          + "asks next"
    }
  }
}
