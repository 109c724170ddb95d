internal import Basics
internal import Experiments
internal import Exploration
internal import GradeReport
internal import Mechanisms
internal import Rendering
internal import Tracing
internal import Workloads

// Grades what learners write: by exploring it, and by running workloads through it in virtual time.
//
// Each item is a question with one answer. The first that fails ends the grading, with the schedule or
// the run that shows it: one thing at a time, and what is broken may hang what follows.

/// What a body throws to see whether it comes out.
private struct Refusal: Error {}

/// The exercises and what each asks for.
package enum Grader {
  /// Lesson 7: never more than the limit, permits conserved when a body throws.
  package static func limiter<Limiter: LearnerLimiter>(_ type: Limiter.Type) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    return GradeBook([
      { await values(type) },
      { await explored(entry, "safety", tasks: 2, limit: 1) },
      { await explored(entry, "safety_three", tasks: 3, limit: 1) },
      { await explored(entry, "errors", tasks: 2, limit: 1, fails: true) },
      { await limitReached(entry) },
    ])
  }

  /// Lesson 9: the same under cancellation.
  package static func cancellableLimiter<Limiter: LearnerLimiter>(
    _ type: Limiter.Type
  ) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    return GradeBook([
      { await values(type) },
      { await explored(entry, "safety", tasks: 2, limit: 1) },
      { await explored(entry, "cancellation", tasks: 2, limit: 1, cancels: true) },
      { await explored(entry, "cancellation_three", tasks: 3, limit: 1, cancels: true) },
      { await cancelledAtOnce(entry) },
    ])
  }

  /// Lesson 8: every waiter resumed exactly once.
  package static func pool<Pool: LearnerPool>(_ type: Pool.Type) -> GradeBook {
    let entry = CatalogueEntry(LearnerPoolMechanism<Pool>.self)
    return GradeBook([
      { await explored(entry, "once", tasks: 2, limit: 1) },
      { await explored(entry, "once_three", tasks: 3, limit: 1) },
      { await explored(entry, "two_elements", tasks: 3, limit: 2) },
      { await limitReached(entry) },
    ])
  }

  /// Lesson 12: never overdrawn, and nobody refused without reason.
  package static func account<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook {
    let entry = CatalogueEntry(LearnerAccountMechanism<Account>.self)
    return GradeBook([
      { await withdrawn(entry, "safety", withdrawals: 2, from: 1) },
      { await withdrawn(entry, "safety_three", withdrawals: 3, from: 2) },
      { await moneyPaidOut(entry) },
    ])
  }

  /// Lesson 16: everything, on seeds nobody has seen.
  package static func design<Limiter: LearnerLimiter>(
    _ type: Limiter.Type,
    seed: UInt64 = .random(in: 1...1_000_000)
  ) -> GradeBook {
    let entry = CatalogueEntry(LimiterAdapter<Limiter>.self)
    return GradeBook([
      { await values(type) },
      { await explored(entry, "safety", tasks: 3, limit: 1) },
      { await explored(entry, "errors", tasks: 2, limit: 1, fails: true) },
      { await explored(entry, "cancellation", tasks: 2, limit: 1, cancels: true) },
      { await explored(entry, "liveness", tasks: 4, limit: 2, cancels: true, random: seed) },
      { await explored(entry, "fairness", tasks: 4, limit: 1, overtaking: 1, random: seed) },
      { await cancellationStorm(entry, seed) },
      { await throughput(entry, seed) },
    ])
  }

  /// Lesson 17: a test that passes what is right, and finds what is not.
  package static func test<Test: LearnerTest>(_ type: Test.Type) -> GradeBook {
    GradeBook([
      { await judged(type, "right", "a cache that keeps its promises") { RightCache() } },
      { await judged(type, "right_too", "another that does") { WaitingCache(.none) } },
      {
        await judged(type, "once", "a cache that breaks promise 1", isRight: false) {
          WaitingCache(.downloadsTwice)
        }
      },
      {
        await judged(type, "own", "a cache that breaks promise 2", isRight: false) {
          WaitingCache(.mixesUp)
        }
      },
      {
        await judged(type, "answered", "a cache that breaks promise 3", isRight: false) {
          WaitingCache(.forgets)
        }
      },
    ])
  }

  /// Explores a learner's test with one cache.
  private static func judged<Test: LearnerTest>(
    _ type: Test.Type,
    _ name: String,
    _ what: String,
    isRight: Bool = true,
    _ make: @escaping @Sendable () -> any LearnerCache
  ) async -> GradeItem {
    do {
      let verdict = try await onOwnThread { () throws(Exploration.ExplorationFailure) in
        try explore("your test", schedules: mostSchedules) { try await type.check(make()) }
      }
      return GradeItem(
        name,
        passed: isRight,
        "\(what): your test passes it, in \(verdict.schedules) schedules"
      )
    } catch {
      return GradeItem(
        name,
        passed: !isRight,
        "\(what): your test refuses it",
        story: isRight ? error.description : ""
      )
    }
  }

  // MARK: Exploring

  /// More schedules than this are not looked at one by one; the sentence then says so.
  private static let mostSchedules = 20_000

  /// How an exercise calls what the explorer knows as tasks, limits and violations.
  private struct Words {
    var asked: String
    var violations: [String: String]
  }

  private static func explored(
    _ entry: CatalogueEntry,
    _ name: String,
    tasks: Int,
    limit: Int,
    cancels: Bool = false,
    fails: Bool = false,
    overtaking: Int? = nil,
    random seed: UInt64? = nil,
    as words: Words? = nil
  ) async -> GradeItem {
    var scenario = ExplorationScenario(entry)
    scenario.tasks = tasks
    scenario.limit = limit
    scenario.cancels = cancels
    scenario.fails = fails
    scenario.overtakingBound = overtaking
    let plan =
      seed.map { ExplorationPlan(strategy: .random, schedules: 20_000, seed: $0) }
      ?? ExplorationPlan(schedules: mostSchedules)
    let asked = [
      words?.asked ?? "\(tasks) tasks, limit \(limit)",
      cancels ? "any of them cancelled at any step" : "",
      fails ? "every body throwing" : "",
      overtaking.map { "overtaken at most \($0 == 1 ? "once" : "\($0) times")" } ?? "",
    ].filter { !$0.isEmpty }.joined(separator: ", ")
    do {
      let report = try await scenario.explore(plan)
      guard let violation = report.found?.minimum.violation else {
        let extent = report.isExhaustive ? "all \(report.schedules)" : "\(report.schedules)"
        return GradeItem(name, passed: true, "\(asked): \(extent) schedules are right")
      }
      let kind = words.flatMap { $0.violations[violation.kind] } ?? violation.kind
      return GradeItem(
        name,
        passed: false,
        "\(asked): \(kind) in \(report.failed) of \(report.schedules) schedules",
        // Without the line that replays it: the lab cannot, the code being the learner's.
        story: ExplorationText.text(report, withTime: false, withReplay: false, TextFormat())
      )
    } catch {
      return GradeItem(name, passed: false, "\(asked): \(error.description)")
    }
  }

  /// Explores withdrawals of 60 from an account that has enough for `permits` of them.
  private static func withdrawn(
    _ entry: CatalogueEntry,
    _ name: String,
    withdrawals: Int,
    from permits: Int
  ) async -> GradeItem {
    // A task is a withdrawal, and one too many in service overdraws.
    let words = Words(
      asked: "\(withdrawals) withdrawals of 60 from \(60 * permits + 40)",
      violations: ["over-admission": "overdrawn"]
    )
    return await explored(entry, name, tasks: withdrawals, limit: permits, as: words)
  }

  // MARK: Running

  private static func run(
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

  /// What comes out of the body comes out of `run`, and errors do not keep the permit.
  private static func values<Limiter: LearnerLimiter>(_ type: Limiter.Type) async -> GradeItem {
    let limiter = Limiter(limit: 1)
    do {
      guard try await limiter.run({ 42 }) == 42 else {
        return GradeItem("values", passed: false, "run returned another value than its body")
      }
    } catch {
      return GradeItem("values", passed: false, "run threw \(error), though its body did not")
    }
    do {
      try await limiter.run { throw Refusal() }
      return GradeItem("values", passed: false, "the body threw, and run did not")
    } catch is Refusal {
      return GradeItem("values", passed: true, "the body's value and its error come out of run")
    } catch {
      return GradeItem("values", passed: false, "the body threw Refusal, and run threw \(error)")
    }
  }

  /// A limiter that lets in one at a time is safe and useless.
  private static func limitReached(_ entry: CatalogueEntry) async -> GradeItem {
    let run = await run(entry, limit: 3, Workload(count: 12, service: .fixed(100_000_000)))
    let summary = run.summary
    let passed =
      summary.peakRunning == 3 && summary.finished == 12 && summary.makespan == 400_000_000
      && summary.violations.isEmpty
    return GradeItem(
      "limit_reached",
      passed: passed,
      "12 tasks of 100 ms, limit 3: at most \(summary.peakRunning) ran at once, \(summary.finished) "
        + "finished, makespan \(DurationText.text(summary.makespan)), expected 3, 12 and 400 ms",
      story: passed ? "" : picture(run)
    )
  }

  private static func cancelledAtOnce(_ entry: CatalogueEntry) async -> GradeItem {
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

  private static func moneyPaidOut(_ entry: CatalogueEntry) async -> GradeItem {
    let run = await run(entry, limit: 2, Workload(count: 5, service: .fixed(100_000_000)))
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

  private static func cancellationStorm(_ entry: CatalogueEntry, _ seed: UInt64) async -> GradeItem
  {
    let workload = Workload(
      count: 400,
      service: .exponential(mean: 20_000_000),
      arrivals: .poisson(perSecond: 220),
      cancellations: .share(percent: 40),
      failPercent: 20,
      seed: seed
    )
    let run = await run(entry, limit: 4, workload)
    let summary = run.summary
    let passed = summary.violations.isEmpty && summary.unended.isEmpty && run.stoppedBecause == nil
    let trouble = summary.violations.first ?? run.stoppedBecause ?? "a task never ended"
    return GradeItem(
      "storm",
      passed: passed,
      "400 tasks, limit 4, 40 % cancelled, 20 % failing, seed \(seed): "
        + (passed ? "every one ended, never more than 4 at once" : trouble),
      story: passed ? "" : SummaryText.line(run, summary, TextFormat())
    )
  }

  /// Compared with the package's own limiter on the same tasks: a permit must not lie idle while
  /// somebody waits.
  private static func throughput(_ entry: CatalogueEntry, _ seed: UInt64) async -> GradeItem {
    guard let ours = Catalogue.entry("limiter") else {
      preconditionFailure("the catalogue has no limiter to compare with")
    }
    let workload = Workload(count: 500, service: .exponential(mean: 20_000_000), seed: seed)
    let theirs = await run(entry, limit: 8, workload).summary
    let best = await run(ours, limit: 8, workload).summary
    let passed = theirs.finished == 500 && theirs.makespan <= best.makespan + best.makespan / 10
    return GradeItem(
      "throughput",
      passed: passed,
      "500 tasks, limit 8, seed \(seed): makespan \(DurationText.text(theirs.makespan)), the package's "
        + "limiter needs \(DurationText.text(best.makespan)); a tenth more is allowed"
    )
  }
}
