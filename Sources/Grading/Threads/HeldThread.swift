internal import Basics
internal import LessonBook
internal import Limiters

// What clients and readers are both asked: a task that waits lets go of its thread at once.

extension Grader {
  /// Somebody who asks one more each time, of something that answers nobody yet.
  struct Asking: Sendable {
    /// Asks for what has that number; what comes of it does not matter.
    var ask: @Sendable (Int) async -> Void
    /// Has all be answered.
    var answerAll: @Sendable () -> Void
  }

  /// Who asks and must wait neither sleeps on its thread nor looks for the answer, not for a moment.
  ///
  /// What one wait takes may be taken by something else; what half of many take is not.
  static func letsGoAtOnce(
    _ asked: String,
    _ make: @escaping @Sendable () -> Asking
  ) -> GradeBook.Question {
    let name = "lets_go"
    let count = 15
    return .task(name, asked, seconds: 60) { _ in
      let asking = make()
      let jobs = MeasuredJobs()
      var taken: [MeasuredJobs.Taken] = []
      var tasks: [Task<Void, Never>] = []
      for number in 1...count {
        tasks.append(Task(executorPreference: jobs) { await asking.ask(number) })
        await waitForRest(of: jobs)
        taken.append(jobs.take())
      }
      asking.answerAll()
      for task in tasks { await task.value }
      jobs.end()
      let time = taken.map(\.time).sorted()[count / 2]
      let milliseconds = Double(time / 10_000) / 100
      let isLong = time > mostTime
      let sleeps = taken.count { $0.sleeps > 0 }
      let fault: String? =
        if sleeps > count / 2 {
          "in \(sleeps) of \(count) the thread slept before the task was suspended. Let nothing wait there for the answer, "
            + "not for a moment either: suspend the task at once"
        } else if isLong {
          "half of them took \(milliseconds) ms of the processor or more before the task was suspended. Let "
            + "nothing look there for the answer again and again: suspend the task at once"
        } else {
          nil
        }
      return GradeItem(
        name,
        passed: fault == nil,
        "\(asked): \(fault ?? "each lets go of its thread, after \(milliseconds) ms of the processor")"
      )
    }
  }

  /// How much of the processor a wait may take to begin: ten times what a right answer takes.
  private static let mostTime: Int64 = 300_000

  /// Lets moments pass until the task has begun, and for two of them no job has run.
  private static func waitForRest(of jobs: MeasuredJobs) async {
    var (before, looks) = (jobs.endedAtRest, 0)
    // A job that never ends is another question's.
    for _ in 1...2_000 where looks < 2 {
      await Moment.pass()
      let now = jobs.endedAtRest
      looks = now == before && now != nil ? looks + 1 : 0
      before = now
    }
  }
}

// MARK: Threads that are there to wait

extension Grader {
  /// Where many wait, the program has hardly a thread more than it must.
  ///
  /// - Parameters:
  ///   - asked: what is asked, in words.
  ///   - most: how many more there may be: those of the pool, and what the library adds for itself.
  ///   - begin: has tasks wait, and says how to have them go on, and wait for their ends.
  /// - Returns: the question.
  static func threadsThatWait(
    _ asked: String,
    most: Int,
    _ begin: @escaping @Sendable () async -> @Sendable () async -> Void
  ) -> GradeBook.Question {
    let name = "threads"
    return GradeBook.Question(name: name) { terms in
      let count = terms.waitingThreads
      return GradeBook.Question.task(name, asked, seconds: 60) { _ in
        let before = count()
        let end = await begin()
        // Those that are only there to come to rest have done so after a few looks, or wait for good.
        var more = count() - before
        for _ in 1...100 where more > most {
          await Moment.pass()
          more = count() - before
        }
        await end()
        return GradeItem(
          name,
          passed: more <= most,
          "\(asked): "
            + (more > most
              ? "\(more) threads were started that only wait. Let tasks wait, and start no thread for that"
              : "no thread waits with them")
        )
      }.ask(terms)
    }
  }
}
