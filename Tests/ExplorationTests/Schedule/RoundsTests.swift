import TestSupport
import Testing

@testable import Exploration

/// Who goes round in circles, decided without a schedule.
@Suite(.watched) struct `Tasks that go round in circles` {
  private func consequences(_ effect: Rounds.Effect, _ count: Int) -> [Rounds.Consequence] {
    var rounds = Rounds()
    return (1...count).map { rounds.note(effect, on: 3, by: 1, at: $0) }
  }

  private func row(_ consequence: Rounds.Consequence, _ count: Int) -> [Rounds.Consequence] {
    Array(repeating: consequence, count: count)
  }

  @Test func `who looks at one thing more than four times, nothing being written, waits`() {
    #expect(consequences(.looked, 7) == row(.nothing, 4) + row(.waits, 3))
  }

  @Test func `who takes a lock lets others go on four times, and waits from the seventeenth`() {
    let all = row(.letsOthersGoOn, 4) + row(.nothing, 12) + row(.waits, 2)
    #expect(consequences(.took, 18) == all)
  }

  @Test func `who writes never waits, and has all count their looks anew`() {
    #expect(consequences(.wrote, 40) == row(.letsOthersGoOn, 40))
    var rounds = Rounds()
    for step in 1...9 { _ = rounds.note(.looked, on: 3, by: 1, at: step) }
    #expect(rounds.note(.wrote, on: 4, by: 2, at: 10) == .letsOthersGoOn)
    #expect(rounds.note(.looked, on: 3, by: 1, at: 11) == .nothing)
    for step in 12...20 { _ = rounds.note(.looked, on: 3, by: 1, at: step) }
    rounds.noteEvent(at: 21)
    #expect(rounds.note(.looked, on: 3, by: 1, at: 22) == .nothing)
  }

  @Test func `looks at different things, and by different agents, are counted apart`() {
    var rounds = Rounds()
    for object in 1...9 {
      for agent in 1...4 {
        #expect(rounds.note(.looked, on: object, by: agent, at: 1) == .nothing)
      }
    }
  }

  @Test func `rounds end where another writes, and not where the only one that retries does`() {
    var rounds = Rounds()
    rounds.noteIdleRound(of: [1])
    _ = rounds.note(.wrote, on: 3, by: 1, at: 5)
    #expect(rounds.idle == 1)
    _ = rounds.note(.wrote, on: 3, by: 2, at: 6)
    #expect(rounds.idle == 0)
    rounds.noteIdleRound(of: [1, 2])
    _ = rounds.note(.wrote, on: 3, by: 1, at: 7)
    #expect(rounds.idle == 0)
  }

  @Test
  func `a sleeper wakes three times before another that can go on, and then waits for its step`() {
    var rounds = Rounds()
    for _ in 1...2 {
      for _ in 1...3 {
        #expect(!rounds.hasOvertaken(2, by: 1))
        rounds.noteOvertaking(of: [2, 3], by: 1)
      }
      #expect(rounds.hasOvertaken(2, by: 1) && rounds.hasOvertaken(3, by: 1))
      #expect(!rounds.hasOvertaken(2, by: 4))
      rounds.noteStep(of: 2)
      #expect(!rounds.hasOvertaken(2, by: 1) && rounds.hasOvertaken(3, by: 1))
      rounds.noteStep(of: 3)
      #expect(!rounds.hasOvertakings)
    }
  }

  // MARK: A schedule that is too long

  private func judged(news: Int = 0, retrying: Set<Int> = [1], marked: Int = 5, depth: Int = 5)
    -> Violation
  {
    var rounds = Rounds()
    rounds.noteNews(at: news)
    rounds.noteIdleRound(of: retrying)
    rounds.mark([1: marked])
    return rounds.judgeLength(20_000, canGoOn: [2]) { [1: depth] }
  }

  @Test func `a long schedule is a livelock if all retried and changed nothing for half of it`() {
    #expect(judged().kind == .livelock)
    #expect(judged().tasks == [1, 2])
    #expect(judged(news: 9_999).kind == .livelock)
    #expect(judged(news: 10_000).kind == .tooManySteps)
    #expect(judged(retrying: []).kind == .tooManySteps)
  }

  @Test func `calls that get ever deeper are no livelock`() {
    #expect(judged(depth: 5 + Rounds.mostDepth).kind == .livelock)
    let deeper = judged(depth: 6 + Rounds.mostDepth)
    #expect(deeper.kind == .tooManySteps)
    #expect(deeper.message.contains("calls that get ever deeper"))
  }
}
