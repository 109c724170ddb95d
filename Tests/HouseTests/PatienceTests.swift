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
}
