internal import Exploration
internal import LessonBook
internal import Limiters

/// Who comes to a long line while all of it is served.
extension Grader {
  static func comesToALine<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    comesToALine("the only permit") {
      let limiter = Limiter(limit: 1)
      return { body in try await limiter.run(body) }
    }
  }

  static func comesToALine<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
    comesToALine("the only element") {
      let pool = Pool(size: 1, waiting: Waiting(report: { _ in }))
      return { body in
        let element = await pool.take()
        defer { pool.giveBack(element) }
        try await body()
      }
    }
  }

  private typealias Visiting = @Sendable (_ body: () async throws -> Void) async throws -> Void

  /// The line stands before anything is explored: what matters is where the last is stopped as it joins it.
  private static func comesToALine(
    _ what: String,
    _ make: @escaping @Sendable () -> Visiting
  ) -> GradeBook.Question {
    let count = 10
    return promise(
      "comes_to_line",
      "one has \(what), \(count) wait in line, and another comes while all of them are served",
      tasks: ["the one that has it"] + (1...count).map { "number \($0) in line" }
        + ["the one that comes"],
      preemptions: 1,
      schedules: 2_000
    ) {
      let visit = make()
      let (mayEnd, ends) = Condition.makeCondition()
      // Each goes as far as it can before the next begins.
      let first = Task.immediate { try await visit { try await mayEnd.waitUncancellably() } }
      let line = (1...count).map { _ in Task.immediate { try await visit {} } }
      // Only when it has begun does anybody leave: it is stopped anywhere, and else all go one after the other.
      let comes = Task {
        ends.signal()
        try await visit {}
      }
      for task in [comes, first] + line { try await task.value }
    }
  }
}
