internal import Exploration
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// What accounts are asked as limiters are: a withdrawal is a task, and one too many overdraws.
extension Grader {
  /// Lesson 12: never overdrawn, and nobody refused without reason.
  package static func account<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook {
    let entry = CatalogueEntry(LearnerAccountMechanism<Account>.self)
    return GradeBook([
      withdrawn(type, "safety", withdrawals: 2, from: 1),
      withdrawn(type, "safety_three", withdrawals: 3, from: 2),
      moneyPaidOut(entry),
      oneByOne(type),
      comeAndGo(type),
      refusedBeside(type),
      manyAtOnce(type),
      manyMeanwhile(type),
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

  /// Explores withdrawals of 60 from an account that has enough for `paid` of them.
  ///
  /// Not as an exploration of a limiter, which would tell of tasks that are admitted: its steps are lines of the answer.
  private static func withdrawn<Account: LearnerAccount>(
    _ type: Account.Type,
    _ name: String,
    withdrawals: Int,
    from paid: Int
  ) -> GradeBook.Question {
    let balance = LearnerAccountLedger.balance(limit: paid)
    return promise(
      name,
      "\(withdrawals) withdrawals of 60 from \(balance)",
      tasks: ["first", "second", "third"].prefix(withdrawals).map { "the \($0) withdrawal" },
      schedules: 2_000
    ) {
      let account = Account(balance: balance, bank: Bank())
      let tasks = (1...withdrawals).map { _ in Task { await withdraw(60, from: account) } }
      var count = 0
      for task in tasks {
        let (isPaid, isApproved) = await task.value
        try require(!isPaid || isApproved, "60 was paid, and the bank had not approved it")
        if isPaid { count += 1 }
      }
      try require(
        count <= paid,
        "overdrawn: \(count) withdrawals of 60 are paid out of \(balance). Each looked before another took: what was true "
          + "before an 'await' may no longer be so behind it"
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
          + "expected 2 and 3"
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
