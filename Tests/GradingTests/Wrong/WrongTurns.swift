import Grading
import Synchronization

/// Asks again and again whether the withdrawal before is through, until the test is over.
actor SpinsForItsTurn: LearnerAccount {
  static let isOver = Atomic(false)
  private var balance: Int
  private let bank: Bank
  private var isBusy = false

  init(balance: Int, bank: Bank) {
    self.balance = balance
    self.bank = bank
  }

  func withdraw(_ amount: Int) async -> Bool {
    while isBusy, !Self.isOver.load(ordering: .relaxed) { await Task.yield() }
    isBusy = true
    defer { isBusy = false }
    guard balance >= amount else { return false }
    await bank.approve()
    balance -= amount
    return true
  }
}
