internal import Experiments
internal import Exploration
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering

/// What the three limiters of the course are asked.
extension Grader {
  /// Lesson 7: never more than the limit, permits conserved when a body throws, first come first served.
  package static func limiter<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    return GradeBook([
      values(type),
      explored(entry, "safety", tasks: 2, limit: 1),
      explored(entry, "safety_three", tasks: 3, limit: 1),
      explored(entry, "order", tasks: 3, limit: 1, overtaking: 0),
      explored(entry, "errors", tasks: 2, limit: 1, fails: true),
      explored(entry, "inside", tasks: 2, limit: 1, inside: true),
      explored(entry, "inside_errors", tasks: 2, limit: 1, fails: true, inside: true),
      insideThree(entry),
      comesToALine(type),
      cancelledInside(type),
      permitBack(type),
      permitBackOfCancelled(type),
      limitReached(entry),
      insideTwo(entry),
      insideTwoOfFour(entry),
      hidden(entry, "limits", HiddenWorkload.limits),
      hidden(entry, "long_line", HiddenWorkload.longLines),
      hidden(entry, "throwing", HiddenWorkload.throwing),
      urgencies(entry),
      wholeLimit(entry, most: 1 << 62),
      grownLine(entry),
      apart(type),
      kept(entry),
      keptInLine(entry),
      keptOfAlone(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      keptOfLimiters(entry),
      cancelledBefore(entry, servesAll: true),
      manyVisits(entry),
      limitAfterMany(entry),
      longRun(entry),
      anyMoment(entry, cancels: false),
      manyThrown(entry),
      children(type),
      nested(type),
      Storm.question(entry),
    ]).about(entry)
  }

  /// Lesson 9: the same under cancellation.
  package static func cancellableLimiter<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    let questions = [
      values(type),
      explored(entry, "safety", tasks: 2, limit: 1),
      explored(entry, "cancellation", tasks: 2, limit: 1, cancels: true),
      explored(entry, "cancellation_three", tasks: 3, limit: 1, cancels: true),
      explored(entry, "order", tasks: 3, limit: 1, overtaking: 0),
      explored(entry, "inside", tasks: 2, limit: 1, inside: true),
      explored(entry, "inside_errors", tasks: 2, limit: 1, fails: true, inside: true),
      insideThree(entry),
      comesToALine(type),
      insideCancelled(entry),
      insideCancelledTwo(entry),
      cancelledAsOthersCome(type),
      handedToTheCancelled(type),
      cancelledAtOnce(entry),
      permitBack(type),
      shortLines(entry),
      insideTwo(entry),
      insideTwoOfFour(entry),
      hidden(entry, "limits", HiddenWorkload.limits),
      hidden(entry, "long_line", HiddenWorkload.longLines),
      hidden(entry, "waves", HiddenWorkload.waves),
      urgencies(entry),
      wholeLimit(entry, most: 1 << 62),
      grownLine(entry),
      cancelledCrowd(entry),
      apart(type),
      kept(entry, cancels: true),
      keptOfAlone(entry),
      keptOfGranted(entry),
      keptBehindOne(entry),
      keptInLine(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      keptOfLimiters(entry),
      cancelledBefore(entry),
      manyVisits(entry),
      limitAfterMany(entry),
      manyThrown(entry),
      manyCancelled(entry),
      anyMoment(entry),
      children(type),
      nested(type),
    ]
    return GradeBook(questions + cancelledBody(type) + [Storm.question(entry, cancels: true)])
      .about(entry)
  }

  /// Lesson 16: everything, on seeds nobody has seen.
  package static func design<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    let questions = [
      values(type),
      explored(entry, "safety", tasks: 3, limit: 1),
      explored(entry, "errors", tasks: 2, limit: 1, fails: true),
      permitBack(type),
      explored(entry, "cancellation", tasks: 2, limit: 1, cancels: true),
      explored(entry, "inside", tasks: 2, limit: 1, inside: true),
      insideFour(entry),
      comesToALine(type),
      insideTwo(entry),
      insideCancelled(entry),
      shortLines(entry, overtakings: 1),
      hidden(entry, "limits", overtakings: 1, HiddenWorkload.limits),
      hidden(entry, "long_line", overtakings: 1, HiddenWorkload.longLines),
      hidden(entry, "throwing", overtakings: 1, HiddenWorkload.throwing),
      hidden(entry, "waves", overtakings: 1, HiddenWorkload.waves),
      urgencies(entry, overtakings: 1),
      wholeLimit(entry, most: .max),
      apart(type),
      kept(entry, cancels: true),
      keptOfGranted(entry),
      keptBehindOne(entry),
      keptInLine(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      keptOfLimiters(entry),
      cancelledBefore(entry, overtakings: 1),
      manyVisits(entry),
      limitAfterMany(entry),
      anyMoment(entry, overtakings: 1),
      explored(entry, "liveness", tasks: 4, limit: 2, cancels: true, isRandom: true),
      explored(entry, "fairness", tasks: 4, limit: 1, overtaking: 1, isRandom: true),
      // Two who come, and the second in line is overtaken by both, the first by one.
      explored(entry, "fairness_of_five", tasks: 5, limit: 1, overtaking: 1, isRandom: true),
      throughput(entry),
      grownLine(entry, overtakings: 1),
      longRun(entry, overtakings: 1),
      heldForAYear(type),
      cancelledCrowd(entry, overtakings: 1),
      children(type),
      nested(type),
    ]
    return GradeBook(questions + cancelledBody(type) + [Storm.question(entry, cancels: true)])
      .about(entry)
  }

