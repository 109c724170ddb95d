internal import Basics
internal import Exploration
internal import LessonBook
internal import Limiters
internal import Synchronization

/// What accounts are asked one by one, in other amounts and when a task is cancelled.
extension Grader {
  /// A withdrawal, and whether the bank had approved it when it was paid.
  static func withdraw(
    _ amount: Int,
    from account: some LearnerAccount
  ) async -> (paid: Bool, isApproved: Bool) {
    let approval = Bank.Approval()
    let isPaid = await Bank.$approval.withValue(approval) { await account.withdraw(amount) }
    return (isPaid, approval.isGiven.load(ordering: .relaxed))
  }

  /// The last penny is paid, a refusal changes nothing, and neither the amount nor the number matters.
  static func oneByOne<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let asked = "one withdrawal after the other"
    return .task("one_by_one", asked, seconds: 30) { _ in
      let plans: [(balance: Int, amounts: [Int])] = [
        (100, [60, 41, 40, 1]),
        (100, [101, 100, 1]),
        (1, [2, 1, 1]),
        (0, [1, 60, 0]),
        (60, [0, 60, 0, 1]),
        (1_000_000_000, [999_999_999, 2, 1, 1]),
        (1_001, Array(repeating: 7, count: 150)),
      ]
      for (balance, amounts) in plans {
        let account = Account(balance: balance, bank: Bank())
        var left = balance
        for (number, amount) in amounts.enumerated() {
          let (paid, isApproved) = await withdraw(amount, from: account)
          let place =
            "withdrawal \(number + 1) from an account of \(balance): \(amount) of the \(left) that are left "
          guard paid == (amount <= left) else {
            return GradeItem(
              "one_by_one",
              passed: false,
              place + (paid ? "was paid" : "was refused")
            )
          }
          guard !paid || isApproved else {
            return GradeItem(
              "one_by_one",
              passed: false,
              place + "was paid, and the bank had not approved it"
            )
          }
          if paid { left -= amount }
        }
      }
      return GradeItem(
        "one_by_one",
        passed: true,
        "\(asked): paid to the last penny, and a refusal changes nothing"
      )
    }
  }

  /// Who waits for another's withdrawal does not ask again and again whether it is over.
  static func quietAccount<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let asked = "three withdrawals, and a bank that takes a second to approve one"
    return QuietProcessor.question(asked) { aSecond in
      let line = Lock<[Signal]?>([])
      let bank = Bank {
        let (condition, signal) = Condition.makeCondition()
        let isOpen = line.withLock { line in
          line?.append(signal)
          return line == nil
        }
        if !isOpen { try? await condition.waitUncancellably() }
      }
      let account = Account(balance: 100, bank: bank)
      await withTaskGroup { group in
        for amount in [60, 30, 10] { group.addTask { _ = await account.withdraw(amount) } }
        await aSecond()
        let waiting = line.withLock { line in
          defer { line = nil }
          return line ?? []
        }
        for signal in waiting { signal.signal() }
      }
    }
  }

  /// Who is cancelled while another one's withdrawal is at the bank keeps nobody else from being paid.
  static func cancelledBehindAnother<Account: LearnerAccount>(
    _ type: Account.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_behind",
      "a withdrawal of 10 is at the bank, two more come, and the first of those is cancelled",
      tasks: ["the withdrawal at the bank", "the one that is cancelled", "the third"],
      schedules: 2_000
    ) {
      let (hasCome, comes) = Condition.makeCondition()
      let (mayGo, go) = Condition.makeCondition()
      let isFirst = Lock(true)
      let bank = Bank {
        let waits = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        guard waits else { return await Task.yield() }
        comes.signal()
        try? await mayGo.waitUncancellably()
      }
      let account = Account(balance: 100, bank: bank)
      let first = Task { await account.withdraw(10) }
      try await hasCome.waitUncancellably()
      let gone = Task { await account.withdraw(10) }
      let third = Task { await account.withdraw(10) }
      await Task.yield()
      gone.cancel()
      go.signal()
      let paid = [await first.value, await third.value]
      try require(
        paid == [true, true],
        "a task that nobody cancelled was refused, though there is enough"
      )
      _ = await gone.value
    }
  }

  /// A withdrawal at the bank keeps its money reserved, whoever comes and goes meanwhile.
  static func comeAndGo<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    promise(
      "come_and_go",
      "10 and 60 from 100; when 10 is paid, and 60 is still at the bank, 30 and 60",
      tasks: ["the withdrawal of 10", "the first of 60", "the one of 30", "the second of 60"],
      preemptions: 0,
      schedules: 500
    ) {
      let (hasCome, comes) = Condition.makeCondition()
      let (mayGo, go) = Condition.makeCondition()
      let (mayAllGo, allGo) = Condition.makeCondition()
      let isFirst = Lock(true)
      let bank = Bank {
        let isAlone = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if isAlone { comes.signal() }
        try? await (isAlone ? mayGo : mayAllGo).waitUncancellably()
      }
      let account = Account(balance: 100, bank: bank)
      let first = Task { await account.withdraw(10) }
      try await hasCome.waitUncancellably()
      let second = Task(priority: .high) { await account.withdraw(60) }
      for _ in 1...3 { await Task.yield() }
      go.signal()
      try require(await first.value, "10 of 100 were refused")
      let others = [30, 60].map { amount in
        Task(priority: .low) { await account.withdraw(amount) }
      }
      for _ in 1...3 { await Task.yield() }
      allGo.signal()
      var paid = 10
      for (task, amount) in zip([second] + others, [60, 30, 60]) where await task.value {
        paid += amount
      }
      try require(paid <= 100, "\(paid) were paid from 100")
      try require(paid >= 100, "\(paid) were paid in the end, though there was enough for 100")
    }
  }

  /// Who is refused lets nobody else to the bank.
  static func refusedBeside<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    promise(
      "refused_beside",
      "60 from 100 is at the bank, 200 is refused meanwhile, and 50 comes",
      tasks: ["the withdrawal of 60", "the one of 200", "the one of 50"],
      preemptions: 0,
      schedules: 500
    ) {
      let (hasCome, comes) = Condition.makeCondition()
      let (mayGo, go) = Condition.makeCondition()
      let bank = Bank {
        comes.signal()
        try? await mayGo.waitUncancellably()
      }
      let account = Account(balance: 100, bank: bank)
      let first = Task { await account.withdraw(60) }
      try await hasCome.waitUncancellably()
      let others = [200, 50].map { amount in
        Task {
          // 50 behind 200, as a rule.
          if amount == 50 { for _ in 1...3 { await Task.yield() } }
          return await account.withdraw(amount)
        }
      }
      for _ in 1...6 { await Task.yield() }
      go.signal()
      let paid = [await first.value, await others[0].value, await others[1].value]
      // Who was let to the bank later may take the money first: then there are not 60 left.
      try require(paid[0] || paid[2], "60 of 100 were refused, and 50 too")
      try require(!paid[1], "200 of 100 were paid")
      try require(!paid[0] || !paid[2], "60 and 50 were paid from 100")
    }
  }

  /// However many are at the bank, who has enough is paid.
  static func manyAtOnce<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let count = 1_200
    let asked =
      "\(count) withdrawals of 1 at once from \(count), and from 300, and a bank that takes its time"
    return .task("many_at_once", asked, seconds: 60) { _ in
      for balance in [count, 300] {
        // Time for all of them to come to the bank, where they are let; they may also come one after the other.
        let account = Account(
          balance: balance,
          bank: Bank { for _ in 1...40 { await Task.yield() } }
        )
        let paid = await withTaskGroup { group in
          for _ in 1...count { group.addTask { await account.withdraw(1) } }
          return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        guard paid != balance else { continue }
        return GradeItem(
          "many_at_once",
          passed: false,
          "\(asked): \(paid) were paid from \(balance)"
            + (paid < balance ? ", though there is enough for each" : ", more than there is")
        )
      }
      return GradeItem("many_at_once", passed: true, "\(asked): as many were paid as there is")
    }
  }

  /// What has changed meanwhile has changed, also if it was as often as a small number has values.
  static func manyMeanwhile<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let asked = "while one of all there is is at the bank, 256 or 65536 of 1 come"
    return .task("many_meanwhile", asked, seconds: 60) { _ in
      for count in [256, 65_536] {
        let (mayGoOn, goesOn) = Condition.makeCondition()
        let come = Lock(0)
        let account = Account(
          balance: count + 1,
          bank: Bank {
            let isFirst = come.withLock { come in
              come += 1
              return come == 1
            }
            if isFirst { try? await mayGoOn.waitUncancellably() }
          }
        )
        let large = Task { await account.withdraw(count + 1) }
        await Moment.pass(until: 1) { come.withLock { $0 } }
        let small = Lock((ended: 0, paid: 0))
        let others = Task {
          for _ in 1...count {
            let isPaid = await account.withdraw(1)
            small.withLock { $0 = ($0.ended + 1, $0.paid + (isPaid ? 1 : 0)) }
          }
        }
        // They may wait until that one is back.
        await Moment.pass(until: count, patience: 300) { small.withLock { $0.ended } }
        goesOn.signal()
        let isPaid = await large.value
        await others.value
        let sum = small.withLock { $0.paid } + (isPaid ? count + 1 : 0)
        guard sum > count + 1 else { continue }
        return GradeItem(
          "many_meanwhile",
          passed: false,
          "\(asked): \(sum) was paid from \(count + 1)"
        )
      }
      return GradeItem("many_meanwhile", passed: true, "\(asked): no more was paid than there is")
    }
  }

  /// A refusal changes nothing, however many there are.
  static func manyRefused<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let count = 5_000
    let asked = "\(count) withdrawals of 101 from 100, one after the other, and then one of 100"
    return .task("many_refused", asked, seconds: 60) { _ in
      let account = Account(balance: 100, bank: Bank())
      for number in 1...count where await account.withdraw(101) {
        return GradeItem("many_refused", passed: false, "\(asked): number \(number) was paid")
      }
      let isPaid = await account.withdraw(100)
      return GradeItem(
        "many_refused",
        passed: isPaid,
        "\(asked): "
          + (isPaid
            ? "it is paid" : "it was refused, though there is enough: a refusal changes nothing")
      )
    }
  }

  /// Numbers as large as they come: what a type of fewer bits rounds, or has no room for.
  static func largeAmounts<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let asked =
      "withdrawals from accounts of 3,000,000,000 and of 10,000,000,000,000,001"
    return .task("large", asked, seconds: 30) { _ in
      for balance in [3_000_000_000, 10_000_000_000_000_001, .max - 1] {
        let account = Account(balance: balance, bank: Bank())
        // One more than there is, half, the other half but one, and the last.
        let amounts = [balance + 1, balance / 2, balance - balance / 2 - 1, 2, 1, 1]
        for (amount, due) in zip(amounts, [false, true, true, false, true, false]) {
          let isPaid = await account.withdraw(amount)
          guard isPaid != due else { continue }
          return GradeItem(
            "large",
            passed: false,
            "\(asked): \(amount) was \(isPaid ? "paid" : "refused"), of \(balance) at first. Keep amounts as 'Int'"
          )
        }
      }
      return GradeItem("large", passed: true, "\(asked): the last one is paid, and no more")
    }
  }

  /// Who is cancelled at the bank takes no more than there is, either.
  static func cancelledAndTooMuch<Account: LearnerAccount>(
    _ type: Account.Type
  ) -> GradeBook.Question {
    promise(
      "cancelled_both",
      "two withdrawals of 60 from 100, the first of which is cancelled",
      tasks: ["the withdrawal that is cancelled", "the other"],
      preemptions: onePreemption
    ) {
      let account = Account(balance: 100, bank: Bank())
      let gone = Task(priority: .high) { await withdraw(60, from: account) }
      let other = Task(priority: .low) { await withdraw(60, from: account) }
      await Task.yield()
      gone.cancel()
      let paid = [await gone.value.paid, await other.value.paid]
      try require(paid != [true, true], "both were paid: 120 from 100")
      let rest = await account.withdraw(paid.contains(true) ? 41 : 101)
      try require(!rest, "more was paid than the account had")
    }
  }

  /// What is under way in one account is nothing to another.
  static func accountsAtOnce<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    promise(
      "apart_at_once",
      "all of one account's 100 and all of another's 50 are withdrawn at once",
      tasks: ["the withdrawal of 100", "the withdrawal of 50"],
      preemptions: onePreemption
    ) {
      let accounts = [100, 50].map { ($0, Account(balance: $0, bank: Bank())) }
      let tasks = accounts.map { amount, account in Task { await withdraw(amount, from: account) } }
      for (task, (amount, _)) in zip(tasks, accounts) {
        let paid = await task.value.paid
        try require(
          paid,
          "\(amount) was refused, though the account has it: another account counts"
        )
      }
    }
  }

  /// An account knows nothing of another's money.
  static func accountsApart<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question {
    let asked = "two accounts, one of 100 and one of 50"
    return .task("apart", asked, seconds: 30) { _ in
      let one = Account(balance: 100, bank: Bank())
      let other = Account(balance: 50, bank: Bank())
      let asks = [(one, 60, true), (other, 60, false), (other, 50, true), (one, 40, true)]
      for (account, amount, due) in asks {
        let paid = await withdraw(amount, from: account).paid
        guard paid == due else {
          let name = account === one ? "100" : "50"
          return GradeItem(
            "apart",
            passed: false,
            "\(asked): \(amount) from the one of \(name) \(paid ? "was paid" : "was refused")"
          )
        }
      }
      return GradeItem("apart", passed: true, "\(asked): each pays from its own balance")
    }
  }

  /// A withdrawal is cancelled at any moment, also when the bank has approved it.
  static func cancelledAnytime<Account: LearnerAccount>(_ type: Account.Type) -> GradeBook.Question
  {
    promise(
      "cancelled_anytime",
      "one withdrawal of 60 from 100, cancelled by another task at any moment",
      tasks: ["the withdrawal", "the one that cancels it"],
      preemptions: 2,
      schedules: 3_000
    ) {
      let account = Account(balance: 100, bank: Bank())
      let withdrawal = Task { await withdraw(60, from: account) }
      let canceller = Task { withdrawal.cancel() }
      let left = await withdrawal.value.paid ? 40 : 100
      await canceller.value
      let told = "it was told \(left == 40), so \(left) of 100 are left; "
      let tooMuch = await account.withdraw(left + 1)
      try require(!tooMuch, "\(told)\(left + 1) was paid")
      let rest = await account.withdraw(left)
      try require(
        rest,
        "\(told)\(left) was refused, so the money was taken. Look once whether the task is cancelled, and act and answer "
          + "by that"
      )
    }
  }

  /// A withdrawal whose task is cancelled, the one of three with that index, is paid or not, and its answer is true.
  static func withdrawalCancelled<Account: LearnerAccount>(
    _ type: Account.Type,
    cancelled: Int
  ) -> GradeBook.Question {
    let amounts = [60, 30, 10]
    let name = ["first", "second", "third"][cancelled]
    return promise(
      "cancelled",
      "withdrawals of 60, 30 and 10 from 100, the \(name) of which is cancelled",
      tasks: amounts.enumerated().map { number, amount in
        "the withdrawal of \(amount)\(number == cancelled ? ", which is cancelled" : "")"
      },
      preemptions: onePreemption,
      schedules: 4_000
    ) {
      let account = Account(balance: 100, bank: Bank())
      let tasks = amounts.enumerated().map { number, amount in
        Task(priority: .inTurn(number)) { await withdraw(amount, from: account) }
      }
      await Task.yield()
      tasks[cancelled].cancel()
      var left = 100
      for (number, (task, amount)) in zip(tasks, amounts).enumerated() {
        let (paid, isApproved) = await task.value
        try require(!paid || isApproved, "\(amount) was paid, and the bank had not approved it")
        try require(
          paid || number == cancelled,
          "\(amount) was refused to a task that nobody cancelled, though there was enough"
        )
        if paid { left -= amount }
      }
      let told =
        "the task that was cancelled was told \(left == 0), so \(left) of 100 are left; "
      let tooMuch = await account.withdraw(left + 1)
      try require(!tooMuch, "\(told)\(left + 1) was paid")
      if left > 0 {
        let rest = await account.withdraw(left)
        try require(rest, "\(told)\(left) was refused, so the money was taken")
      }
    }
  }
}
