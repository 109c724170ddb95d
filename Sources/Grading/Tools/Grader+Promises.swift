internal import Exploration
internal import LessonBook

/// Questions that are explored: a few tasks, and what must be so in every order of their steps.
extension Grader {
  /// What these files get wrong takes no more, and a look at each order takes no time.
  static let onePreemption = 1

  /// Explores a promise, on its own thread.
  ///
  /// - Parameters:
  ///   - name: the figure that checks name.
  ///   - asked: what is asked, for the sentence.
  ///   - tasks: what the tasks are that `body` starts, in that order, for the story.
  ///   - preemptions: how often a schedule may take the turn from a task that could go on.
  ///   - schedules: how many schedules are looked at, at most.
  ///   - isDrawn: whether so many are drawn instead, with as many changes of turn, where those in order are too many.
  ///   - standstill: what it means where nothing can run any more, for bodies that wait for each other by design.
  ///   - body: what is explored.
  /// - Returns: the question.
  static func promise(
    _ name: String,
    _ asked: String,
    tasks: [String] = [],
    preemptions: Int = 2,
    schedules: Int = 20_000,
    isDrawn: Bool = false,
    standstill: String? = nil,
    _ body: @escaping @Sendable () async throws -> Void
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { terms in
      do throws(ExplorationFailure) {
        let verdict = try explore(
          "yours",
          strategy: isDrawn
            ? .pct(schedules: schedules, depth: preemptions + 1, seed: terms.seed) : .exhaustive,
          preemptions: isDrawn ? nil : preemptions,
          schedules: schedules,
          // A right answer takes seconds. One that goes on for ever in some schedules takes as long as it may.
          within: .seconds(60),
          besides: Scenario.aroundAnswers,
          body
        )
        // As where a limiter is explored.
        guard verdict.givenUp * 10 < verdict.schedules else {
          return GradeItem(
            name,
            passed: false,
            "\(asked): in \(verdict.givenUp) of \(verdict.schedules) schedules \(endless)"
          )
        }
        let extent =
          verdict.schedules == 1 && verdict.ranEverySchedule
          ? "the only schedule"
          : "\(verdict.schedules) schedules, \(isDrawn ? "drawn" : which(preemptions, verdict))"
        let left = verdict.givenUp == 0 ? "" : ", \(verdict.givenUp) given up as too long"
        return GradeItem(name, passed: true, "\(asked): right in \(extent)\(left)")
      } catch {
        return GradeItem(
          name,
          passed: false,
          "\(asked): wrong in at least one schedule: \(what(error))"
            + (error.isStandstill ? standstill.map { ". \($0)" } ?? "" : ""),
          story: story(error, tasks)
        )
      }
    }
  }

  private static let endless =
    "it comes to no end. Look for a loop that tries the same again and finds the same, and for waits that ask again and "
    + "again"

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

  /// What leads to it that the same steps lead to different runs.
  static let differentRuns =
    "the same steps led to different runs. The grading sees tasks, actors and locks, and of these only what is made "
    + "anew with each object. It cannot always follow who looks again after a 'Task.sleep', a clock, chance, a thread or "
    + "a dispatch queue of its own, and never a static that outlives the object, or an address such as an "
    + "'ObjectIdentifier', which another object may have later: is there one of these?"

  /// How an exploration calls a lock that no code of an answer's takes.
  private static let runtimesLock = "while its cancellation handler runs"

  private static let resumedUnderLock =
    "two wait for each other for ever. One holds a lock and resumes a continuation; the cancellation handler of the "
    + "task that waits there runs meanwhile, and waits for that lock, and until it has ended nobody resumes its task. "
    + "Decide under the lock, and resume when it is free"

  /// What went wrong, without the line of ours that found it.
  static func what(_ failure: ExplorationFailure) -> String {
    if case .diverged = failure.kind { return differentRuns }
    if failure.message.contains(runtimesLock) { return resumedUnderLock }
    if case .tooManySteps = failure.kind { return endless }
    // The closure is ours.
    if case .thrown(let error) = failure.kind {
      return "a task was told an error that was not due: \(error)"
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

extension ExplorationFailure {
  fileprivate var isStandstill: Bool { if case .deadlock = kind { true } else { false } }
}
