import TestSupport
import Testing

@testable import Grading

/// When an answer is no longer waited for.
@Suite(.watched) struct `Patience with an answer` {
  /// How many equal looks it takes until no answer is expected.
  private func looks(
    seconds: Int = 60,
    sharesPool: Bool,
    poolHasTurn: Bool = true,
    steps: (Int) -> Int = { _ in 0 },
    areAllAsleep: Bool = false
  ) -> Int {
    var patience = QuestionPatience(seconds: seconds, sharesPool: sharesPool)
    var count = 0
    while !patience.isOver {
      count += 1
      patience.look(poolHasTurn: poolHasTurn, steps: steps(count), areAllAsleep: areAllAsleep)
    }
    return count
  }

  @Test func `is as long as the question says, in tenths of a second`() {
    #expect(looks(seconds: 7, sharesPool: false) == 70)
  }

  @Test func `is five times as long where the pool has no turn`() {
    #expect(looks(seconds: 7, sharesPool: false, poolHasTurn: false) == 350)
  }

  @Test
  func `ends when all threads have slept for five seconds, also where the answer holds the pool`() {
    #expect(looks(sharesPool: false, areAllAsleep: true) == 50)
    #expect(looks(sharesPool: false, poolHasTurn: false, areAllAsleep: true) == 50)
    #expect(looks(sharesPool: true, areAllAsleep: true) == 50)
  }

  @Test func `outlasts the five seconds for which another test holds the pool`() {
    #expect(looks(sharesPool: true, poolHasTurn: false, areAllAsleep: true) == 250)
  }

  @Test func `ends ten seconds after the last step of an exploration`() {
    #expect(looks(sharesPool: true, steps: { min($0, 20) }) == 120)
    #expect(looks(sharesPool: true, steps: { $0 }) == 600)
  }

  @Test func `begins anew when a thread was awake`() {
    var patience = QuestionPatience(seconds: 60, sharesPool: false)
    for look in 1...98 {
      patience.look(poolHasTurn: true, steps: 0, areAllAsleep: look != 49)
      #expect(!patience.isOver)
    }
    patience.look(poolHasTurn: true, steps: 0, areAllAsleep: true)
    #expect(patience.isOver)
    #expect(patience.seconds == 9)
  }
}
