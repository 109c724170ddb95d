internal import Exploration
internal import LessonBook
internal import Limiters

extension Grader {
  /// Who waits leaves when it is cancelled and at no other time, however long the permit is away.
  static func heldForAYear<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    let advice = "Who waits is served, however long it takes"
    return promise(
      "held_for_a_year",
      "one has the only permit for a year, and two wait for it meanwhile",
      tasks: ["the first in line", "the second"],
      preemptions: 0,
      schedules: 20,
      standstill: advice
    ) {
      let limiter = Limiter(limit: 1)
      let isTaken = Lock(true)
      let visit: @Sendable () async throws -> Void = {
        try await limiter.run {
          let isAlone = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
          }
          try require(isAlone, "a body ran beside another, with one permit")
          await Task.yield()
          isTaken.withLock { $0 = false }
        }
      }
      let waiters = try await limiter.run {
        let waiters = [Task { try await visit() }, Task { try await visit() }]
        try await Task.sleep(for: .seconds(365 * 24 * 3_600))
        isTaken.withLock { $0 = false }
        return waiters
      }
      for (place, waiter) in zip(["first", "second"], waiters) {
        guard case .failure(let error) = await waiter.result else { continue }
        if error is ExplorationFailure { throw error }
        try require(
          false,
          "the \(place) in line, whom nobody cancelled, was told \(error). \(advice)"
        )
      }
    }
  }
}
