internal import Synchronization

/// What a learner writes in the exercise on databases: a pool that survives a broken connection.
package protocol LearnerConnections: Sendable {
  /// Makes a pool of at most `limit` connections; `open` opens one.
  init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection)

  /// The answer to a question, asked again on another connection if the first broke.
  func answer(to question: Int) async throws -> Int
}

/// A connection to a database, which answers a number with its square.
package protocol LearnerConnection: AnyObject, Sendable {
  /// - Throws: `ConnectionBroken` if the connection is of no use any more; other errors are the question's.
  func answer(to question: Int) async throws -> Int
}

/// The connection is of no use any more; another one may be.
package struct ConnectionBroken: Error, Hashable {
  package init() {}
}

/// A database that is none: it counts what is done to its connections.
final class FakeDatabase: Sendable {
  struct Negative: Error {}
  struct Unopened: Error {}

  struct Counts {
    var opened = 0
    /// Answering at this moment, and the most at once.
    var busy = 0
    var mostBusy = 0
    /// Connections that somebody still has.
    var alive = 0
    /// Questions put to connections.
    var asked = 0
    /// Questions put to a connection that had broken before.
    var askedBroken = 0
    /// Questions put to a connection that was answering another.
    var askedBusy = 0
  }

  private let state = Mutex(Counts())
  private let unopened: Int
  private let openingError: any Error
  private let broken: Int
  private let breaksAt: Int
  private let isUnopened: @Sendable (Int) -> Bool
  private let onQuestion: @Sendable (Int) throws -> Void
  private let onAnswer: @Sendable () async throws -> Void

  /// The first so many cannot be opened, nor those of which `isUnopened` says so by their number; of the others the
  /// first so many break, at the question of that number.
  ///
  /// What cannot be opened throws `openingError`.
  /// Each question is told to `onQuestion`, and waits for `onAnswer` before it is answered.
  init(
    unopened: Int = 0,
    openingError: any Error = Unopened(),
    broken: Int = 0,
    breaksAt: Int = 1,
    isUnopened: @escaping @Sendable (Int) -> Bool = { _ in false },
    onQuestion: @escaping @Sendable (Int) throws -> Void = { _ in },
    onAnswer: @escaping @Sendable () async throws -> Void = { await Task.yield() }
  ) {
    self.unopened = unopened
    self.openingError = openingError
    self.broken = broken
    self.breaksAt = breaksAt
    self.isUnopened = isUnopened
    self.onQuestion = onQuestion
    self.onAnswer = onAnswer
  }

  var counts: Counts { state.withLock { $0 } }

  func open() async throws -> any LearnerConnection {
    let number = state.withLock { state in
      state.opened += 1
      return state.opened
    }
    await Task.yield()
    if number <= unopened || isUnopened(number) { throw openingError }
    return Connection(self, breaks: number <= unopened + broken)
  }

  private final class Connection: LearnerConnection {
    private enum State { case idle, busy, broken }

    private let database: FakeDatabase
    private let breaks: Bool
    private let state = Mutex(State.idle)
    private let questions = Mutex(0)

    init(_ database: FakeDatabase, breaks: Bool) {
      self.database = database
      self.breaks = breaks
      database.state.withLock { $0.alive += 1 }
    }

    deinit { database.state.withLock { $0.alive -= 1 } }

    func answer(to question: Int) async throws -> Int {
      let before = state.withLock { state in
        defer { if state == .idle { state = .busy } }
        return state
      }
      let number = questions.withLock { number in
        number += 1
        return number
      }
      database.state.withLock { counts in
        counts.asked += 1
        if before == .broken { counts.askedBroken += 1 }
        if before == .busy { counts.askedBusy += 1 }
        counts.busy += 1
        counts.mostBusy = max(counts.mostBusy, counts.busy)
      }
      let isLast = breaks && number >= database.breaksAt
      do {
        try database.onQuestion(question)
        try await database.onAnswer()
      } catch {
        database.state.withLock { $0.busy -= 1 }
        state.withLock { $0 = .idle }
        throw error
      }
      database.state.withLock { $0.busy -= 1 }
      state.withLock { $0 = isLast ? .broken : .idle }
      if isLast { throw ConnectionBroken() }
      if question < 0 { throw Negative() }
      return question * question
    }
  }
}
