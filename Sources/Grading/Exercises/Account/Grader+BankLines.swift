internal import Basics
internal import Experiments
internal import LessonBook
internal import Limiters

/// Who is cancelled while many are at the bank.
extension Grader {
  /// Whoever of many is cancelled at the bank, what the account says of each withdrawal is so.
  static func cancelledAmongMany<Account: LearnerAccount>(
    _ type: Account.Type
  ) -> GradeBook.Question {
    let name = "cancelled_among_many"
    let count = 12
    let amounts = Array(1...count)
    let all = amounts.reduce(0, +)
    let asked =
      "withdrawals of 1 to \(count) and of the largest Int at once, from \(all) and from \(all / 2)"
    let sight = LastSight()
    return .task(name, asked, seconds: 60, sight: sight) { _ in
      let parts: [(who: String, [Int])] = [
        ("nobody", []), ("the first", [1]), ("the sixth", [6]), ("the last", [count]),
        ("every third", Array(stride(from: 1, through: count, by: 3))), ("everybody", amounts),
      ]
      for balance in [all, all / 2] {
        for (who, cancelled) in parts {
          guard let fault = await fault(of: type, balance, amounts, cancelled, sight)
          else { continue }
          return GradeItem(
            name,
            passed: false,
            "withdrawals of 1 to \(count) at once from \(balance), and \(who) is cancelled before the bank has approved: "
              + fault
          )
        }
      }
      return GradeItem(name, passed: true, "\(asked): whoever is cancelled, none is lost")
    }
  }

  /// One more comes than there are amounts, and asks for more than any account has.
  private static func fault<Account: LearnerAccount>(
    of type: Account.Type,
    _ balance: Int,
    _ amounts: [Int],
    _ cancelled: [Int],
    _ sight: LastSight
  ) async -> String? {
    sight.move()
    let scheduler = VirtualScheduler(workers: 1)
    let door = SlowDoor()
    let account = Account(
      balance: balance,
      bank: Bank {
        sight.move()
        try? await door.pass()
      }
    )
    let told = Lock<[Int: Bool]>([:])
    sight.tell {
      "somebody asks again and again whether its turn has come, instead of awaiting something that ends with the one "
        + "before: of \(amounts.count + 1) withdrawals \(told.withLock { $0.count }) have an answer, \(door.count) "
        + "\(door.count == 1 ? "is" : "are") at the bank, and nothing moves"
    }
    let tasks = (amounts + [Int.max]).map { amount in
      Task(executorPreference: scheduler) { @Sendable in
        let isPaid = await account.withdraw(amount)
        told.withLock { $0[amount] = isPaid }
        sight.move()
      }
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    for number in cancelled { tasks[number - 1].cancel() }
    repeat { _ = await scheduler.onOwnThread { $0.runUntilIdle() } } while door.open()
    let answers = told.withLock { $0 }
    if answers.count <= amounts.count {
      return "\(tasks.count - answers.count) of \(tasks.count) wait for ever"
    }
    if answers[Int.max] == true { return "then one came for \(Int.max), and was paid" }
    let left = balance - amounts.filter { answers[$0] == true }.reduce(0, +)
    if left < 0 { return "\(balance - left) was paid" }
    let isEnough = balance == amounts.reduce(0, +)
    if isEnough,
      let one = amounts.first(where: { answers[$0] == false && !cancelled.contains($0) })
    {
      return "\(one) was refused to a task that nobody cancelled, though there was enough"
    }
    let rest = Lock<[Bool]>([])
    Task(executorPreference: scheduler) { @Sendable in
      for amount in [left + 1, left] {
        let isPaid = await account.withdraw(amount)
        rest.withLock { $0.append(isPaid) }
      }
    }
    repeat { _ = await scheduler.onOwnThread { $0.runUntilIdle() } } while door.open()
    let place = "by what each was told, \(left) of \(balance) are left; "
    switch rest.withLock({ $0 }) {
    case [false, true]: return nil
    case [false, false]:
      return place
        + "\(left) was refused: either money was taken of which a task was told that it was not, or the account pays "
        + "nobody any more"
    case let answers where answers.first == true: return place + "\(left + 1) was paid"
    default: return place + "who asked for them waits for ever"
    }
  }
}
