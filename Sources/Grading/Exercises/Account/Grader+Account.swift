internal import Experiments
internal import Exploration
internal import LessonBook
internal import Mechanisms
internal import Rendering
internal import Tracing

/// What accounts are asked as limiters are: a withdrawal is a task, and one too many overdraws.
extension Grader {
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
}
