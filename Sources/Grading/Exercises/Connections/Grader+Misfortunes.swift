internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What a question of its own fails with.
private struct Timeout: Error {}

/// Holds up the first question that is put to any connection, until it may be answered.
final class FirstQuestion: Sendable {
  private let isNext = Lock(true)
  private let begun = Condition.makeCondition()
  private let over = Condition.makeCondition()

  /// Waits if this is the first; says whether it was.
  @discardableResult
  func hold() async throws -> Bool {
    let isFirst = isNext.withLock { isNext in
      defer { isNext = false }
      return isNext
    }
    if isFirst {
      begun.signal.signal()
      try await over.condition.waitUncancellably()
    }
    return isFirst
  }

  /// Waits until it has been put.
  func comes() async throws { try await begun.condition.waitUncancellably() }

  func mayEnd() { over.signal.signal() }
}

/// What becomes of connections that break late or often, cannot be opened, or serve who is cancelled.
extension Grader {
  static func check(
    _ name: String,
    _ asked: String,
    _ body: @escaping @Sendable () async throws -> String?
  ) -> GradeBook.Question {
    .task(name, asked, seconds: 30) { _ in
      do {
        let fault = try await body()
        return GradeItem(
          name,
          passed: fault == nil,
          "\(asked): \(fault ?? "all got their answers")"
        )
      } catch {
        return GradeItem(name, passed: false, "\(asked): somebody was told \(error)")
      }
    }
  }

