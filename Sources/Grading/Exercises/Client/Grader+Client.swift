internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Limiters

extension Grader {
  /// Lesson 4: many wait, and no thread does.
  package static func client<Client: LearnerClient>(_ type: Client.Type) -> GradeBook {
    GradeBook([
      oneQuestionAfterTheOther(type, "answers", atOnce: false),
      oneQuestionAfterTheOther(type, "at_once", atOnce: true),
      manyQuestions(type),
      manyQuestions(type, areCancelled: true),
      openQuestions(type),
      quietQuestions(type),
      questionsTogether(type),
      questionsInBetween(type),
      sameQuestionTwice(type),
      sameQuestionAtOnce(type),
      cancelledQuestion(type),
      cancelledMeanwhile(type),
      answeredLater(type),
      answeredBefore(type),
      answeredBesideALock(type),
      serversApart(type),
      sameQuestionApart(type),
      cancelledAsTheServerAnswers(type),
      keptOfQuestions(type),
      manyMoreQuestions(type),
      questionsLetGo(type),
      threadsOfQuestions(type),
      explored(type),
    ])
  }

  /// What is wrong with the answer to a question; nil if it is right.
  private static func mistake(_ question: Int, _ client: some LearnerClient) async -> String? {
    do {
      let answer = try await client.answer(to: question)
      if question < 0 {
        return "the server had no answer to \(question), and you returned \(answer)"
      }
      return answer == 10 * question
        ? nil : "the answer to \(question) is \(10 * question), and you returned \(answer)"
    } catch let error as CallingServer.NoAnswer {
      if question >= 0 { return "to \(question) there is an answer, and you threw \(error)" }
      return error.question == question
        ? nil : "for \(question) you threw the error of \(error.question)"
    } catch {
      return "for \(question) you threw \(error), which is not the server's error"
    }
  }

  private static func oneQuestionAfterTheOther<Client: LearnerClient>(
    _ type: Client.Type,
    _ name: String,
    atOnce: Bool
  ) -> GradeBook.Question {
    let asked =
      "questions one after the other, some of which have no answer"
      + (atOnce ? ", to a server that calls back before 'ask' returns" : "")
    return .task(name, asked, seconds: 20) { _ in
      let server = CallingServer(answersAtOnce: atOnce)
      let client = Client(server: server)
      // Some that four bytes cannot hold, and a dozen errors in a row.
      let large = 1 << 40
      let questions = [1, 2, -1, 0, 2, -2, -2, 3, large, -large] + (3...14).map { -$0 } + [4]
      for (number, question) in questions.enumerated() {
        if let fault = await mistake(question, client) {
          return GradeItem(name, passed: false, "\(asked): \(fault)")
        }
        guard server.asked == number + 1 else {
          return GradeItem(
            name,
            passed: false,
            "\(asked): after \(number + 1) questions the server had been asked \(server.asked) times"
          )
        }
      }
      return GradeItem(name, passed: true, "\(asked): the answers and the errors are the server's")
    }
  }

