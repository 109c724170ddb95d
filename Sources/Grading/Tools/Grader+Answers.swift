internal import Basics
internal import LessonBook
internal import Limiters

// What clients and readers are both asked: they ask for something, and somebody calls them back.

/// One answer that somebody waits for.
struct AwaitedAnswer: Sendable {
  /// Asks for it; what comes of it does not matter.
  var ask: @Sendable () async -> Void
  /// How often it was asked for.
  var count: @Sendable () -> Int
  /// Lets it come.
  var come: @Sendable () -> Void
}

extension Grader {
  /// Who lets a task go on holds no lock that the task's cancellation waits for.
  static func cancelledAsAnswered(
    _ asked: String,
    _ make: @escaping @Sendable () -> AwaitedAnswer
  ) -> GradeBook.Question {
    let name = "cancelled_as_answered"
    return .task(name, asked, seconds: 30) { _ in
      let answer = make()
      let executor = CancelledAsItGoesOn()
      let task = Task(executorPreference: executor) { await answer.ask() }
      await Moment.pass(until: 1, answer.count)
      // Until it waits: its first job ends with that.
      await Moment.pass(until: 1) { executor.ended }
      executor.plan { task.cancel() }
      answer.come()
      await task.value
      return GradeItem(
        name,
        passed: !executor.hadToWait,
        "\(asked): "
          + (executor.hadToWait
            ? "its cancellation had to wait for a lock that is held while the task's continuation is resumed. A little "
              + "earlier, 'resume' would have waited for the cancellation too, and both for ever. Resume when the lock "
              + "is free"
            : "neither waits for the other")
      )
    }
  }

  /// Of those who have asked nothing is kept, whatever they were told.
  static func keptOfAnswers(
    _ what: String,
    _ make: @escaping @Sendable () -> @Sendable () async -> Void
  ) -> GradeBook.Question {
    let asked = "\(HeapTrial.count) \(what)"
    return GradeBook.Question(name: "kept") { terms in
      let trial = HeapTrial(heap: terms.heap)
      return GradeBook.Question.task("kept", asked, seconds: 120) { _ in
        let grows = await trial.grows { make() }
        return GradeItem(
          "kept",
          passed: !grows,
          "\(asked): \(HeapTrial.told(grows: grows))"
        )
      }.ask(terms)
    }
  }
}
