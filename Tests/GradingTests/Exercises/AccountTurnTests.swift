import Synchronization
import TestSupport
import Testing

@testable import Grading

/// Accounts in which one withdrawal waits for another.
@Suite(.watched, .serialized) struct `Turns at an account` {
  @Test(.long) func `that are asked for again and again are refused when nothing moves`() async {
    await expect(
      Grader.account(SpinsForItsTurn.self),
      "cancelled_among_many",
      refusedSaying: "of 13 withdrawals 0 have an answer, 1 is at the bank, and nothing moves, for"
    )
    SpinsForItsTurn.isOver.store(true, ordering: .relaxed)
  }
}