  /// More than any pool or queue has threads.
  private static func manyQuestions<Client: LearnerClient>(
    _ type: Client.Type,
    areCancelled: Bool = false
  ) -> GradeBook.Question {
    let count = 600
    let name = areCancelled ? "together_cancelled" : "together"
    let asked =
      "\(count) tasks\(areCancelled ? " that were cancelled before" : "") ask, and the server answers none before all "
      + "have asked"
    return GradeBook.Question(name: name) { terms in
      let areAllAsleep = terms.areAllAsleep
      return GradeBook.Question.task(name, asked, seconds: 60) { _ in
        let server = CallingServer(together: count)
        let client = Client(server: server)
        let late = Lock<Int?>(nil)
        let inTurn = Lock<Int?>(nil)
        // Who was cancelled may be told so, and not ask.
        let told = Lock(0)
        let done: @Sendable () -> Int = { server.asked + told.withLock { $0 } }
        // Looks, not a clock: a machine that stood still has run nobody meanwhile. Who asks without a thread asks
        // at once; a library that adds threads adds few in two seconds.
        OSThread("patience") {
          var before = -20
          while done() < count, done() >= before + 20 {
            before = done()
            var looks = 0
            var asleep = 0
            while looks < 2_000, done() < count {
              usleep(1_000)
              looks += 1
              // Somebody asks, or a thread waits before the next may.
              asleep = done() > 0 && areAllAsleep() ? asleep + 1 : 0
              if asleep >= 5 { inTurn.withLock { $0 = $0 ?? done() } }
            }
          }
          let asked = done()
          if asked < count { late.withLock { $0 = asked } }
          if server.asked < count { server.giveUp() }
        }.detach()
        let ask: @Sendable (Int) async -> String? = { question in
          guard areCancelled else { return await mistake(question, client) }
          withUnsafeCurrentTask { $0?.cancel() }
          do {
            let answer = try await client.answer(to: question)
            return answer == 10 * question
              ? nil
              : "to \(question) you returned \(answer). Who is cancelled gets the server's answer, "
                + "\(10 * question), or throws 'CancellationError'"
          } catch is CancellationError {
            told.withLock { $0 += 1 }
            return nil
          } catch {
            return "for \(question) you threw \(error)"
          }
        }
        let wrong = await withTaskGroup { group in
          for question in 1...count {
            group.addTask { await ask(question) }
          }
          return await group.reduce(into: [String]()) { if let fault = $1 { $0.append(fault) } }
            .first
        }
        let fault =
          late.withLock { $0 }.map {
            "\($0) had asked, and then hardly one more. The others wait until one of these has its answer: for a thread, "
              + "if each holds one while it waits, or for something else that is given back then"
          }
          ?? inTurn.withLock { $0 }.map {
            "when \($0) had asked every thread slept: one of them waits before the next question is asked"
          } ?? wrong
        let toldOnly = told.withLock { $0 }
        let right =
          toldOnly == 0
          ? "all waited at the same time, and no thread with them"
          : "\(toldOnly) were told that they are cancelled, and asked nothing to the end"
        return GradeItem(name, passed: fault == nil, "\(asked): \(fault ?? right)")
      }.ask(terms)
    }
  }

