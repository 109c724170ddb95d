internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters

/// What becomes of connections after thousands of questions, errors and breakages.
extension Grader {
  /// A question is asked again however many connections break.
  static func manyBreakages<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    let broken = 1_100
    return check("many_breakages", "\(broken) connections break, one after the other") {
      for (limit, breaksAt) in [(1, 1), (2, 2)] {
        let database = FakeDatabase(broken: broken, breaksAt: breaksAt)
        let pool = Pool(limit: limit, open: database.open)
        for question in 1...2 * broken {
          do {
            if try await pool.answer(to: question) != question * question {
              return "a wrong answer"
            }
          } catch is ConnectionBroken {
            return
              "when \(database.counts.opened) had been opened, a task was told that its connection broke. Ask again, "
              + "however many break"
          }
        }
        if database.counts.askedBroken > 0 { return "a connection that had broken was used again" }
      }
      return nil
    }
  }

  /// A good connection is kept, however many questions it answers or fails, and however often `open` throws before.
  static func manyQuestions<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    let count = 5_000
    return check(
      "many_questions",
      "\(count) times 'open' throws, then \(2 * count) questions are answered and half as many fail, one connection"
    ) {
      let database = FakeDatabase(unopened: count, onAnswer: {})
      let pool = Pool(limit: 1, open: database.open)
      for number in 1...count {
        do {
          _ = try await pool.answer(to: 2)
          return "the \(number)th that could not be opened was told to nobody"
        } catch is FakeDatabase.Unopened {}
        if database.counts.opened != number {
          return "for \(number) questions, 'open' was called \(database.counts.opened) times"
        }
      }
      for question in 1...count {
        for square in [question, question + 1]
        where try await pool.answer(to: square) != square * square {
          return "a wrong answer"
        }
        do {
          _ = try await pool.answer(to: -question)
          return "an error of a question did not come out"
        } catch is FakeDatabase.Negative {}
        let opened = database.counts.opened - count
        if opened != 1 {
          return
            "after \(2 * question) answers and half as many errors, \(opened) connections had been opened: a good one was given up"
        }
      }
      return nil
    }
  }

  /// However many wait in line and leave it, the others get their answers, and the connections are all there.
  static func longConnectionLine<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    let (limit, count, questions) = (2, 3_000, 40)
    return check(
      "long_line",
      "\(count) ask, of \(questions) questions, every third of them is cancelled, and then two ask at once, two connections"
    ) {
      let (mayEnd, ends) = Condition.makeCondition()
      let rendezvous = Lock<Rendezvous?>(nil)
      let database = FakeDatabase(onAnswer: {
        if let rendezvous = rendezvous.withLock({ $0 }) {
          await rendezvous.come()
        } else {
          try await mayEnd.waitUncancellably()
        }
      })
      let pool = Pool(limit: limit, open: database.open)
      let counts = Lock((asked: 0, told: 0, right: 0))
      let ask: @Sendable (Int) async -> Void = { question in
        counts.withLock { $0.asked += 1 }
        let answer = try? await pool.answer(to: question)
        counts.withLock {
          $0.told += 1
          if answer == question * question { $0.right += 1 }
        }
      }
      let tasks = (1...count).map { question in
        Task(priority: .inTurn(question)) { await ask(question % questions + 1) }
      }
      await Moment.pass(until: count) { counts.withLock { $0.asked } }
      for (number, task) in tasks.enumerated() where number % 3 == 2 { task.cancel() }
      ends.signal()
      let told = await Moment.pass(until: count) { counts.withLock { $0.told } }
      if told < count { return "\(count - told) of them wait for ever" }
      let right = counts.withLock { $0.right }
      if right < count - count / 3 {
        return
          "\(right) got their answers, and \(count - count / 3) were not cancelled. Let anybody wait, however many do"
      }
      let meeting = Rendezvous(of: limit)
      rendezvous.withLock { $0 = meeting }
      for question in 1...limit { Task(priority: .inTurn(question)) { await ask(question) } }
      let last = await Moment.pass(until: count + limit) { counts.withLock { $0.told } }
      if last < count + limit {
        return "the two were not answered at once: who was cancelled has kept its place or lost it"
      }
      let busy = database.counts.mostBusy
      return busy > limit ? "\(busy) connections were in use at once" : nil
    }
  }

  /// Who is cancelled while its connection is opened does not keep its place.
  static func cancelledWhileOpening<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    check(
      "cancelled_opening",
      "one is cancelled while its connection is opened, and then another asks, one connection"
    ) {
      let (isOpening, opens) = Condition.makeCondition()
      let (mayOpen, goesOn) = Condition.makeCondition()
      let database = FakeDatabase()
      let pool = Pool(limit: 1) {
        opens.signal()
        try await mayOpen.waitUncancellably()
        return try await database.open()
      }
      let told = Lock(0)
      let ask: @Sendable () async -> Void = {
        if let answer = try? await pool.answer(to: 2), answer == 4 { told.withLock { $0 += 1 } }
      }
      let gone = Task { await ask() }
      try await isOpening.waitUncancellably()
      gone.cancel()
      goesOn.signal()
      await gone.value
      let before = told.withLock { $0 }
      Task { await ask() }
      let answered = await Moment.pass(until: before + 1) { told.withLock { $0 } }
      return answered > before ? nil : "the other got no answer: the place of the first was lost"
    }
  }

  /// Who waits is cancelled just when its turn comes: it takes no place with it, and nobody blocks.
  static func cancelledInLine<Pool: LearnerConnections>(
    _ type: Pool.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_in_line",
      "one asks, another waits behind it and is cancelled just when the first is answered, then two ask at once, one "
        + "connection",
      tasks: ["the first", "the one that waits", "who cancels it"],
      schedules: 1_500
    ) {
      let question = FirstQuestion()
      let database = FakeDatabase(onAnswer: { if try await !question.hold() { await Task.yield() } }
      )
      let pool = Pool(limit: 1, open: database.open)
      let first = Task { try await pool.answer(to: 1) }
      try await question.comes()
      let waits = Task { try await pool.answer(to: 2) }
      await Task.yield()
      let canceller = Task { waits.cancel() }
      question.mayEnd()
      try require(try await first.value == 1, "a wrong answer")
      await canceller.value
      if case .success(let answer) = await waits.result {
        try require(answer == 4, "a wrong answer")
      }
      async let one = pool.answer(to: 3)
      async let two = pool.answer(to: 4)
      let answers = try await [one, two]
      try require(answers == [9, 16], "a wrong answer")
      let counts = database.counts
      try require(counts.mostBusy == 1, "two were answered at once, with one connection")
      try require(
        counts.opened == 1,
        "\(counts.opened) connections were opened, though none broke: a good one was given up"
      )
    }
  }

  /// Who comes just when a place is free does not take it besides the one who has waited for it.
  static func newcomers<Pool: LearnerConnections>(_ type: Pool.Type) -> GradeBook.Question {
    promise(
      "newcomer",
      "one asks, another waits behind it, and a third comes when the first is answered, one connection",
      tasks: ["the first", "the one that waits", "the third"],
      schedules: 1_500
    ) {
      let question = FirstQuestion()
      let database = FakeDatabase(onAnswer: { if try await !question.hold() { await Task.yield() } }
      )
      let pool = Pool(limit: 1, open: database.open)
      let first = Task { try await pool.answer(to: 1) }
      try await question.comes()
      let waits = Task { try await pool.answer(to: 2) }
      await Task.yield()
      let third = Task { try await pool.answer(to: 3) }
      question.mayEnd()
      let answers = [try await first.value, try await waits.value, try await third.value]
      try require(answers == [1, 4, 9], "a wrong answer")
      let counts = database.counts
      try require(
        counts.mostBusy == 1,
        "two were answered at once, with one connection: who comes took the place of who had waited for it, and both "
          + "went on"
      )
      try require(counts.opened == 1, "\(counts.opened) connections were opened at a limit of 1")
    }
  }
}
