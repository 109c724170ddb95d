import Basics
import Publishing
import Statistics
import TestSupport
import Testing
import Trials
import Workloads

/// Runs that were never run: figures drawn from a seed, so that the verdicts can be checked against
/// what is known to be true of them.
@Suite(.watched) struct `The summary` {
  /// Records of the uncontended workload in which each mechanism costs what `cost` says, varied by
  /// 3 % from fork to fork.
  private func records(
    _ plan: Plan,
    seed: UInt64,
    cost: (Contestant) -> Double
  ) -> [BlockRecord] {
    var generator = SplitMix64(seed: seed)
    return plan.blocks().enumerated().map { index, block in
      BlockRecord(
        number: index + 1,
        fork: block.fork,
        entry: block.entry,
        trials: block.order.map { contestant in
          var report = TrialReport()
          let noise = 1 + 0.03 * (2 * generator.nextUnit() - 1)
          for repetition in 1...3 {
            report.add(
              .timePerOperation,
              "mean",
              cost(plan.entries[block.entry].contestants[contestant]) * noise,
              repetition: repetition
            )
          }
          return BlockRecord.Entry(contestant: contestant, report: report)
        }
      )
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
  func `what is a fifth slower is called slower and what is equal is not, ten times out of ten`(
    seed: UInt64
  ) {
    let summary = Summary(
      plan: plan,
      records: records(plan, seed: seed) { $0.mechanism == "pool" ? 120 : 100 }
    )
    #expect(verdict(summary, of: "pool") == .slower)
    #expect(verdict(summary, of: "task-group") == .inconclusive)
    #expect(summary.isValid)
  }

  @Test func `the pair's interval holds 1 in at least 95 of 100 runs`() {
    let agreeing = (1...100).count { seed in
      let summary = Summary(plan: plan, records: records(plan, seed: UInt64(seed)) { _ in 100 })
      return summary.noise[0]?.agrees == true
    }
    #expect(agreeing >= 95)
  }

  @Test func `the fork is the unit: repetitions do not count as more evidence`() throws {
    let summary = Summary(plan: plan, records: records(plan, seed: 1) { _ in 100 })
    for line in summary.lines { #expect(line.forks == plan.forks) }
  }

  @Test func `a broken promise makes the run invalid and its figures do not count`() throws {
    var records = records(plan, seed: 1) { _ in 100 }
    records[2].trials[0].report.violations = ["over-admission: 2 ran at once, the limit is 1"]
    let summary = Summary(plan: plan, records: records)
    #expect(!summary.isValid)
    #expect(summary.violations.count == 1)
    let contestant = records[2].trials[0].contestant
    let line = try #require(summary.lines.first { $0.contestant == contestant })
    #expect(line.forks == plan.forks - 1)
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
        + "metric,stat,unit,better,value,n,foreign_cpu_pct,valid,invalid_reason"
    )
    #expect(table.count == 1 + plan.trials * 3)
    #expect(table.allSatisfy { $0.count == table[0].count })
    let invalid = table.dropFirst().filter { $0[26] == "false" }
    #expect(invalid.count == 3)
    #expect(invalid.allSatisfy { $0[27] == "a promise, broken" })
  }
}
