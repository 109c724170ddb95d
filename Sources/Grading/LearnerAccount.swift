package import Mechanisms
internal import Workloads

/// What a learner writes in the exercise on re-entrancy: an account that must not be overdrawn.
package protocol LearnerAccount: Actor {
  /// Opens an account; each withdrawal is to be approved by `bank`.
  init(balance: Int, bank: Bank)

  /// Takes out `amount` if there is enough and the bank approves; says whether it did.
  func withdraw(_ amount: Int) async -> Bool
}

/// Approves withdrawals, which takes a moment: other tasks run meanwhile.
package struct Bank: Sendable {
  /// Suspends, then approves.
  package func approve() async { await Task.yield() }
}

/// Carries withdrawals through a learner's account.
///
/// The account has 60 for each permit of the limit, and some change; each task withdraws 60 and holds
/// it while it serves. So more tasks in service than the limit is an account overdrawn.
package struct LearnerAccountMechanism<Account: LearnerAccount>: Mechanism {
  package static var id: String { "yours" }

  package static var profile: MechanismProfile {
    MechanismProfile(
      order: .none,
      cancellation: .neverWaits,
      lendsPermitsOnly: false,
      summary: "your account",
      explanation: "The account you have written; a task is a withdrawal of 60."
    )
  }

  private let account: Account

  package init(_ setup: MechanismSetup) {
    account = Account(balance: 60 * setup.limit + 40, bank: Bank())
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    if await account.withdraw(60) {
      try? await visit.serve()
    } else {
      visit.reject()
    }
  }

  package func pass(times: Int, _ body: @escaping @Sendable () -> Void) async {
    for _ in 0..<times where await account.withdraw(60) { body() }
  }
}
