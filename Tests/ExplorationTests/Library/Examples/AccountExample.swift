import Exploration

struct Overdrawn: Error {}

/// Checks, asks the bank, and then acts on what it checked.
actor Account {
  private(set) var balance: Int

  init(balance: Int) { self.balance = balance }

  func withdraw(_ amount: Int) async throws {
    guard balance >= amount else { throw Overdrawn() }
    await Self.authorize()
    balance -= amount
  }

  static func authorize() async { await Task.yield() }
}

/// Takes the amount before it asks.
actor RepairedAccount {
  private(set) var balance: Int

  init(balance: Int) { self.balance = balance }

  func withdraw(_ amount: Int) async throws {
    guard balance >= amount else { throw Overdrawn() }
    balance -= amount
    await Account.authorize()
  }
}

func exploreAccount(replaying schedule: String? = nil) throws(ExplorationFailure) {
  try explore("two withdrawals", replaying: schedule) {
    let account = Account(balance: 100)
    await withTaskGroup { group in
      group.addTask { try? await account.withdraw(80) }
      group.addTask { try? await account.withdraw(80) }
    }
    try require(await account.balance >= 0, "overdrawn")
  }
}

func exploreRepairedAccount() throws(ExplorationFailure) -> ExplorationVerdict {
  try explore("two withdrawals") {
    let account = RepairedAccount(balance: 100)
    await withTaskGroup { group in
      group.addTask { try? await account.withdraw(80) }
      group.addTask { try? await account.withdraw(80) }
    }
    try require(await account.balance >= 0, "overdrawn")
  }
}
