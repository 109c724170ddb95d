internal import Basics
internal import LessonBook
internal import Limiters

// Lesson 4: what comes in between while a task is told.

extension Grader {
  /// Three wait for the same, and the first is told between two locks of who tells the second.
  static func sameQuestionAtOnce<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked =
      "three tasks ask the same, and two of them are told something else at the same moment"
    return .task("same_at_once", asked, seconds: 60) { _ in
      for point in 1...20 {
        let server = CallingServer(together: .max, counts: true)
        let client = Client(server: server)
        let told = Lock<[Int: Int]>([:])
        let ask: @Sendable (Int) async -> Void = { number in
          let answer = try? await client.answer(to: 7)
          told.withLock { $0[number] = answer ?? -1 }
        }
        for number in 0...2 {
          Task { await ask(number) }
          await Moment.pass(until: number + 1) { server.asked }
        }
        guard server.asked == 3 else {
          return GradeItem(
            "same_at_once",
            passed: false,
            "\(asked): \(server.asked) of them asked the server"
          )
        }
        let isReached = await tellTwo(server, at: point)
        server.answer(at: 0)
        await Moment.pass(until: 3) { told.withLock { $0.count } }
        let answers = told.withLock { $0 }
        let wrong = (0...2).first { answers[$0] != 70 + $0 }
        if let wrong {
          let what = answers[wrong].map { "you returned \($0)" } ?? "waits for ever"
          return GradeItem(
            "same_at_once",
            passed: false,
            "\(asked): number \(wrong + 1) was told \(70 + wrong), and \(what). Find who waits, and take it out of "
              + "the line, under one lock"
          )
        }
        if !isReached { break }
      }
      return GradeItem("same_at_once", passed: true, "\(asked): each got what it was told")
    }
  }

  /// Tells the second, and at a point of the thread that does so the first, on another.
  ///
  /// - Returns: whether there is such a point.
  private static func tellTwo(_ server: CallingServer, at point: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      OSThread("tells") {
        let isTold = Lock(false)
        let turn = LockTurn(at: point) {
          OSThread("tells too") {
            server.answer(at: 0)
            isTold.withLock { $0 = true }
          }.detach()
          OthersAtRest.wait(atMost: 1_000) { isTold.withLock { $0 } }
        }
        turn.begin()
        server.answer(at: 1)
        let isReached = !turn.giveUp()
        if !isReached { server.answer(at: 0) }
        continuation.resume(returning: isReached)
      }.detach()
    }
  }

  /// An answer that comes while another thread has the client's lock is told all the same.
  static func answeredBesideALock<Client: LearnerClient>(
    _ type: Client.Type
  ) -> GradeBook.Question {
    let asked = "a task asks, and another thread has your lock just as the server answers"
    return .task("lock_taken", asked, seconds: 20) { _ in
      let server = CallingServer(together: .max)
      let client = Client(server: server)
      let told = Lock<[Int?]>([])
      let ask: @Sendable () async -> Void = {
        let answer = try? await client.answer(to: 7)
        told.withLock { $0.append(answer) }
      }
      // Its own lock is taken as it asks, too.
      let jobs = MeasuredJobs { job in TakenLock.during(job) }
      Task(executorPreference: jobs) { await ask() }
      await Moment.pass(until: 1) { server.asked }
      await onOwnThread { TakenLock.during { server.giveUp(here: true) } }
      await Moment.pass(until: 1) { told.withLock { $0.count } }
      let answers = told.withLock { $0 }
      if !answers.isEmpty { jobs.end() }
      return GradeItem(
        "lock_taken",
        passed: answers == [70],
        "\(asked): "
          + (answers == [70]
            ? "it gets its answer"
            : (answers.isEmpty ? "it waits for ever" : "the answer is 70, and it got another")
              + ". A try at a lock fails where another thread has it. Wait for the lock, with 'withLock'")
      )
    }
  }
}
