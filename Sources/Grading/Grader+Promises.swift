internal import Exploration
internal import LessonBook

/// Questions that are explored: a few tasks, and what must be so in every order of their steps.
extension Grader {
  /// Explores a promise, on its own thread.
  ///
  /// - Parameters:
  ///   - name: the figure that checks name.
  ///   - asked: what is asked, for the sentence.
  ///   - tasks: what the tasks are that `body` starts, in that order, for the story.
  ///   - preemptions: how often a schedule may take the turn from a task that could go on.
  ///   - schedules: how many schedules are looked at, at most.
  ///   - body: what is explored.
  /// - Returns: the question.
  static func promise(
    _ name: String,
    _ asked: String,
    tasks: [String] = [],
    preemptions: Int = 2,
    schedules: Int = 20_000,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { _ in
      do throws(ExplorationFailure) {
        let verdict = try explore(
          "yours",
          preemptions: preemptions,
          schedules: schedules,
          besides: Scenario.aroundAnswers,
          body
        )
        let extent =
          verdict.schedules == 1 && verdict.ranEverySchedule
          ? "the only schedule" : "\(verdict.schedules) schedules, \(which(preemptions, verdict))"
        let left = verdict.givenUp == 0 ? "" : ", \(verdict.givenUp) given up as too long"
        return GradeItem(
          name,
          // As where a limiter is explored.
          passed: verdict.givenUp * 10 < verdict.schedules,
          "\(asked): right in \(extent)\(left)"
        )
      } catch {
        return GradeItem(
          name,
          passed: false,
          "\(asked): not in every schedule: \(what(error))",
          story: story(error, tasks)
        )
      }
    }
  }

  /// Which schedules were looked at.
  private static func which(_ preemptions: Int, _ verdict: ExplorationVerdict) -> String {
    let bound =
      switch preemptions {
      case 0: "without a pre-emption"
      case 1: "with at most 1 pre-emption"
      default: "with at most \(preemptions) pre-emptions"
      }
    return verdict.ranEverySchedule ? "those " + bound : "some of those " + bound
  }

  /// What went wrong, without the line of ours that found it.
  static func what(_ failure: ExplorationFailure) -> String {
    if case .diverged = failure.kind {
      return
        "the same steps led to different runs. What is yours to keep must be made anew with each object: is there "
        + "a static, or does it ask a clock, chance or a thread of its own?"
    }
    let message = failure.message.isEmpty ? failure.description : failure.message
    return message.replacing(#/ \((Grader|Learner)[A-Za-z+]*\.swift:[0-9]+\)/#, with: "")
  }

  /// The steps that led there, and who is who among the tasks.
  static func story(_ failure: ExplorationFailure, _ tasks: [String]) -> String {
    if failure.steps.isEmpty { return "" }
    let names = tasks.enumerated().map { "task \($0 + 2) is \($1)" }
    let legend = (["task 1 is the grading"] + names).joined(separator: ", ")
    return "\(failure.steps)\n  \(legend)"
  }
}
