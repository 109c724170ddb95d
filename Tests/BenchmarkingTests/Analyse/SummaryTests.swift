import Basics
import Benchmarking
import Mechanisms
import TestSupport
import Testing

/// Runs that were never run: figures drawn from a seed, so that the verdicts can be checked against
/// what is known to be true of them.
@Suite(.watched) struct `The summary` {
  /// Records of the uncontended workload in which each mechanism costs what `cost` says, varied by 1 % from round to
  /// round.
  private func records(
    _ plan: Plan,
    seed: UInt64,
    cost: (Contestant) -> Double
  ) -> [BlockRecord] {
    var generator = SplitMix64(seed: seed)
    return plan.records { trial, report in
      for repetition in 1...3 {
        let noise = 1 + 0.01 * (2 * generator.nextUnit() - 1)
        report.add(
          .timePerOperation,
          "mean",
          cost(trial.contestant) * noise,
          repetition: repetition
        )
      }
    }
  }

  private let plan: Plan

  init() throws {
    plan = try Plan(
      Selection(
        scale: .quick,
        mechanisms: ["limiter", "pool", "task-group"],
        filter: "uncontended"
      )
    )
  }

  private func verdict(_ summary: Summary, of mechanism: String) -> Verdict? {
    let contestant = plan.entries[0].contestants.firstIndex {
      $0.mechanism == mechanism && !$0.isAgain
    }
    return summary.lines.first { $0.contestant == contestant }?.comparison?.verdict
  }

  @Test(arguments: 1...10)
  func
    `what is a twentieth slower is called slower and what is equal the same, ten times out of ten`(
      seed: UInt64
    )
  {
    let summary = Summary(
      plan: plan,
      records: records(plan, seed: seed) { $0.mechanism == "pool" ? 105 : 100 }
    )
    #expect(verdict(summary, of: "pool") == .slower)
    #expect(verdict(summary, of: "task-group") == .same)
    #expect(summary.isValid)
  }

  @Test func `the pair is judged different in at most 5 of 100 runs`() {
    let decided = (1...100).count { seed in
      let summary = Summary(plan: plan, records: records(plan, seed: UInt64(seed)) { _ in 100 })
      return summary.pairs.contains(where: \.isDecided)
    }
    #expect(decided <= 5)
  }

  @Test func `the ratio is made round by round, whatever the rounds' own spread`() throws {
    var generator = SplitMix64(seed: 3)
    let drift = (0...9).map { _ in (0...9).map { _ in 1 + 4 * generator.nextUnit() } }
    let summary = Summary(
      plan: plan,
      records: plan.records { trial, report in
        for round in 1...8 {
          let cost = trial.contestant.mechanism == "pool" ? 105.0 : 100
          let noise = 1 + 0.01 * (2 * generator.nextUnit() - 1)
          let value = cost * noise * drift[trial.fork][round]
          report.add(.timePerOperation, "mean", value, repetition: round)
        }
      }
    )
    #expect(verdict(summary, of: "pool") == .slower)
    #expect(verdict(summary, of: "task-group") == .same)
  }

  @Test func `the fork is the unit: repetitions do not count as more evidence`() throws {
    let summary = Summary(plan: plan, records: records(plan, seed: 1) { _ in 100 })
    for line in summary.lines { #expect(line.forks == plan.entries[line.entry].forks) }
  }

  @Test func `a broken promise makes the run invalid and its figures do not count`() throws {
    var records = records(plan, seed: 1) { _ in 100 }
    records[2].trials[0].report.violations = ["over-admission: 2 ran at once, the limit is 1"]
    let summary = Summary(plan: plan, records: records)
    #expect(!summary.isValid)
    #expect(summary.violations.count == 1)
    let contestant = records[2].trials[0].contestant
    let line = try #require(summary.lines.first { $0.contestant == contestant })
    #expect(line.forks == plan.entries[line.entry].forks - 1)
    #expect(SummaryTable(summary).text.contains("over-admission"))
  }

  @Test func `results hold every value in the columns scripts rely on, the invalid ones marked`() {
    var records = records(plan, seed: 1) { _ in 100 }
    records[0].trials[0].report.violations = ["a promise, broken"]
    let summary = Summary(plan: plan, records: records)
    let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
    let table = CSV.records(files.results())
    #expect(
      table[0].joined(separator: ",")
        == "schema,run_id,workload,mechanism,limit,tasks,loop,arrivals,service_kind,service_dist,"
        + "service_ns,rho_target,rho_achieved,cancel_fraction,seed,block,order_in_block,fork,rep,"
        + "metric,stat,unit,better,value,n,foreign_cpu_pct,valid,invalid_reason,executor,processors,"
        + "distance_before_ns,distance_after_ns"
    )
    // Of three rounds there is one row; the rounds themselves are in a file of their own.
    #expect(table.count == 1 + plan.trials)
    let rounds = files.roundsTable().split(separator: "\r\n")
    #expect(rounds.count == 1 + plan.trials * 3)
    #expect(table.allSatisfy { $0.count == table[0].count })
    let invalid = table.dropFirst().filter { $0[26] == "false" }
    #expect(invalid.count == 1)
    #expect(invalid.allSatisfy { $0[27] == "a promise, broken" })
  }

