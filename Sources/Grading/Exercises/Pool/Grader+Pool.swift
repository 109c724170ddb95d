internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters
internal import Mechanisms

/// What pools of numbered elements are asked.
extension Grader {
  /// Lesson 8: every waiter resumed exactly once.
  package static func pool<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook {
    let entry = CatalogueEntry(LearnerPoolMechanism<Pool>.self)
    return GradeBook([
      elements(type),
      explored(entry, "once", tasks: 2, limit: 1),
      explored(entry, "once_three", tasks: 3, limit: 1),
      explored(entry, "order", tasks: 3, limit: 1, overtaking: 0),
      explored(entry, "two_elements", tasks: 3, limit: 2),
      explored(entry, "inside", tasks: 2, limit: 1, inside: true),
      insideThree(entry),
      comesToALine(type),
      cancelledInside(type),
      limitReached(entry),
      insideTwo(entry),
      insideTwoOfFour(entry),
      hidden(entry, "limits", HiddenWorkload.limits),
      hidden(entry, "long_line", HiddenWorkload.longLines),
      hidden(entry, "throwing", HiddenWorkload.throwing),
      urgencies(entry),
      wholeLimit(entry),
      grownLine(entry),
      poolsApart(type),
      kept(entry),
      keptInLine(entry),
      keptOfAlone(entry),
      keptOfCancelled(entry),
      keptOfLimiters(entry, "pools"),
      cancelledBefore(entry),
      manyVisits(entry),
      limitAfterMany(entry),
      anyMoment(entry, cancels: false),
      Storm.question(entry),
    ]).about(entry)
  }

  private static func poolsApart<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
    promise(
      "apart",
      "two pools of one element, a task in one and two in the other",
      tasks: ["at one pool", "at the other", "at the other too"],
      preemptions: onePreemption,
      standstill:
        "The first of each end when both have an element, each of a pool of its own. They never had: look for what pools "
        + "share"
    ) {
      let one = Pool(size: 1, waiting: Waiting(report: { _ in }))
      let other = Pool(size: 1, waiting: Waiting(report: { _ in }))
      let lent = Lock(0)
      // Two pools that share one element never let the two tasks meet.
      let meeting = Meeting()
      let visit: @Sendable (_ body: () async -> Void) async throws -> Void = { body in
        let element = await other.take()
        let count = lent.withLock { count in
          count += 1
          return count
        }
        try require(count == 1, "\(count) tasks have an element of a pool of one")
        await body()
        lent.withLock { $0 -= 1 }
        other.giveBack(element)
      }
      let meet: @Sendable () async -> Void = {
        let element = await one.take()
        await meeting.come()
        one.giveBack(element)
      }
      async let first: Void = meet()
      async let second: Void = visit { await meeting.come() }
      async let third: Void = visit { await Task.yield() }
      _ = try await (first, second, third)
    }
  }

  /// A pool lends the elements 1 to its size, none to two tasks at once.
  static func elements<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
    .task("elements", "three tasks and three elements", seconds: 10) { _ in
      let pool = Pool(size: 3, waiting: Waiting(report: { _ in }))
      for _ in 1...3 {
        var lent: [Int] = []
        for _ in 1...3 { lent.append(await pool.take()) }
        guard Set(lent) == [1, 2, 3] else {
          return GradeItem(
            "elements",
            passed: false,
            "three tasks took \(ListText.all(lent.map(String.init))), expected 1, 2 and 3, each once"
          )
        }
        for element in lent { pool.giveBack(element) }
      }
      return GradeItem("elements", passed: true, "three tasks in a row get 1, 2 and 3")
    }
  }
}
