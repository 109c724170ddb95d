internal import Exploration
internal import LessonBook
internal import Limiters

// Who comes just when another leaves the line.
extension Grader {
  /// Who leaves the line leaves its place and no more, also while another joins it.
  static func cancelledAsOthersCome<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_as_others_come",
      "one has the only permit until one that waits, and is cancelled, has left the line; another comes at that moment",
      tasks: ["the one that is cancelled", "the one that cancels it", "the one that comes"],
      preemptions: 1,
      schedules: 3_000,
      standstill:
        "The body that has the permit ends once the cancelled task is told so. It was told nothing: a task that is "
        + "cancelled leaves the line at once, and does not wait for a permit first"
    ) {
      let limiter = Limiter(limit: 1)
      let running = Lock(0)
      let begin: @Sendable () throws -> Void = {
        let count = running.withLock { running in
          running += 1
          return running
        }
        try require(count == 1, "\(count) bodies ran at once, with one permit")
      }
      let end: @Sendable () -> Void = { running.withLock { $0 -= 1 } }
      let visit: @Sendable () async throws -> Void = {
        try await limiter.run {
          try begin()
          await Task.yield()
          end()
        }
      }
      let (gone, comes) = try await limiter.run {
        try begin()
        let (isOver, over) = Condition.makeCondition()
        let gone = Task {
          defer { over.signal() }
          try await visit()
        }
        Task { gone.cancel() }
        let comes = Task { try await visit() }
        try await isOver.waitUncancellably()
        end()
        return (gone, comes)
      }
      if case .failure(let error) = await gone.result, !(error is CancellationError) { throw error }
      try await comes.value
      let last = try? await limiter.run { 3 }
      try require(last == 3, "when all had gone, a task that came was not served")
    }
  }

  /// What was handed to one that is cancelled belongs to the next in line, and not to who comes at that moment.
  static func handedToTheCancelled<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook.Question {
    promise(
      "handed_to_the_cancelled",
      "two wait for the only permit; the first is cancelled just as its turn comes, and another comes behind the second",
      tasks: [
        "the one that is cancelled", "the one behind it", "the one that cancels",
        "the one that comes",
      ],
      preemptions: 2,
      schedules: 6_000,
      isDrawn: true
    ) {
      let limiter = Limiter(limit: 1)
      let begun = Lock<[String]>([])
      let visit: @Sendable (String) async -> Void = { name in
        try? await limiter.run { begun.withLock { $0.append(name) } }
      }
      // They wait when this goes on.
      let tasks = try await limiter.run {
        let gone = Task.immediate { await visit("first") }
        let second = Task.immediate { await visit("second") }
        let cancels = Task { gone.cancel() }
        let comes = Task { await visit("third") }
        return [gone, second, cancels, comes]
      }
      for task in tasks { await task.value }
      let order = begun.withLock { $0.filter { $0 != "first" } }
      try require(
        order == ["second", "third"],
        "the one that came last overtook the one that waited. A permit that was handed to a cancelled task is handed on "
          + "to the next in line in one step: in between it is nobody's to take"
      )
    }
  }

  /// Who was cancelled before it came goes no other way, on which others may come in between.
  static func cancelledInside<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook.Question {
    cancelledInside("one permit") {
      let limiter = Limiter(limit: 1)
      return { body in try await limiter.run(body) }
    }
  }

  static func cancelledInside<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
    cancelledInside("one element") {
      let pool = Pool(size: 1, waiting: Waiting(report: { _ in }))
      return { body in
        let element = await pool.take()
        defer { pool.giveBack(element) }
        try await body()
      }
    }
  }

  private typealias Visiting = @Sendable (_ body: () async throws -> Void) async throws -> Void

  private static func cancelledInside(
    _ what: String,
    _ make: @escaping @Sendable () -> Visiting
  ) -> GradeBook.Question {
    promise(
      "cancelled_inside",
      "two tasks, one of which was cancelled before it came, \(what)",
      tasks: ["the one that was cancelled", "the other"],
      preemptions: 2,
      schedules: 3_000
    ) {
      let visit = make()
      let running = Lock(0)
      let come: @Sendable () async throws -> Void = {
        try await visit {
          let count = running.withLock { running in
            running += 1
            return running
          }
          try require(count == 1, "\(count) were in service at once, with \(what)")
          await Task.yield()
          running.withLock { $0 -= 1 }
        }
      }
      let gone = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        try await come()
      }
      let other = Task { try await come() }
      try await other.value
      if case .failure(let error) = await gone.result, !(error is CancellationError) { throw error }
      // What they had taken is free again.
      try await come()
    }
  }
}