  @Test func `a figure that is the same in every fork is a constant, and the run invalid`() {
    let summary = Summary(
      plan: plan,
      records: plan.records { trial, report in
        report.add(.timePerOperation, "mean", 100 + Double(trial.index * 7 + trial.place))
        // All three may repeat: one right value, whole things, one reading of the clock.
        report.add(.offeredRate, "mean", 450)
        report.add(.peakThreads, "max", 4)
        report.add(.waiting, "p50", 31)
        if trial.contestant.mechanism == "pool" {
          report.add(.recovery, "total", 183_226_960)
        }
      }
    )
    #expect(!summary.isValid)
    #expect(summary.constants.count == 2, "\(summary.constants)")
    #expect(summary.constants.allSatisfy { $0.contains("recovery total is 183226960") })
    #expect(summary.violations == summary.constants)
  }

  @Test func `four equal forks are not enough to call a figure a constant`() throws {
    let few = try Plan(
      Selection(scale: .quick, forks: 4, mechanisms: ["limiter"], filter: "uncont")
    )
    let equal = few.records { _, report in report.add(.recovery, "total", 5_000_000) }
    #expect(Summary(plan: few, records: equal).constants.isEmpty)
  }

  @Test func `a pair of constants is not counted among the pairs`() {
    func pairs(_ spread: Double) -> Int {
      Summary(
        plan: plan,
        records: plan.records { trial, report in
          let noise = Double((trial.index * 5 + trial.place * 7) % 11)
          report.add(.timePerOperation, "mean", 100 + spread * noise)
        }
      ).pairs.count
    }
    #expect(pairs(0) == 0)
    #expect(pairs(1) == 1)
  }

  /// Records of the hand-off in which `waited` of the visits had to wait, in percent.
  private func handOffs(_ plan: Plan, waited: (Contestant) -> Double) -> [BlockRecord] {
    var generator = SplitMix64(seed: 4)
    return plan.records { trial, report in
      let who = trial.contestant
      let noise = 1 + 0.03 * (2 * generator.nextUnit() - 1)
      let cost = (who.mechanism == "pool" ? 300 : 100) * noise
      report.add(.timePerOperation, "mean", cost)
      if who.mechanism != "none" { report.add(.waited, "mean", waited(who)) }
    }
  }

  @Test func `where few visits waited there is no comparison`() throws {
    let plan = try Plan(
      Selection(scale: .quick, mechanisms: ["limiter", "pool", "none"], filter: "hand-off")
    )
    func verdicts(_ summary: Summary, _ name: String) -> [Verdict] {
      summary.lines.filter { plan.entries[0].contestants[$0.contestant].name == name }
        .compactMap { $0.comparison?.verdict }
    }
    let all = Summary(plan: plan, records: handOffs(plan) { _ in 99 })
    #expect(verdicts(all, "pool") == [.slower])
    let few = Summary(
      plan: plan,
      records: handOffs(plan) { $0.executor == .lanes ? 2 : 99 }
    )
    #expect(verdicts(few, "pool") == [.slower])
    #expect(verdicts(few, "pool on lanes") == [.incomparable])
    // Nobody waits where there is no limit; that is what it is measured for.
    #expect(!verdicts(few, "none").contains(.incomparable))
    #expect(SummaryTable(few).text.contains("no comparison: too few waited"))
  }

  @Test func `the guide tells no cost of a hand-off where few visits waited`() throws {
    let plan = try Plan(
      Selection(scale: .quick, mechanisms: ["limiter", "pool", "none"], filter: "hand-off")
    )
    func figures(waited percent: Double) -> [String] {
      Guide(Summary(plan: plan, records: handOffs(plan) { _ in percent }))
        .costs(Guide.needs[0]).map(\.figure)
    }
    #expect(figures(waited: 19.6) == ["too few waited to say (19.6 %)"])
    #expect(figures(waited: 99).allSatisfy { $0.hasSuffix("ns") })
    #expect(figures(waited: 99).count == 1)
  }

  @Test func `each question is a family of its own, and what runs on lanes another`() throws {
    let plan = try Plan(
      Selection(
        scale: .quick,
        mechanisms: ["limiter", "pool", "task-group"],
        filter: "uncontended|files"
      )
    )
    var generator = SplitMix64(seed: 6)
    let records = plan.records { trial, report in
      let noise = 1 + 0.01 * (2 * generator.nextUnit() - 1)
      report.add(.timePerOperation, "mean", 100 * noise)
    }
    let summary = Summary(plan: plan, records: records)
    let families = summary.lines.compactMap { line in
      plan.entries[line.entry].contestants[line.contestant].isAgain ? nil : line.comparison?.family
    }
    // Beside the reference two limiters in each, and in the first all three on lanes as well.
    #expect(families.sorted() == [2, 2, 2, 2, 3, 3, 3], "\(families)")
  }

