internal import Synchronization

/// Two withdrawals from an account that an actor keeps: who looks, awaits and takes, and what is left.
package struct Overdraft: Sendable {
  /// What is done about it.
  package enum Remedy: String, CaseIterable, Sendable {
    case none
    /// The money is taken before the bank is asked.
    case reserve
    /// The account looks again when the bank has answered, and takes in the same step.
    case recheck
  }

  /// What a withdrawal does, between two suspensions or at one.
  package struct Entry: Hashable, Sendable {
    /// Which withdrawal, from 1.
    package let withdrawal: Int
    package let text: String
    /// What is on the account afterwards.
    package let balance: Int
  }

  package static let balance = 100
  package static let amount = 60

  package var remedy = Remedy.none

  package init() {}

  /// In virtual time: the second withdrawal comes while the bank thinks about the first.
  package func run() async -> [Entry] {
    let scheduler = VirtualScheduler(workers: 1)
    let account = Account(remedy, scheduler.clock)
    for withdrawal in 1...2 {
      Task(executorPreference: scheduler) { await account.withdraw(withdrawal) }
    }
    _ = await scheduler.onOwnThread { $0.runUntilIdle() }
    return account.entries.withLock { $0 }
  }

  private actor Account {
    private let remedy: Remedy
    private let clock: VirtualClock
    private var balance = Overdraft.balance
    nonisolated let entries = Mutex<[Entry]>([])

    init(_ remedy: Remedy, _ clock: VirtualClock) {
      self.remedy = remedy
      self.clock = clock
    }

    func withdraw(_ withdrawal: Int) async {
      guard look(withdrawal, again: false) else { return }
      if remedy == .reserve { take(withdrawal) }
      note(withdrawal, "awaits the bank")
      // The bank approves everything, which takes a moment; nobody cancels.
      try? await clock.sleep(nanoseconds: 10_000_000)
      if remedy == .recheck, !look(withdrawal, again: true) { return }
      if remedy != .reserve { take(withdrawal) }
    }

    private func look(_ withdrawal: Int, again: Bool) -> Bool {
      let isEnough = balance >= Overdraft.amount
      note(
        withdrawal,
        "looks\(again ? " again" : ""): \(balance) is \(isEnough ? "enough" : "too little, refused")"
      )
      return isEnough
    }

    private func take(_ withdrawal: Int) {
      balance -= Overdraft.amount
      note(withdrawal, "takes \(Overdraft.amount)")
    }

    private func note(_ withdrawal: Int, _ text: String) {
      entries.withLock {
        $0.append(Entry(withdrawal: withdrawal, text: text, balance: balance))
      }
    }
  }
}