  /// There is room for as many questions as there are.
  private static func openQuestions<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let count = 5_000
    let asked =
      "\(count) tasks of four priorities ask, fifty of them the same each time, and the server answers none before "
      + "all have asked"
    return .task("open", asked, seconds: 60) { _ in
      let server = CallingServer(together: count)
      let client = Client(server: server)
      let wrong = Lock<String?>(nil)
      let answered = Lock(0)
      let ask: @Sendable (Int) async -> Void = { question in
        let fault = await mistake(question, client)
        if let fault { wrong.withLock { $0 = $0 ?? fault } }
        answered.withLock { $0 += 1 }
      }
      for question in 1...count {
        Task(priority: [nil, .low, .high, .background][question % 4]) { await ask(question % 100) }
      }
      let told = await Moment.pass(until: count) { answered.withLock { $0 } }
      let come = server.asked
      if come < count { server.giveUp() }
      let fault =
        come < count
        ? "the server was asked \(come) times, and then no more. Each call asks it once, also if another asks the "
          + "same, and holds no thread until the answer comes, of whatever priority its task is"
        : told < count
          ? "the server has called back for all, and \(count - told) tasks still wait"
          : wrong.withLock { $0 }
      return GradeItem(
        "open",
        passed: fault == nil,
        "\(asked): \(fault ?? "each got its own answer")"
      )
    }
  }

  /// Who waits for an answer does not ask for it again and again.
  private static func quietQuestions<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let count = 600
    let asked = "\(count) tasks ask, and the server answers nobody for a second"
    return QuietProcessor.question(asked) { aSecond in
      let server = CallingServer(together: count + 1)
      let client = Client(server: server)
      await withTaskGroup { group in
        for question in 1...count { group.addTask { _ = await mistake(question, client) } }
        while server.asked < count { await Moment.pass() }
        await aSecond()
        server.giveUp()
      }
    }
  }

  /// Answers that come in another order, some of them errors.
  private static func questionsTogether<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let questions = [1, 2, -1, 3, 4, 5, 5, -2, 6, -3, 7, 8]
    let asked =
      "12 questions at once, answered from the last to the first, three of them with an error"
    return .task("mixed", asked, seconds: 30) { _ in
      let server = CallingServer(together: questions.count)
      let client = Client(server: server)
      let wrong = await withTaskGroup { group in
        for question in questions { group.addTask { await mistake(question, client) } }
        return await group.reduce(into: [String]()) { if let fault = $1 { $0.append(fault) } }.first
      }
      let fault =
        wrong
        ?? (server.asked == questions.count ? nil : "the server was asked \(server.asked) times")
      return GradeItem(
        "mixed",
        passed: fault == nil,
        "\(asked): \(fault ?? "each task got its own")"
      )
    }
  }

  /// Questions that come while some have been answered and others have not; two tasks ask the same.
  private static func questionsInBetween<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let questions = [1, 2, 3, 2, 4, 5]
    let asked =
      "6 questions, two of them the same; the first is answered after the second was asked, and so on"
    return .task("in_between", asked, seconds: 30) { _ in
      let server = CallingServer(together: questions.count + 1)
      let client = Client(server: server)
      let ask: @Sendable (Int) async -> String? = { await mistake($0, client) }
      var asking: [Task<String?, Never>] = []
      for (place, question) in questions.enumerated() {
        asking.append(Task { await ask(question) })
        while server.asked <= place { await Moment.pass() }
        guard place > 0 else { continue }
        server.answerOne()
        if let fault = await asking[place - 1].value {
          server.giveUp()
          return GradeItem("in_between", passed: false, "\(asked): \(fault)")
        }
      }
      server.giveUp()
      let fault = await asking.last?.value
      return GradeItem(
        "in_between",
        passed: fault == nil,
        "\(asked): \(fault ?? "each got its own")"
      )
    }
  }

  /// The answer to a question is what its own call back brings, and not that of another who asked the same.
  private static func sameQuestionTwice<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked =
      "two tasks ask the same at once, and the server, which answers the second first, tells each something else"
    return .task("same_twice", asked, seconds: 20) { _ in
      let server = CallingServer(together: 2, counts: true)
      let client = Client(server: server)
      let ask: @Sendable () async throws -> Int = { try await client.answer(to: 7) }
      let first = Task { try await ask() }
      await Moment.pass(until: 1) { server.asked }
      let second = Task { try await ask() }
      let told = [try? await first.value, try? await second.value]
      return GradeItem(
        "same_twice",
        passed: told == [70, 71],
        "\(asked): "
          + (told == [70, 71]
            ? "each got what it was told"
            : "the first was told 70 and the second 71, and you returned "
              + told.map { $0.map(String.init) ?? "an error" }.joined(separator: " and "))
      )
    }
  }

  /// Who is cancelled is told the answer or the cancellation, and nothing made up.
  private static func cancelledQuestion<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked = "a task that was cancelled before it asks"
    return .task("cancelled", asked, seconds: 20) { _ in
      let client = Client(server: CallingServer())
      let ask: @Sendable () async throws -> Int = { try await client.answer(to: 7) }
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await ask()
      }
      let fault: String? =
        switch await task.result {
        case .success(70): nil
        case .success(let answer): "the answer to 7 is 70, and you returned \(answer)"
        case .failure(is CancellationError): nil
        case .failure(let error): "there is an answer to 7, and you threw \(error)"
        }
      return GradeItem(
        "cancelled",
        passed: fault == nil,
        "\(asked): \(fault ?? "it is told no more than there is")"
      )
    }
  }

  /// Who is cancelled while it waits is told something all the same, and the others their answers.
  private static func cancelledMeanwhile<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let questions = [1, 2, 2, 3]
    let asked =
      "four tasks ask 1, 2, 2 and 3, and the second who asks 2 is cancelled before the server answers"
    return .task("cancelled_meanwhile", asked, seconds: 30) { _ in
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      let results = Lock<[Int: Result<Int, any Error>]>([:])
      let ask: @Sendable (Int) async -> Void = { number in
        let result: Result<Int, any Error>
        do { result = .success(try await client.answer(to: questions[number])) } catch {
          result = .failure(error)
        }
        results.withLock { $0[number] = result }
      }
      var tasks: [Task<Void, Never>] = []
      for number in questions.indices {
        tasks.append(Task { await ask(number) })
        await Moment.pass(until: number + 1) { server.asked }
      }
      tasks[2].cancel()
      // Not before who is cancelled has heard of it, as a rule.
      for _ in 1...5 { await Moment.pass() }
      server.giveUp()
      await Moment.pass(until: questions.count) { results.withLock { $0.count } }
      let told = results.withLock { $0 }
      let fault = questions.indices.lazy.compactMap { number -> String? in
        let (isCancelled, question) = (number == 2, questions[number])
        switch told[number] {
        case .success(10 * question): return nil
        case .failure(is CancellationError):
          return isCancelled
            ? nil
            : "a task that nobody cancelled, and which asks \(question), was told CancellationError. Know who waits by "
              + "the call, not by the question"
        case nil:
          return isCancelled
            ? "the server has answered, and who was cancelled waits for ever. Tell them the answer, or an error"
            : "the server has answered, and a task that asks \(question), which nobody cancelled, waits for ever"
        case .success(let answer):
          return "the answer to \(question) is \(10 * question), and you returned \(answer)"
        case .failure(let error): return "for \(question) you threw \(error)"
        }
      }.first
      let times = server.asked
      let tooMany =
        times > questions.count
        ? "the server was asked \(times) times. Each call asks it once" : nil
      return GradeItem(
        "cancelled_meanwhile",
        passed: fault == nil && tooMany == nil,
        "\(asked): \(fault ?? tooMany ?? "each is told no more than there is")"
      )
    }
  }

  /// What the server says to a task that was cancelled is not told another that asked later.
  private static func answeredLater<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked =
      "a task asks 1 and is cancelled, then another asks 2, and the server answers 1, and then 2"
    return .task("answered_later", asked, seconds: 20) { _ in
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      let first = Task { try? await client.answer(to: 1) }
      await Moment.pass(until: 1) { server.asked }
      first.cancel()
      for _ in 1...5 { await Moment.pass() }
      let second = Task { await mistake(2, client) }
      await Moment.pass(until: 2) { server.asked }
      server.answerOne()
      // Until that answer has come to somebody.
      for _ in 1...20 { await Moment.pass() }
      server.giveUp()
      let fault = await second.value
      _ = await first.value
      return GradeItem(
        "answered_later",
        passed: fault == nil,
        "\(asked): "
          + (fault.map { "\($0). What its call back brings is told the one call, or nobody" }
            ?? "nobody is told what another was")
      )
    }
  }

  /// Nobody waits for the answer of another.
  private static func answeredBefore<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked = "two tasks ask, and the server answers the second"
    return .task("answered_before", asked, seconds: 20) { _ in
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      let told = Lock(0)
      let ask: @Sendable (Int) async -> Void = { question in
        _ = await mistake(question, client)
        told.withLock { $0 += 1 }
      }
      for number in 1...2 {
        Task { await ask(number) }
        await Moment.pass(until: number) { server.asked }
      }
      guard server.asked == 2 else {
        return GradeItem(
          "answered_before",
          passed: false,
          "\(asked): \(server.asked) of them asked it"
        )
      }
      server.answer(at: 1)
      let count = await Moment.pass(until: 1) { told.withLock { $0 } }
      server.giveUp()
      await Moment.pass(until: 2) { told.withLock { $0 } }
      return GradeItem(
        "answered_before",
        passed: count == 1,
        "\(asked): "
          + (count == 1
            ? "it goes on, and the first waits"
            : "it waits until the first has its answer too. Let the call back resume the task itself")
      )
    }
  }

  /// A client asks its own server.
  private static func serversApart<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked = "two clients, each with a server of its own"
    return .task("apart", asked, seconds: 20) { _ in
      let servers = [CallingServer(), CallingServer()]
      let clients = servers.map { Client(server: $0) }
      for (client, question) in [(0, 1), (1, 2), (1, 3)] {
        if let fault = await mistake(question, clients[client]) {
          return GradeItem("apart", passed: false, "\(asked): \(fault)")
        }
      }
      let counts = servers.map(\.asked)
      return GradeItem(
        "apart",
        passed: counts == [1, 2],
        "\(asked): asked \(counts[0]) and \(counts[1]) times, expected 1 and 2"
      )
    }
  }

  /// A client returns what its own server says.
  private static func sameQuestionApart<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked =
      "two clients ask two servers the same at once, and the server that was asked last answers first"
    return .task("apart_at_once", asked, seconds: 20) { _ in
      let servers = [CallingServer(together: .max), CallingServer(together: .max, base: 1)]
      let tasks = Lock<[Task<Int, any Error>]>([])
      for server in servers {
        let client = Client(server: server)
        let ask: @Sendable () async throws -> Int = { try await client.answer(to: 7) }
        tasks.withLock { $0.append(Task { try await ask() }) }
        await Moment.pass(until: 1) { server.asked }
      }
      servers[1].answerOne()
      // Until that answer has come to somebody.
      for _ in 1...20 { await Moment.pass() }
      servers[0].answerOne()
      var told: [Int?] = []
      for task in tasks.withLock({ $0 }) { told.append(try? await task.value) }
      return GradeItem(
        "apart_at_once",
        passed: told == [70, 71],
        "\(asked): "
          + (told == [70, 71]
            ? "each got the answer of its own"
            : "the first server says 70 and the second 71, and their clients returned "
              + told.map { $0.map(String.init) ?? "an error" }.joined(separator: " and "))
      )
    }
  }

  private static func cancelledAsTheServerAnswers<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    cancelledAsAnswered("a task waits for the server's answer, and is cancelled just as it comes") {
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      return AwaitedAnswer(
        ask: { _ = try? await client.answer(to: 7) },
        count: { server.asked },
        come: { server.answerOne() }
      )
    }
  }

  private static func keptOfQuestions<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let what =
      "times four questions: one is answered, one is not, one is asked by a task that was cancelled before, one by a "
      + "task that is cancelled meanwhile"
    return keptOfAnswers(what) {
      let client = Client(server: CallingServer(answersAtOnce: true))
      let patient = Client(server: CallingServer(together: 2, answersAtOnce: true))
      let ask: @Sendable (Int) async -> Void = { _ = try? await client.answer(to: $0) }
      let askPatient: @Sendable (Int) async -> Void = { _ = try? await patient.answer(to: $0) }
      return {
        await ask(1)
        await ask(-1)
        await Task {
          withUnsafeCurrentTask { $0?.cancel() }
          await ask(2)
        }.value
        // The server answers the first when the other has asked.
        let first = Task { await askPatient(3) }
        for _ in 1...3 { await Task.yield() }
        first.cancel()
        await askPatient(4)
        await first.value
      }
    }
  }

  /// Numbers that are given to questions do not come to an end after two bytes of them, nor come again while the first
  /// is in use.
  private static func manyMoreQuestions<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let count = 70_000
    let asked =
      "a task asks, then another \(count) times, some of them what has no answer, then what was asked before, and the "
      + "first is answered last"
    return .task("many", asked, seconds: 120) { _ in
      let server = CallingServer(answersAtOnce: true, keeps: 1)
      let client = Client(server: server)
      let first = Lock<(fault: String?, isTold: Bool)>((nil, false))
      let ask: @Sendable () async -> Void = {
        let fault = await mistake(1, client)
        first.withLock { $0 = (fault, true) }
      }
      Task { await ask() }
      await Moment.pass(until: 1) { server.asked }
      for number in 1...count {
        let question = number % 3 == 0 ? -number : number
        guard let fault = await mistake(question, client) else { continue }
        server.giveUp()
        return GradeItem("many", passed: false, "\(asked): at number \(number) \(fault)")
      }
      // Whatever else has been asked, and however often.
      for question in [1, 2, 40_000, count - 2] {
        let before = server.asked
        let fault = await mistake(question, client)
        guard fault != nil || server.asked != before + 1 else { continue }
        let times = server.asked - before
        server.giveUp()
        return GradeItem(
          "many",
          passed: false,
          "\(asked): \(question) was asked again, and "
            + (fault
              ?? "the server \(times == 0 ? "not" : "\(times) times"). Each call asks it once")
        )
      }
      server.giveUp()
      await Moment.pass(until: 1) { first.withLock { $0.isTold ? 1 : 0 } }
      let (wrong, isTold) = first.withLock { $0 }
      let fault =
        isTold
        ? wrong.map { "the first was told something else: \($0)" }
        : "the server has answered the first, and it waits for ever. A later question had taken its place: while a "
          + "question waits, no other may have its number"
      return GradeItem(
        "many",
        passed: fault == nil,
        "\(asked): \(fault ?? "each got its own answer")"
      )
    }
  }
}
