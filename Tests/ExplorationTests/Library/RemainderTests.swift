import Exploration
import Synchronization
import TestSupport
import Testing

/// What `explore` goes over to where there are too many schedules to be searched in order.
@Suite(.inTurn, .watched) struct `An exploration that is too large` {
  final class First: Sendable {
    private let number = Mutex<Int?>(nil)

    var isLast: Bool { number.withLock { $0 == 4 } }

    func note(_ task: Int) { number.withLock { $0 = $0 ?? task } }
  }

  /// Wrong where the last task begins first: the search in order keeps to its first choices for long.
  @Sendable static func deep() async throws {
    let first = First()
    await withTaskGroup { group in
      for task in 1...4 {
        group.addTask {
          first.note(task)
          await Task.yield()
          await Task.yield()
        }
      }
    }
    try require(!first.isLast, "the last was first")
  }

  /// The same with nothing wrong.
  @Sendable static func wide() async {
    await withTaskGroup { group in
      for _ in 1...6 {
        group.addTask {
          await Task.yield()
          await Task.yield()
        }
      }
    }
  }

  @Test func `finds what lies deep by PCT, and that schedule is small and can be run again`() throws
  {
    let failure = try ExploreTests.failure("deep", schedules: 400, Self.deep)
    #expect(
      failure.description.contains(
        #/^'deep' fails in schedule \d+, drawn by PCT \(depth 3, seed 1\); the smallest that fails: 0 pre-emptions: the last/#
      ),
      "\(failure)"
    )
    let again = try ExploreTests.failure("deep", replaying: failure.schedule, Self.deep)
    #expect(again.schedule == failure.schedule)
  }

  @Test func `searches on in order where it is told to, and says about how many there are`() throws
  {
    let verdict = try explore("deep", schedules: 400, instead: nil, Self.deep)
    #expect((verdict.schedules, verdict.drawn) == (400, 0))
    let estimate = try #require(verdict.estimate)
    #expect(estimate > 4_000)
    #expect(verdict.chance == nil)
    #expect(
      verdict.description.contains(
        #/not covered: schedules behind the first 400 of about [\d.,]+( [mb]illion)? \(an estimate\)/#
      ),
      "\(verdict)"
    )
  }

  @Test func `says how many were in order, how many were drawn, and what that promises`() throws {
    let wanted = ExplorationStrategy.pct(schedules: 50, depth: 2, seed: 9)
    let verdict = try explore("wide", schedules: 400, instead: wanted, Self.wide)
    #expect(verdict.coverage == .bounded && !verdict.ranEverySchedule)
    #expect((verdict.schedules, verdict.drawn) == (150, 50))
    let chance = try #require(verdict.chance)
    #expect((0.002...0.05).contains(chance))
    #expect(
      verdict.description.hasPrefix(
        "bounded: 150 schedules (100 in order, with at most 2 pre-emptions; then 50 drawn by PCT (depth 2, seed 9), "
          + "with any number), "
      ),
      "\(verdict)"
    )
    let rest =
      #/the rest of about [\d.,]+( \w+)? schedules \(an estimate\), of which 400 fit in the limit: 100 were searched/#
    #expect(verdict.notCovered.contains { $0.contains(rest) }, "\(verdict)")
    let promise =
      #/with a chance of 1 in \d+ or more, with \d tasks and \d+ steps, and by 50 with one of \d+ % or/#
    #expect(verdict.notCovered.contains { $0.contains(promise) }, "\(verdict)")
    #expect(
      verdict.notCovered.contains("more than 2 pre-emptions, but in those that were drawn"),
      "\(verdict)"
    )
    // Chance promises nothing.
    let random = try explore(
      "wide",
      schedules: 400,
      instead: .random(schedules: 50, seed: 9),
      Self.wide
    )
    #expect((random.schedules, random.drawn) == (150, 50))
    #expect(random.chance == nil)
    #expect(random.description.contains("then 50 drawn by chance (seed 9)"), "\(random)")
    // Without a bound there is one for all of them.
    let any = try explore(
      "wide",
      preemptions: nil,
      schedules: 400,
      instead: wanted,
      Self.wide
    )
    #expect(
      any.description.hasPrefix(
        "bounded, any number of pre-emptions: 150 schedules (100 in order, then 50 drawn by PCT (depth 2, seed 9)), "
      ),
      "\(any)"
    )
  }

  @Test func `is no exploration that fits, whatever it would go over to`() throws {
    let whole = try explore("two", instead: nil, Self.two)
    // Enough for an estimate to be made on the way.
    #expect(whole.schedules > 100 && whole.drawn == 0, "\(whole)")
    #expect(!whole.notCovered.contains { $0.hasPrefix("schedules behind") }, "\(whole)")
    let exact = try explore("two", schedules: whole.schedules, Self.two)
    #expect(exact == whole)
    #expect(exact.estimate == nil)
  }

  @Sendable static func two() async {
    await withTaskGroup { group in
      for _ in 1...2 {
        group.addTask { for _ in 1...4 { await Task.yield() } }
      }
    }
  }

  @Test func `cannot go over to what it does already, nor to nothing`() async {
    let same = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("same", instead: .exhaustive) {}
    }
    let text = String(decoding: same?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("cannot go over to what it does already; pass nil"), "\(text)")
    let none = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("none", instead: .pct(schedules: 0)) {}
    }
    let words = String(decoding: none?.standardErrorContent ?? [], as: UTF8.self)
    #expect(words.contains("goes over to at least 1 schedule, not 0"), "\(words)")
  }
}