  /// A limiter that lets in one at a time is safe and useless.
  static func limitReached(_ entry: CatalogueEntry) -> GradeBook.Question {
    .task("limit_reached", "12 tasks of 100 ms, limit 3") { _ in
      let run = await run(entry, limit: 3, Workload(count: 12, service: .fixed(100_000_000)))
      let summary = run.summary
      let passed =
        summary.peakRunning == 3 && summary.finished == 12 && summary.makespan == 400_000_000
        && summary.violations.isEmpty
      return GradeItem(
        "limit_reached",
        passed: passed,
        "12 tasks of 100 ms, limit 3: at most \(summary.peakRunning) ran at once, "
          + "\(summary.finished) finished, makespan \(DurationText.text(summary.makespan)), expected "
          + "3, 12 and 400 ms",
        story: passed ? "" : picture(run)
      )
    }
  }

  private static func cancelledAtOnce(_ entry: CatalogueEntry) -> GradeBook.Question {
    .task("at_once", "a task cancelled at 50 ms") { _ in
      let run = await run(
        entry,
        limit: 1,
        Workload(
          count: 3,
          service: .fixed(100_000_000),
          cancellations: .chosen([2: 50_000_000])
        )
      )
      let lives = TaskLife.all(in: run.events, tasks: 3)
      let left = lives[1].end == .cancelledWhileWaiting ? lives[1].ended : nil
      let passed = left == 50_000_000 && lives[2].admitted == 100_000_000
      return GradeItem(
        "at_once",
        passed: passed,
        passed
          ? "a task cancelled at 50 ms leaves the line at 50 ms, and the next takes its place"
          : "a task cancelled at 50 ms should leave the line at 50 ms without having run, and the next "
            + "be admitted at 100 ms",
        story: passed ? "" : picture(run)
      )
    }
  }

  /// A limiter knows nothing of another one's permits and line.
  private static func apart<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    promise(
      "apart",
      "two limiters of one permit, a task in one and two in the other",
      tasks: ["in one limiter", "in the other", "in the other too"],
      preemptions: onePreemption,
      standstill:
        "The first of each end when both are in service, each in a limiter of its own. They never were: look for a permit or "
        + "a line that limiters share"
    ) {
      let one = Limiter(limit: 1)
      let other = Limiter(limit: 1)
      let inService = Lock(0)
      // Two limiters that share one permit never let the two tasks meet.
      let meeting = Meeting()
      let visit: @Sendable (_ body: () async -> Void) async throws -> Void = { body in
        try await other.run {
          let count = inService.withLock { count in
            count += 1
            return count
          }
          try require(
            count == 1,
            "\(count) tasks are in service at once in a limiter of one permit"
          )
          await body()
          inService.withLock { $0 -= 1 }
        }
      }
      async let first: Void = one.run { await meeting.come() }
      async let second: Void = visit { await meeting.come() }
      async let third: Void = visit { await Task.yield() }
      _ = try await (first, second, third)
    }
  }

  private static func shortLines(_ entry: CatalogueEntry, overtakings: Int = 0)
    -> GradeBook.Question
  {
    hidden(
      entry,
      "short_lines",
      overtakings: overtakings,
      title: "short lines, each part of them cancelled",
      HiddenWorkload.shortLines
    )
  }

  /// Compared with the package's own limiter on the same tasks: a permit must not lie idle while
  /// somebody waits.
  private static func throughput(_ entry: CatalogueEntry) -> GradeBook.Question {
    guard let ours = Catalogue.entry("limiter") else {
      preconditionFailure("the catalogue has no limiter to compare with")
    }
    return .task("throughput", "500 tasks, limit 8") { seed in
      let workload = Workload(
        count: 500,
        service: .exponential(mean: 20_000_000),
        arrivals: .every(1_000),
        seed: seed
      )
      let crowd = HiddenWorkload(title: "500 tasks", limit: 8, workload: workload, overtakings: 1)
      let taken = await run(entry, limit: 8, workload)
      if let fault = crowd.faults(in: taken).first {
        return GradeItem(
          "throughput",
          passed: false,
          "500 tasks within a moment, limit 8, seed \(seed): \(fault)"
        )
      }
      let theirs = taken.summary
      let best = await run(ours, limit: 8, workload).summary
      let passed = theirs.finished == 500 && theirs.makespan <= best.makespan + best.makespan / 10
      return GradeItem(
        "throughput",
        passed: passed,
        "500 tasks, limit 8, seed \(seed): makespan \(DurationText.text(theirs.makespan)), the "
          + "package's limiter needs \(DurationText.text(best.makespan)); a tenth more is allowed"
      )
    }
  }
}
