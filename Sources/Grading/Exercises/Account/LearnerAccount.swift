package import Mechanisms
internal import Synchronization

/// What a learner writes in the exercise on re-entrancy: an account that must not be overdrawn.
package protocol LearnerAccount: Actor {
  /// Opens an account; each withdrawal is to be approved by `bank`.
  init(balance: Int, bank: Bank)

  /// Takes out `amount` if there is enough and the bank approves; says whether it did.
  ///
  /// Of an actor's own function and of one that is `nonisolated`: where the requirement is the actor's, Swift 6.3
  /// makes of the latter a call that stops the program.
  nonisolated func withdraw(_ amount: Int) async -> Bool
}

/// Approves withdrawals, which takes a moment: other tasks run meanwhile.
package struct Bank: Sendable {
  /// Whether the withdrawal under way has been approved; nil where none is.
  @TaskLocal static var approval: Approval?

  final class Approval: Sendable {
    let isGiven = Atomic(false)
  }

  /// What it takes to approve one.
  var deliberation: @Sendable () async -> Void = { await Task.yield() }

  /// Suspends, then approves.
  package func approve() async {
    await deliberation()
    Self.approval?.isGiven.store(true, ordering: .relaxed)
  }
}

/// What simulated tasks withdraw, and from how much.
enum LearnerAccountLedger {
  /// Enough for a withdrawal of 60 for each permit of the limit, and some change.
  static func balance(limit: Int) -> Int { 60 * limit + 40 }

  /// As many as the task serves milliseconds; 60 where time is not measured.
  static func amount(of task: SimulatedTask) -> Int {
    task.service < 1_000_000 ? 60 : Int(task.service / 1_000_000)
  }
}

/// Carries withdrawals through a learner's account.
///
/// Each task withdraws its amount and holds it while it serves. So where all withdraw 60, more tasks in
/// service than the limit is an account overdrawn.
package struct LearnerAccountMechanism<Account: LearnerAccount>: Mechanism {
  package static var id: String { Catalogue.yours }

  package static var profile: MechanismProfile {
    MechanismProfile(
      order: .none,
      cancellation: .neverWaits,
      lendsPermitsOnly: false,
      summary: "your account",
      explanation: "The account you have written; a task is a withdrawal."
    )
  }

  private let account: Account
  private let setup: MechanismSetup

  package init(_ setup: MechanismSetup) {
    self.setup = setup
    account = Account(
      balance: LearnerAccountLedger.balance(limit: setup.limit),
      bank: Bank()
    )
  }

  package func carry(_ visit: Visit) async {
    visit.arrive()
    let amount = LearnerAccountLedger.amount(of: visit.task)
    let approval = Bank.Approval()
    let isPaid = await Bank.$approval.withValue(approval) { await account.withdraw(amount) }
    if isPaid, !approval.isGiven.load(ordering: .relaxed) {
      setup.fault("the account paid \(amount) that the bank had not approved")
    }
    if isPaid {
      try? await visit.serve()
    } else {
      visit.reject()
    }
  }

  package func visits<Body: VisitBody>(_ times: Int, _ body: Body) async {
    for _ in 0..<times where await account.withdraw(60) { body.onThread() }
  }
}
