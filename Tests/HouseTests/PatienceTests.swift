import TestSupport
import Testing

@Suite(.watched) struct `The patience with a program under test` {
  @Test func `is not lost to a machine that stands still`() {
    var now = ContinuousClock.now
    var patience = Patience(.seconds(3), now: now)
    var verdicts: [Bool] = []
    for pause in [600_000, 999, 999, 2].map(Duration.milliseconds) {
      now += pause
      verdicts.append(patience.isOver(now: now))
    }
    #expect(verdicts == [false, false, false, true])
  }

  @Test func `waits for what comes, and says that something does not come`() async {
    var looks = 0
    let hasCome = await comes {
      looks += 1
      return looks == 3
    }
    #expect(hasCome && looks == 3)
    let doesCome = await comes(within: .milliseconds(5)) { false }
    #expect(!doesCome)
  }
}
