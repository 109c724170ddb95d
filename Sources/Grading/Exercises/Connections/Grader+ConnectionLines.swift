internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters

/// What befalls who has the only connection while others wait for it.
private enum Misfortune: CaseIterable {
  case cannotOpen, openingIsCancelled, openerIsCancelled, breaks, breaksAndCannotOpen, fails,
    isCancelled,
    isCancelledAndBreaks, breaksForTheCancelled

  var isOfOpening: Bool {
    [.cannotOpen, .openingIsCancelled, .openerIsCancelled].contains(self)
  }

  var isOfBreaking: Bool { [.breaks, .breaksAndCannotOpen, .breaksForTheCancelled].contains(self) }

  /// What happens, in words.
  var asked: String {
    switch self {
    case .cannotOpen: "ask, one connection, and the first eleven times it cannot be opened"
    case .openingIsCancelled:
      "ask, one connection, and the first eleven times 'open' throws CancellationError"
    case .openerIsCancelled:
      "ask, one connection, and the first eleven are cancelled while it is opened, and it cannot be"
    case .breaksAndCannotOpen:
      "ask, one connection; each breaks at its first question, and the next cannot be opened"
    case .breaksForTheCancelled:
      "ask, one connection; each breaks at its first question, and every second in line was cancelled"
    case .breaks: "ask, one connection, and the first eleven break at their second question"
    case .fails: "ask, one connection, and each question fails"
    case .isCancelled:
      "ask, one connection, and each is cancelled while it is answered, and told CancellationError"
    case .isCancelledAndBreaks:
      "ask, one connection, and each is cancelled while it is answered, and its connection breaks"
    }
  }
}

extension Grader {
  private struct TimedOut: Error {}

  /// One in line is told of one place, however many wait, and a connection that is good goes on to the next.
  static func misfortunes<Pool: LearnerConnections>(_ type: Pool.Type) -> [GradeBook.Question] {
    Misfortune.allCases.map { misfortune(type, $0) }
  }

  /// Twelve ask, so that each thing happens with eleven in line, with ten, and so on.
  private static func misfortune<Pool: LearnerConnections>(
    _ type: Pool.Type,
    _ misfortune: Misfortune
  ) -> GradeBook.Question {
    let count = 12
    return check("others_in_line", "\(count) \(misfortune.asked)") {
      let tasks = Lock<[Int: Task<Void, Never>]>([:])
      let asked = Lock<Set<Int>>([])
      let door = SlowDoor()
      let database = FakeDatabase(
        unopened: misfortune.isOfOpening ? count - 1 : 0,
        openingError: misfortune == .openingIsCancelled
          ? CancellationError() : FakeDatabase.Unopened(),
        broken: misfortune.isOfBreaking ? count - 1 : 0,
        breaksAt: misfortune == .breaks ? 2 : 1,
        isUnopened: { misfortune == .breaksAndCannotOpen && $0 % 2 == 0 },
        onQuestion: { question in
          if misfortune == .fails { throw TimedOut() }
          guard misfortune == .isCancelled || misfortune == .isCancelledAndBreaks else { return }
          // Who is cancelled may ask again, or not.
          guard asked.withLock({ $0.insert(question).inserted }) else { return }
          tasks.withLock { $0[question] }?.cancel()
          throw misfortune == .isCancelled ? CancellationError() : ConnectionBroken()
        }
      )
      let pool = Pool(limit: 1) {
        try await door.pass()
        if misfortune == .openerIsCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        return try await database.open()
      }
      let told = Lock(0)
      let scheduler = VirtualScheduler(workers: 1)
      for question in 1...count {
        let task = Task(executorPreference: scheduler) { @Sendable in
          _ = try? await pool.answer(to: question)
          told.withLock { $0 += 1 }
        }
        tasks.withLock { $0[question] = task }
      }
      var looksInVain = 0
      while told.withLock({ $0 }) < count {
        let before = told.withLock { $0 }
        // Until all others stand in line, or wait for the place of who opens one.
        _ = await scheduler.onOwnThread { $0.runUntilIdle() }
        if misfortune == .breaksForTheCancelled, before == 0, looksInVain == 0 {
          for question in 2...count where question % 2 == 0 {
            tasks.withLock { $0[question] }?.cancel()
          }
        }
        if door.count > 1 {
          return
            "\(door.count) connections were opened at once, with a limit of 1: of one place that is free again tell one "
            + "in line, however many wait"
        }
        if door.open() || told.withLock({ $0 }) > before { continue }
        // What an answer has started without the task's executor takes its time.
        await Moment.pass()
        looksInVain += 1
        if looksInVain == 3_000 { return "\(count - before) of them wait for ever" }
      }
      let opened = database.counts.opened
      let due =
        switch misfortune {
        case .cannotOpen, .openingIsCancelled, .openerIsCancelled, .breaks: count
        case .breaksForTheCancelled: count + 1
        case .breaksAndCannotOpen: 2 * count
        // The last who was cancelled may ask once more.
        case .isCancelledAndBreaks: count + 1
        case .fails, .isCancelled: 1
        }
      if misfortune == .cannotOpen || misfortune == .openingIsCancelled, opened < count {
        return
          "'open' was called \(opened) times for \(count) who ask: who waits gets no error of a connection that was opened "
          + "for another. Open one for them"
      }
      return opened <= due
        ? nil
        : "\(opened) connections were opened, where \(due) \(due == 1 ? "is" : "are") enough: a good one was given up "
          + "while others waited for it"
    }
  }
}
