internal import LessonBook

/// What a body throws whose limiter is to keep nothing of it.
private struct Thrown: Error {}

/// What is kept of visits that do not end as most do.
extension Grader {
  /// Of a body that throws nothing is kept, and its permit comes back each time.
  static func keptOfThrowing<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    keptOfVisits("kept_throwing", "bodies that throw, one after the other") { trial in
      await trial.grows {
        let limiter = Limiter(limit: 1)
        return { try? await limiter.run { throw Thrown() } }
      }
    }
  }

  /// Of a task that was cancelled before it came nothing is kept.
  static func keptOfCancelledBefore<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook.Question {
    keptOfVisits("kept_cancelled_before", "visits of a task that was cancelled before") { trial in
      // The one task makes all of them.
      let task = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await trial.grows {
          let limiter = Limiter(limit: 1)
          return { try? await limiter.run {} }
        }
      }
      return await task.value
    }
  }

  private static func keptOfVisits(
    _ name: String,
    _ what: String,
    _ grows: @escaping @Sendable (HeapTrial) async -> Bool
  ) -> GradeBook.Question {
    let asked = "\(HeapTrial.count) \(what)"
    return GradeBook.Question(name: name) { terms in
      let trial = HeapTrial(heap: terms.heap)
      return GradeBook.Question.task(name, asked, seconds: 60) { _ in
        let isKept = await grows(trial)
        return GradeItem(
          name,
          passed: !isKept,
          "\(asked): "
            + (isKept
              ? "memory grows with each, so something is kept of them. Look what is put into an array or a dictionary "
                + "and not taken out again"
              : "nothing is kept of them")
        )
      }.ask(terms)
    }
  }
}