  @Test func `open loops are compared path by path, whatever the paths' own spread`() throws {
    let plan = try Plan(
      Selection(scale: .quick, mechanisms: ["limiter", "pool", "task-group"], filter: "open-loop")
    )
    var generator = SplitMix64(seed: 9)
    let paths = (0...plan.forks.upperBound).map { _ in 1 + 9 * generator.nextUnit() }
    let records = plan.records { trial, report in
      let who = trial.contestant.mechanism
      let noise = 1 + 0.01 * (2 * generator.nextUnit() - 1)
      report.add(
        .stretch,
        "mean",
        paths[trial.fork] * noise * (who == "pool" ? 1.1 : 1)
      )
    }
    let summary = Summary(plan: plan, records: records)
    func verdict(_ name: String) -> Verdict? {
      summary.lines.first { plan.entries[0].contestants[$0.contestant].label == name }?
        .comparison?.verdict
    }
    #expect(verdict("pool") == .slower)
    #expect(verdict("task-group") == .same)
    let own = try #require(summary.lines.first { $0.comparison == nil })
    #expect(own.isMean)
    #expect(try #require(own.interval).contains(own.median))
  }

  @Test func `what is undecided says what could have been seen`() throws {
    var generator = SplitMix64(seed: 5)
    let summary = Summary(
      plan: plan,
      records: plan.records { _, report in
        report.add(.timePerOperation, "mean", 100 * (1 + generator.nextUnit()))
      }
    )
    #expect(verdict(summary, of: "pool") == .undecided)
    let pool = plan.entries[0].contestants.firstIndex { $0.mechanism == "pool" }
    let comparison = try #require(summary.lines.first { $0.contestant == pool }?.comparison)
    #expect(try #require(comparison.detectable) > 0.2)
    #expect(SummaryTable(summary).text.contains("% could have been seen"))
  }

  @Test func `disturbed blocks count, and only a strict run fails of them`() {
    func disturbed(_ forks: Int) -> Summary {
      var records = records(plan, seed: 1) { _ in 100 }
      for index in records.indices where records[index].fork <= forks {
        records[index].disturbance = Disturbance(foreignPercent: 60, stealPercent: 0)
      }
      return Summary(plan: plan, records: records)
    }
    #expect(disturbed(3).isValid && disturbed(3).disturbedBlocks == 3)
    let noisy = disturbed(4)
    #expect(!noisy.isValid && noisy.violations.isEmpty)
    #expect(noisy.lines.allSatisfy { $0.forks == plan.entries[$0.entry].forks })
    #expect(verdict(noisy, of: "pool") == .same)
  }

  @Test func `the summary to paste has the front page's mechanisms first and fits forty lines`()
    throws
  {
    let run = try ImaginedRun(Selection(scale: .ci))
    let lines = Digest(run.files.summary).text(run.environment).split(separator: "\n")
    #expect(lines.count < 40)
    let names = lines.dropFirst(2).prefix(4).map { $0.split(separator: " ")[1] }
    #expect(names == ["operation-queue", "gcd-semaphore", "limiter", "pool"])
    #expect(lines.contains { $0.contains("the reference against itself") })
  }

  @Test func `where a path's figure is 0 that is the reason for what is missing`() throws {
    let plan = try Plan(
      Selection(forks: 6, mechanisms: ["limiter", "pool", "task-group"], filter: "overload")
    )
    func results(_ seed: UInt64) throws -> (table: String, figures: PublishedFigures) {
      var generator = SplitMix64(seed: seed)
      let records = plan.records { trial, report in
        // In one fork nobody waited any more when the pool's overload ended.
        let isZero = trial.fork == 3 && trial.contestant.mechanism == "pool"
        report.add(.recovery, "total", isZero ? 0 : 1e6 * (1 + generator.nextUnit()))
      }
      let summary = Summary(plan: plan, records: records)
      let files = RunFiles(runID: "r", plan: plan, records: records, summary: summary)
      return (SummaryTable(summary).text, try PublishedFigures(csv: files.results()))
    }
    let (one, other) = (try results(1), try results(2))
    #expect(!one.table.contains("fewer than 6 forks"))
    #expect(one.table.contains("not above 0 in 1 of 6 forks: no interval"))
    #expect(one.table.contains("undecided: a figure that is not above 0 has no ratio"))
    let comparison = BaselineComparison(baseline: one.figures, current: other.figures, seed: 1)
    #expect(!comparison.text.contains("fewer than two forks"))
    #expect(comparison.text.contains("1 figure is not above 0 in some fork, and has no ratio"))
    #expect(comparison.lines.count == 2)
  }
}