  /// Ten in a row break, at their first question or at their third; who asks notices nothing.
  static func breakages<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    check("breakages", "ten connections break, each at its first question or at its third") {
      for (limit, breaksAt) in [(1, 1), (1, 3), (3, 1), (3, 3)] {
        let database = FakeDatabase(broken: 10, breaksAt: breaksAt)
        let pool = Pool(limit: limit, open: database.open)
        for question in 1...40 where try await pool.answer(to: question) != question * question {
          return "\(question) got a wrong answer"
        }
        let counts = database.counts
        if counts.askedBroken > 0 { return "a connection that had broken was used again" }
        if counts.asked != 50 {
          return
            "40 questions, of which 10 met a connection that broke, were put \(counts.asked) times"
        }
        if counts.opened < 11 || counts.opened > 10 + limit {
          return "\(counts.opened) connections were opened at a limit of \(limit), and 10 broke"
        }
        if counts.alive > limit {
          return
            "\(counts.alive) connections are kept at a limit of \(limit): those that broke among them"
        }
      }
      return nil
    }
  }

  /// An error is the question's own, whatever it is, and the connection is good.
  static func otherErrors<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    check("other_errors", "questions that fail, each with another error, between others") {
      let errors: [any Error] = [CancellationError(), Timeout(), FakeDatabase.Negative()]
      for limit in 1...2 {
        let next = Lock<(any Error)?>(nil)
        let database = FakeDatabase(onAnswer: {
          await Task.yield()
          let error = next.withLock { next in
            defer { next = nil }
            return next
          }
          if let error { throw error }
        })
        let pool = Pool(limit: limit, open: database.open)
        for (number, error) in (errors + errors).enumerated() {
          if try await pool.answer(to: number) != number * number { return "a wrong answer" }
          next.withLock { $0 = error }
          do {
            _ = try await pool.answer(to: 7)
            return "\(error) did not come out"
          } catch let told {
            guard Swift.type(of: told) == Swift.type(of: error) else {
              return "the question failed with \(error), and its task was told \(told)"
            }
          }
          if try await pool.answer(to: 9) != 81 { return "a wrong answer" }
        }
        let counts = database.counts
        if counts.opened > limit {
          return
            "\(counts.opened) connections were opened at a limit of \(limit): a good one was given up"
        }
        if counts.asked != 18 { return "18 questions were put \(counts.asked) times" }
      }
      return nil
    }
  }

  /// Of a question that had to wait: it fails, its connection breaks, or no other can be opened.
  static func afterWait<Pool: LearnerConnections>(_ type: Pool.Type) -> [GradeBook.Question] {
    ([CancellationError(), Timeout()] as [any Error]).map { errorInLine(type, $0) }
      + [true, false].map { breaksInLine(type, canOpenAgain: $0) }
  }

  /// A question that had to wait and then fails gives its connection back, once.
  private static func errorInLine<Pool: LearnerConnections>(
    _ type: Pool.Type,
    _ error: any Error
  ) -> GradeBook.Question {
    promise(
      "error_in_line",
      "one asks, another waits behind it and is told \(Swift.type(of: error)), then two ask at once, one connection",
      tasks: ["the first", "the one that waits and fails"],
      schedules: 1_500
    ) {
      let question = FirstQuestion()
      let isSecond = Lock(true)
      let database = FakeDatabase(onAnswer: {
        if try await question.hold() { return await Task.yield() }
        let fails = isSecond.withLock { isSecond in
          defer { isSecond = false }
          return isSecond
        }
        if fails { throw error }
        await Task.yield()
      })
      let pool = Pool(limit: 1, open: database.open)
      let first = Task { try await pool.answer(to: 1) }
      try await question.comes()
      let waits = Task { try await pool.answer(to: 2) }
      await Task.yield()
      question.mayEnd()
      try require(try await first.value == 1, "a wrong answer")
      switch await waits.result {
      case .success:
        try require(false, "a question failed with \(error), and its task was told nothing")
      case .failure(let told):
        try require(
          Swift.type(of: told) == Swift.type(of: error),
          "a question failed with \(error), and its task was told \(told)"
        )
      }
      async let one = pool.answer(to: 3)
      async let two = pool.answer(to: 4)
      let answers = try await [one, two]
      try require(answers == [9, 16], "a wrong answer")
      let counts = database.counts
      try require(
        counts.mostBusy == 1,
        "two were answered at once, with one connection: who failed gave its place back twice"
      )
      try require(
        counts.opened == 1,
        "\(counts.opened) connections were opened, though none broke: a good one was given up"
      )
    }
  }

  /// The connection of a question that had to wait breaks: it is asked again, and where no other can be opened it is
  /// told so; neither loses a place.
  private static func breaksInLine<Pool: LearnerConnections>(
    _ type: Pool.Type,
    canOpenAgain: Bool
  ) -> GradeBook.Question {
    promise(
      "breaks_in_line",
      "one asks, another waits behind it and its connection breaks\(canOpenAgain ? "" : ", no other can be opened"), "
        + "then two ask at once, one connection",
      tasks: ["the first", "the one that waits"],
      schedules: 1_500
    ) {
      let question = FirstQuestion()
      let database = FakeDatabase(
        broken: 1,
        breaksAt: 2,
        isUnopened: { !canOpenAgain && $0 == 2 },
        onAnswer: { if try await !question.hold() { await Task.yield() } }
      )
      let pool = Pool(limit: 1, open: database.open)
      let first = Task { try await pool.answer(to: 1) }
      try await question.comes()
      let waits = Task { try await pool.answer(to: 2) }
      await Task.yield()
      question.mayEnd()
      try require(try await first.value == 1, "a wrong answer")
      switch await waits.result {
      case .success(let answer):
        try require(answer == 4 && canOpenAgain, "who had waited was told \(answer)")
      case .failure(let told):
        try require(
          told is FakeDatabase.Unopened && !canOpenAgain,
          "who had waited was told \(told), expected "
            + (canOpenAgain ? "its answer, on another connection" : "what 'open' threw")
        )
      }
      async let one = pool.answer(to: 3)
      async let two = pool.answer(to: 4)
      let answers = try await [one, two]
      try require(answers == [9, 16], "a wrong answer")
      let counts = database.counts
      try require(counts.mostBusy == 1, "two were answered at once, with one connection")
      try require(counts.askedBroken == 0, "the connection that had broken was used again")
    }
  }

  /// Connections that cannot be opened, also in place of one that broke.
  static func reopening<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    check("reopening", "a connection breaks, and neither of the next two can be opened") {
      for limit in 1...2 {
        let database = FakeDatabase(broken: 1, isUnopened: { $0 == 2 || $0 == 3 })
        let pool = Pool(limit: limit, open: database.open)
        for number in 1...2 {
          do {
            _ = try await pool.answer(to: 2)
            return "\(number) of 2 that could not be opened were told to nobody"
          } catch is FakeDatabase.Unopened {}
        }
        for question in 1...limit + 1
        where try await pool.answer(to: question) != question * question {
          return "\(question) got a wrong answer"
        }
        let opened = database.counts.opened
        if opened < 4 || opened > 3 + limit {
          return "\(opened) connections were opened or tried at a limit of \(limit)"
        }
      }
      return nil
    }
  }

  /// An error of `open` is told, also one that a connection might have thrown.
  static func brokenOpening<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    check("broken_opening", "two cannot be opened: 'open' throws ConnectionBroken") {
      for limit in 1...2 {
        let database = FakeDatabase(unopened: 2, openingError: ConnectionBroken())
        let pool = Pool(limit: limit, open: database.open)
        for number in 1...2 {
          do {
            _ = try await pool.answer(to: 2)
            return
              "'open' threw, and its task was not told. What 'open' throws comes out, whatever it is: there was no "
              + "connection to ask"
          } catch is ConnectionBroken {}
          let opened = database.counts.opened
          guard opened == number else {
            return "for \(number) questions, 'open' was called \(opened) times"
          }
        }
        if try await pool.answer(to: 5) != 25 { return "a wrong answer" }
      }
      return nil
    }
  }

  /// Who is cancelled while its connection breaks is told no answer of nobody's, and the connection is given up.
  static func cancelledWhileBreaking<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    check(
      "cancelled_broken",
      "one is cancelled while it is answered, its connection breaks, and then another asks, one connection"
    ) {
      let question = FirstQuestion()
      let database = FakeDatabase(broken: 1, onAnswer: { try await question.hold() })
      let pool = Pool(limit: 1, open: database.open)
      let ask: @Sendable (Int) async throws -> Int = { try await pool.answer(to: $0) }
      let gone = Task { try await ask(2) }
      try await question.comes()
      gone.cancel()
      question.mayEnd()
      if case .success(let answer) = await gone.result, answer != 4 {
        return
          "who was cancelled was told \(answer), which no connection has answered. Throw an error, or ask again"
      }
      let answer = try await ask(3)
      if database.counts.askedBroken > 0 {
        return
          "the connection that had broken was used again. Give it up, whether its task was cancelled or not"
      }
      return answer == 9 ? nil : "a wrong answer"
    }
  }

  /// One that answers, one in line or the last is cancelled: the others get their answers, and all connections are
  /// there afterwards.
  static func cancelledQuestions<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled",
      "four ask, two connections, and the first and the third are cancelled",
      tasks: (1...4).map { "question \($0)\($0 % 2 == 1 ? ", which is cancelled" : "")" },
      preemptions: onePreemption,
      schedules: 1_500
    ) {
      let together = Lock<Meeting?>(nil)
      let database = FakeDatabase(onAnswer: {
        if let meeting = together.withLock({ $0 }) {
          await meeting.come()
        } else {
          // Cancelled or not: it is answered all the same.
          await Task.yield()
        }
      })
      let pool = Pool(limit: 2, open: database.open)
      let tasks = (1...4).map { question in
        Task(priority: .inTurn(question)) { try await pool.answer(to: question) }
      }
      await Task.yield()
      tasks[0].cancel()
      tasks[2].cancel()
      let answers = [try? await tasks[1].value, try? await tasks[3].value]
      try require(
        answers == [4, 16],
        "a task that was not cancelled got no answer, or a wrong one"
      )
      for index in [0, 2] {
        if case .success(let answer) = await tasks[index].result {
          try require(
            answer == (index + 1) * (index + 1),
            "a task that was cancelled got a wrong answer"
          )
        }
      }
      try require(database.counts.mostBusy <= 2, "three connections were in use at once")
      try require(
        database.counts.opened <= 2,
        "\(database.counts.opened) connections were opened, though none broke: a good one was given up"
      )
      // Both connections are there: each answer waits for the other.
      together.withLock { $0 = Meeting() }
      async let one = pool.answer(to: 5)
      async let two = pool.answer(to: 6)
      let last = try await [one, two]
      try require(last == [25, 36], "a wrong answer")
    }
  }

  /// Who is cancelled while it is answered gives its connection back, whether it is answered or told of an error.
  static func cancelledWhileAnswered<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    check(
      "cancelled",
      "one is cancelled while it is answered, and then another asks, one connection"
    ) {
      for isAnswered in [true, false] {
        let question = FirstQuestion()
        let database = FakeDatabase(onAnswer: {
          if try await question.hold(), !isAnswered { throw CancellationError() }
        })
        let pool = Pool(limit: 1, open: database.open)
        let ask: @Sendable (Int) async throws -> Int = { try await pool.answer(to: $0) }
        let gone = Task { try await ask(2) }
        try await question.comes()
        gone.cancel()
        question.mayEnd()
        if case .success(let answer) = await gone.result, answer != 4 { return "a wrong answer" }
        if try await ask(3) != 9 { return "a wrong answer" }
        let opened = database.counts.opened
        if opened > 1 {
          return "\(opened) connections were opened: a good one was given up"
            + (isAnswered
              ? "" : ". An error of a question, and be it CancellationError, breaks no connection")
        }
      }
      return nil
    }
  }

  /// Two tasks may have the same question, and one's cancellation is nothing to the other.
  static func sameQuestion<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    promise(
      "same",
      "two ask the same, two connections, and the first is cancelled",
      tasks: ["the one that is cancelled", "the other"],
      preemptions: onePreemption,
      schedules: 1_500
    ) {
      let database = FakeDatabase(onAnswer: {
        await Task.yield()
        try Task.checkCancellation()
      })
      let pool = Pool(limit: 2, open: database.open)
      let gone = Task { try await pool.answer(to: 7) }
      let other = Task { try await pool.answer(to: 7) }
      await Task.yield()
      gone.cancel()
      let answer = try? await other.value
      try require(
        answer == 49,
        "who was not cancelled got no answer, or a wrong one: each task's question is its own"
      )
      _ = await gone.result
    }
  }

  /// As many at once as the limit says, for each limit, and no more connections than that.
  static func connectionLimits<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    check("limits", "limits from 1 to 12 and of 1,100, twice as many ask as there are connections")
    {
      for limit in Array(1...12) + [1_100] {
        let (mayEnd, ends) = Condition.makeCondition()
        let database = FakeDatabase(onAnswer: { try await mayEnd.waitUncancellably() })
        let pool = Pool(limit: limit, open: database.open)
        let tasks = (1...2 * limit).map { question in
          Task { try await pool.answer(to: question) == question * question }
        }
        let busy = await Moment.pass(until: limit) { database.counts.busy }
        ends.signal()
        if busy < limit {
          return
            "\(2 * limit) ask, and at a limit of \(limit) no more than \(busy) are answered at once"
        }
        for task in tasks where try await !task.value {
          return "a wrong answer at a limit of \(limit)"
        }
        let counts = database.counts
        if counts.mostBusy > limit || counts.opened > limit {
          return
            "\(counts.mostBusy) in use at once and \(counts.opened) opened at a limit of \(limit)"
        }
        if counts.askedBusy > 0 { return "one connection was asked two things at once" }
      }
      return nil
    }
  }
}

/// Where so many tasks meet, again and again: each waits until all are there.
actor Rendezvous {
  private let count: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(of count: Int) { self.count = count }

  func come() async {
    if waiting.count + 1 < count {
      return await withCheckedContinuation { waiting.append($0) }
    }
    let all = waiting
    waiting = []
    for one in all { one.resume() }
  }
}
