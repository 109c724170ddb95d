internal import Basics
internal import Experiments
internal import Exploration
internal import LessonBook
internal import Limiters
internal import Mechanisms
internal import Rendering
internal import Tracing

// Grades what learners write: by exploring it, and by running workloads through it in virtual time.
//
// Each item is a question with one answer. The first that fails ends the grading, with the schedule or
// the run that shows it: one thing at a time, and what is broken may hang what follows.

/// The exercises and what each asks for.
package enum Grader {
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
      wholeLimit(entry),
      grownLine(entry),
      kept(entry),
      keptInLine(entry),
      apart(type),
      keptOfAlone(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      cancelledBefore(entry),
      manyVisits(entry),
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
      cancelledAtOnce(entry),
      permitBack(type),
      shortLines(entry),
      insideTwo(entry),
      insideTwoOfFour(entry),
      hidden(entry, "limits", HiddenWorkload.limits),
      hidden(entry, "long_line", HiddenWorkload.longLines),
      hidden(entry, "waves", HiddenWorkload.waves),
      urgencies(entry),
      wholeLimit(entry),
      grownLine(entry),
      cancelledCrowd(entry),
      kept(entry, cancels: true),
      keptOfAlone(entry),
      keptOfGranted(entry),
      keptBehindOne(entry),
      keptInLine(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      apart(type),
      cancelledBefore(entry),
      manyVisits(entry),
      manyThrown(entry),
      manyCancelled(entry),
      children(type),
      nested(type),
    ]
    return GradeBook(questions + cancelledBody(type) + [Storm.question(entry, cancels: true)])
      .about(entry)
  }

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
      kept(entry),
      keptInLine(entry),
      poolsApart(type),
      keptOfAlone(entry),
      keptOfCancelled(entry),
      cancelledBefore(entry),
      manyVisits(entry),
      Storm.question(entry),
    ]).about(entry)
  }

  /// Lesson 12: never overdrawn, and nobody refused without reason.
  package static func account<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook {
    let entry = CatalogueEntry(LearnerAccountMechanism<Account>.self)
    return GradeBook([
      withdrawn(entry, "safety", withdrawals: 2, from: 1),
      withdrawn(entry, "safety_three", withdrawals: 3, from: 2),
      moneyPaidOut(entry),
      oneByOne(type),
      comeAndGo(type),
      refusedBeside(type),
      manyAtOnce(type),
      accountsApart(type),
      accountsAtOnce(type),
      withdrawalCancelled(type, cancelled: 0),
      withdrawalCancelled(type, cancelled: 1),
      manyRefused(type),
      largeAmounts(type),
      cancelledAnytime(type),
      cancelledAndTooMuch(type),
      cancelledBehindAnother(type),
      cancelledAmongMany(type),
      quietAccount(type),
      amounts(entry),
      Storm.question(entry, fails: false),
    ]).about(entry)
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
      wholeLimit(entry),
      kept(entry, cancels: true),
      keptOfGranted(entry),
      keptBehindOne(entry),
      keptInLine(entry),
      keptOfThrown(entry),
      keptOfCancelled(entry),
      apart(type),
      cancelledBefore(entry, overtakings: 1),
      manyVisits(entry),
      explored(entry, "liveness", tasks: 4, limit: 2, cancels: true, isRandom: true),
      explored(entry, "fairness", tasks: 4, limit: 1, overtaking: 1, isRandom: true),
      // Two who come, and the second in line is overtaken by both, the first by one.
      explored(entry, "fairness_of_five", tasks: 5, limit: 1, overtaking: 1, isRandom: true),
      throughput(entry),
      grownLine(entry, overtakings: 1),
      cancelledCrowd(entry, overtakings: 1),
      children(type),
      nested(type),
    ]
    return GradeBook(questions + cancelledBody(type) + [Storm.question(entry, cancels: true)])
      .about(entry)
  }

  /// Lesson 17: a test that passes what is right, and finds what is not.
  package static func test<Test: LearnerTest>(_ type: Test.Type) -> GradeBook {
    GradeBook([
      judged(type, "right", "a cache that keeps its promises") { RightCache() },
      judged(type, "right_too", "another that does") { WaitingCache(.none) },
      judged(type, "right_at_once", "one that does, and downloads at once") { QuickCache() },
      judged(type, "once", "a cache that breaks promise 1", isRight: false) {
        WaitingCache(.downloadsTwice)
      },
      judged(
        type,
        "once_of_three",
        "a cache that breaks promise 1 once: the second who asks downloads too, the third waits",
        isRight: false
      ) { WaitingCache(.downloadsForTheSecond) },
      judged(type, "own", "a cache that breaks promise 2", isRight: false) {
        WaitingCache(.mixesUp)
      },
      judged(
        type,
        "swapped",
        "a cache that breaks promise 2: two that download at once get each other's value",
        isRight: false
      ) { WaitingCache(.swaps) },
      judged(
        type,
        "nothing_at_once",
        "a cache that breaks promise 2: 0 is what it tells whoever asks while the same key is downloaded",
        isRight: false
      ) { WaitingCache(.handsOutNothing) },
      lengths(type),
      judged(
        type,
        "kept",
        "a cache that breaks promise 1 when the download is over",
        isRight: false
      ) { WaitingCache(.keepsNothing) },
      judged(type, "answered", "a cache that breaks promise 3", isRight: false) {
        WaitingCache(.forgets)
      },
      judged(
        type,
        "answered_each",
        "a cache that breaks promise 3 when two keys are asked for at once",
        isRight: false
      ) { WaitingCache(.stalls) },
      judged(
        type,
        "two_at_once",
        "a cache that breaks promises 1 and 2, both of them each time",
        isRight: false
      ) { WrongTwiceCache() },
      judged(type, "right_still", "the first cache once more", schedules: 300) { RightCache() },
    ])
  }

  /// The test looks at the value of each key that it asks for.
  ///
  /// Which these are, a right cache notes first.
  private static func lengths<Test: LearnerTest>(_ type: Test.Type) -> GradeBook.Question {
    GradeBook.Question(name: "lengths") { terms in
      let keys = Lock<Set<String>>([])
      let item = judged(type, "lengths", "a cache that keeps its promises") {
        WaitingCache(.none) { key in keys.withLock { _ = $0.insert(key) } }
      }.ask(terms)
      if !item.passed { return item }
      for key in keys.withLock({ $0.sorted() }) {
        let item = judged(
          type,
          "lengths",
          "a cache that breaks promise 2: the value of '\(key)' is one more than its length, the first time and later",
          isRight: false
        ) { WaitingCache(.isOneMore(of: key)) }.ask(terms)
        if !item.passed { return item }
      }
      return GradeItem(
        "lengths",
        passed: true,
        "caches that break promise 2 for one key: your test refuses each"
      )
    }
  }

  /// Explores a learner's test with one cache.
  private static func judged<Test: LearnerTest>(
    _ type: Test.Type,
    _ name: String,
    _ what: String,
    isRight: Bool = true,
    schedules: Int = mostSchedules,
    _ make: @escaping @Sendable () -> any LearnerCache
  ) -> GradeBook.Question {
    GradeBook.Question(name: name) { _ in
      do throws(Exploration.ExplorationFailure) {
        let verdict = try explore(
          "your test",
          preemptions: 2,
          schedules: schedules,
          besides: Scenario.aroundAnswers
        ) { try await type.check(make()) }
        return GradeItem(
          name,
          passed: isRight,
          "\(what): your test passes it, in \(verdict.schedules) "
            + (verdict.schedules == 1 ? "schedule" : "schedules")
        )
      } catch {
        return GradeItem(
          name,
          passed: !isRight,
          "\(what): your test refuses it" + (isRight ? ": \(Self.what(error))" : ""),
          story: isRight ? story(error, []) : ""
        )
      }
    }
  }

  // MARK: Exploring

  /// More schedules than this are not looked at one by one; the sentence then says so.
  private static let mostSchedules = 20_000

  /// How many are drawn at random.
  private static let mostDrawn = 2_000

  /// The same inside synchronous code, where a schedule has many more steps.
  private static let mostInside = 4_000

  /// The same at random.
  ///
  /// Where tasks may be cancelled, two locks in the place of one break a promise in some of a hundred schedules drawn,
  /// and in none of the first four thousand in order.
  private static let mostDrawnInside = 1_500

  /// The same of four tasks and two permits: what one pre-emption shows is in one of some dozens.
  private static let mostDrawnOfMany = 700

  /// The same of four tasks: a second overtaking shows in one of some five hundred schedules.
  private static let mostDrawnOfFour = 4_000

  /// How an exercise calls what the explorer knows as tasks, limits and violations.
  private struct Words {
    var asked: String
    var violations: [String: String]
    /// What is wrong, where it is told in words of a limiter.
    var told: @Sendable (_ message: String) -> String = { $0 }

    /// A schedule that is told, with what is wrong with it in these words.
    func told(inStory story: String, _ kind: String, _ message: String) -> String {
      story.replacing("\(kind)\n", with: "\(violations[kind] ?? kind)\n")
        .replacing(message, with: told(message))
    }
  }

  /// Stopped inside the code, with a cancellation: too many schedules to be searched in order.
  private static func insideCancelled(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_cancelled",
      tasks: 2,
      limit: 1,
      cancels: true,
      inside: true,
      isRandom: true
    )
  }

  /// The same of three tasks: one gives back, one waits, and one comes between two locks of the first.
  private static func insideThree(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_three",
      tasks: 3,
      limit: 1,
      inside: true,
      overtaking: 0,
      isRandom: true
    )
  }

  /// With two permits: one pre-emption lets one who leaves come between two operations of the other, or of a third.
  private static func insideTwo(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(entry, "inside_two", tasks: 3, limit: 2, inside: true, preemptions: 1)
  }

  /// The same of four tasks, of which two wait: what one who leaves has looked at becomes another's.
  private static func insideTwoOfFour(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_two_of_four",
      tasks: 4,
      limit: 2,
      inside: true,
      isRandom: true,
      drawing: mostDrawnOfMany
    )
  }

  /// The same with a cancellation.
  private static func insideCancelledTwo(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_cancelled_two",
      tasks: 4,
      limit: 2,
      cancels: true,
      inside: true,
      isRandom: true,
      drawing: mostDrawnOfMany
    )
  }

  /// The same of four, where one overtaking is allowed: it takes two who come between.
  private static func insideFour(_ entry: CatalogueEntry) -> GradeBook.Question {
    explored(
      entry,
      "inside_four",
      tasks: 4,
      limit: 1,
      inside: true,
      overtaking: 1,
      isRandom: true,
      drawing: mostDrawnOfFour
    )
  }

  private static func explored(
    _ entry: CatalogueEntry,
    _ name: String,
    tasks: Int,
    limit: Int,
    cancels: Bool = false,
    fails: Bool = false,
    inside: Bool = false,
    overtaking: Int? = nil,
    isRandom: Bool = false,
    drawing: Int? = nil,
    preemptions: Int = ExplorationPlan.defaultPreemptions,
    as words: Words? = nil
  ) -> GradeBook.Question {
    let asked = [
      words?.asked ?? "\(tasks) tasks, limit \(limit)",
      cancels ? "any of them cancelled at any step" : "",
      fails ? "every body throwing" : "",
      inside ? "stopping at any two operations on locks and atomics" : "",
      overtaking.map {
        $0 == 0 ? "nobody overtaken" : "overtaken at most \($0 == 1 ? "once" : "\($0) times")"
      } ?? "",
    ].filter { !$0.isEmpty }.joined(separator: ", ")
    var scenario = ExplorationScenario(entry)
    scenario.tasks = tasks
    scenario.limit = limit
    scenario.cancels = cancels
    scenario.fails = fails
    scenario.inside = inside
    scenario.overtakingBound = overtaking
    // It ends after so many schedules; the time is for a machine that is busy with something else.
    return .task(name, asked, seconds: 1_000) { [scenario] seed in
      let plan = ExplorationPlan(
        strategy: isRandom ? .random : .exhaustive,
        schedules: isRandom
          ? drawing ?? (inside ? mostDrawnInside : mostDrawn)
          : (inside ? mostInside : mostSchedules),
        seed: seed,
        preemptions: inside && !isRandom ? preemptions : nil
      )
      do throws(Experiments.ExplorationFailure) {
        let report = try await scenario.explore(plan)
        guard let violation = report.found?.minimum.violation else {
          return verdict(on: report, plan, name, asked)
        }
        let kind = words.flatMap { $0.violations[violation.kind] } ?? violation.kind
        let story = ExplorationText.text(report, withTime: false, TextFormat())
        return GradeItem(
          name,
          passed: false,
          "\(asked): \(kind) in schedule \(report.firstFailureAt ?? report.schedules), "
            + (isRandom ? "seed \(seed): " : "")
            + (words?.told(violation.message) ?? violation.message),
          story: words?.told(inStory: story, violation.kind, violation.message) ?? story
        )
      } catch {
        return GradeItem(
          name,
          passed: false,
          "\(asked): " + (error.isDivergence ? differentRuns : "\(error)")
        )
      }
    }
  }

  /// Says how far an exploration went that found nothing wrong.
  private static func verdict(
    on report: ExplorationReport,
    _ plan: ExplorationPlan,
    _ name: String,
    _ asked: String
  ) -> GradeItem {
    // With a bound on pre-emptions they are not all there are.
    let isWhole = report.isExhaustive && plan.preemptions == nil
    let isDrawn = plan.strategy != .exhaustive
    let extent = "\(isWhole ? "all " : "")\(report.schedules)\(isDrawn ? " drawn" : "")"
    // A schedule that was given up says nothing, and one in ten is too many to call it right.
    let isMostlySeen = report.givenUp * 10 < report.schedules
    let left = report.givenUp == 0 ? "" : ", \(report.givenUp) given up as too long"
    return GradeItem(
      name,
      passed: isMostlySeen,
      "\(asked): \(extent) schedules \(isMostlySeen ? "are right" : "looked at")\(left)"
    )
  }

  /// Explores withdrawals of 60 from an account that has enough for `permits` of them.
  private static func withdrawn(
    _ entry: CatalogueEntry,
    _ name: String,
    withdrawals: Int,
    from permits: Int
  ) -> GradeBook.Question {
    // A task is a withdrawal, and one too many in service overdraws.
    let words = Words(
      asked: "\(withdrawals) withdrawals of 60 from \(60 * permits + 40)",
      violations: ["over-admission": "overdrawn"]
    ) { message in
      // `2 running, limit 1`.
      guard message.hasSuffix(" running, limit \(permits)"),
        let count = Int(message.prefix { $0 != " " })
      else { return message }
      return "\(count) withdrawals of 60 are paid out of \(60 * permits + 40)"
    }
    return explored(entry, name, tasks: withdrawals, limit: permits, as: words)
  }

  // MARK: Running

  static func run(
    _ entry: CatalogueEntry,
    limit: Int,
    _ workload: Workload
  ) async -> Run {
    let run = VirtualRun(Experiment(mechanism: entry, limit: limit, workload: workload))
    run.submit(workload)
    return await run.finish()
  }

  private static func picture(_ run: Run) -> String {
    let format = TextFormat(height: 24)
    return Gantt.tasks(run, format) + "\n" + SummaryText.line(run, run.summary, format)
  }

  /// A limiter knows nothing of another one's permits and line.
  private static func apart<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook.Question {
    promise(
      "apart",
      "two limiters of one permit, a task in one and two in the other",
      tasks: ["in one limiter", "in the other", "in the other too"],
      preemptions: onePreemption
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

  private static func poolsApart<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
    promise(
      "apart",
      "two pools of one element, a task in one and two in the other",
      tasks: ["at one pool", "at the other", "at the other too"],
      preemptions: onePreemption
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
  private static func elements<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook.Question {
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

  /// A limiter that lets in one at a time is safe and useless.
  private static func limitReached(_ entry: CatalogueEntry) -> GradeBook.Question {
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

  private static func moneyPaidOut(_ entry: CatalogueEntry) -> GradeBook.Question {
    .task("paid_out", "five withdrawals of 60 from 160") { _ in
      let run = await run(entry, limit: 2, Workload(count: 5, service: .fixed(60_000_000)))
      let summary = run.summary
      let passed = summary.finished == 2 && summary.rejected == 3
      return GradeItem(
        "paid_out",
        passed: passed,
        "five withdrawals of 60 from 160: \(summary.finished) paid, \(summary.rejected) refused, "
          + "expected 2 and 3",
        story: passed ? "" : picture(run)
      )
    }
  }

  // MARK: Hidden workloads

  /// Runs workloads drawn from the seed; the first that shows a fault fails.
  private static func hidden(
    _ entry: CatalogueEntry,
    _ name: String,
    overtakings: Int = 0,
    title: String? = nil,
    _ draw: @escaping @Sendable (UInt64) -> [HiddenWorkload]
  ) -> GradeBook.Question {
    .task(name, "workloads drawn from a seed") { seed in
      let drawn = draw(seed)
      for var hidden in drawn {
        hidden.overtakings = overtakings
        let run = await hidden.run(on: entry)
        guard let fault = hidden.faults(in: run).first else { continue }
        return GradeItem(
          name,
          passed: false,
          "\(hidden.title), \(hidden.workload.count) tasks, limit \(hidden.limit), seed \(seed): \(fault)",
          story: SummaryText.line(run, run.summary, TextFormat())
        )
      }
      let limits = Set(drawn.map(\.limit)).sorted().map(String.init)
      return GradeItem(
        name,
        passed: true,
        "\(drawn[0].title), up to \(drawn.map(\.workload.count).max() ?? 0) tasks, limits "
          + "\(ListText.all(limits)), seed \(seed): every task that was not cancelled was served, and "
          + (overtakings == 0 ? "nobody was overtaken" : "overtaken at most once")
      )
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

  private static func amounts(_ entry: CatalogueEntry) -> GradeBook.Question {
    .task("amounts", "withdrawals of unequal amounts") { seed in
      for hidden in HiddenWorkload.withdrawals(seed) {
        let run = await run(entry, limit: hidden.limit, hidden.workload)
        guard let fault = hidden.accountFaults(in: run).first else { continue }
        return GradeItem(
          "amounts",
          passed: false,
          "\(hidden.workload.count) withdrawals of unequal amounts, seed \(seed): \(fault)"
        )
      }
      return GradeItem(
        "amounts",
        passed: true,
        "withdrawals of unequal amounts, seed \(seed): paid as far as the balance goes, and no further"
      )
    }
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
