import Basics
import GradeReport
import Mechanisms
import TestSupport
import Testing

@testable import Grading

/// What each lesson's grading must refuse, and by which question.
@Suite(.watched, .serialized) struct `Wrong answers` {
  private func refusal(_ book: GradeBook, seed: UInt64 = 1) async -> GradeItem? {
    var failed: GradeItem?
    _ = await book.grade(GradeBook.Terms(seed: seed, storm: 0.02, executor: racetrack)) {
      if !$0.passed { failed = $0 }
    }
    return failed
  }

  private func expect(
    _ book: GradeBook,
    refusedBy name: String,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let failed = await refusal(book)
    #expect(failed?.name == name, "\(failed as Any)", sourceLocation: location)
    #expect(failed?.sentence.contains(part) == true, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `in the order of service are refused in lessons 7, 8, 9 and 16`() async {
    let overtaken = "was overtaken by"
    typealias LIFO = Flawed<LastComeFirstServed>
    await expect(Grader.limiter(LIFO.self), refusedBy: "long_line", saying: overtaken)
    await expect(Grader.cancellableLimiter(LIFO.self), refusedBy: "long_line", saying: overtaken)
    await expect(Grader.pool(LastFirstPool.self), refusedBy: "long_line", saying: overtaken)
    await expect(
      Grader.design(Flawed<LastFirstWhenLong>.self),
      refusedBy: "long_line",
      saying: overtaken
    )
    await expect(
      Grader.design(Flawed<MiddleFirstWhenVeryLong>.self),
      refusedBy: "long_line",
      saying: overtaken
    )
  }

  @Test func `in the number of permits are refused where the corner is reached`() async {
    await expect(
      Grader.design(Flawed<FullLine>.self),
      refusedBy: "long_line",
      saying: "over-admission"
    )
    await expect(
      Grader.design(Flawed<OneTooMany>.self),
      refusedBy: "long_line",
      saying: "over-admission"
    )
    await expect(Grader.limiter(Flawed<FewPermits>.self), refusedBy: "long_line", saying: "permits")
    await expect(Grader.limiter(Flawed<OneTooFew>.self), refusedBy: "long_line", saying: "permits")
    await expect(
      Grader.limiter(Flawed<ReturnsTwo>.self),
      refusedBy: "safety_three",
      saying: "over-"
    )
  }

  @Test func `in what becomes of a task are refused`() async {
    await expect(
      Grader.cancellableLimiter(Flawed<ChecksOnLeaving>.self),
      refusedBy: "cancellation",
      saying: "not-served"
    )
    await expect(
      Grader.cancellableLimiter(Flawed<LosesOnCancel>.self),
      refusedBy: "cancellation",
      saying: "permit-leak"
    )
    await expect(Grader.limiter(Flawed<RunsTwice>.self), refusedBy: "safety", saying: "ran-twice")
    await expect(
      Grader.limiter(TurnsAway.self),
      refusedBy: "long_line",
      saying: "told that it was cancelled"
    )
  }

  @Test func `of pools and accounts are refused`() async {
    await expect(
      Grader.pool(SameElementPool.self),
      refusedBy: "elements",
      saying: "took 1, 1 and 1, expected 1, 2 and 3"
    )
    await expect(
      Grader.account(CountsPending.self),
      refusedBy: "amounts",
      saying: "overdrawn"
    )
    await expect(Grader.account(KnowsSixty.self), refusedBy: "amounts", saying: "was refused")
    await expect(Grader.account(KeepsSome.self), refusedBy: "amounts", saying: "was refused")
  }

  @Test func `show the same again at the same seed`() async {
    for seed: UInt64 in [7, 8] {
      let first = await refusal(Grader.design(Flawed<LastFirstWhenLong>.self), seed: seed)
      let again = await refusal(Grader.design(Flawed<LastFirstWhenLong>.self), seed: seed)
      #expect(first?.sentence.contains("seed \(seed): t") == true, "\(first as Any)")
      #expect(first == again)
    }
  }

  @Test func `that never come back are refused`() async {
    await expect(
      Grader.limiter(NeverRuns.self),
      refusedBy: "values",
      saying: "one task alone: no end within 10 s. Look for a task that nobody wakes"
    )
  }

  // MARK: The storm

  private static let notJudged = "not judged, because on one processor no two tasks run at once"

  /// What the storm says; on one processor, that it cannot judge.
  private func expectStorm(
    _ book: GradeBook,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    var last: GradeItem?
    let passed = await book.grade(GradeBook.Terms(seed: 1, executor: racetrack)) { last = $0 }
    #expect(last?.name == "storm", "\(last as Any)", sourceLocation: location)
    #expect(passed == (Storm.processors == 1), "\(last as Any)", sourceLocation: location)
    let expected = Storm.processors == 1 ? Self.notJudged : part
    #expect(last?.sentence.contains(expected) == true, "\(last as Any)", sourceLocation: location)
  }

  @Test func `with two locks where one is needed are refused by a storm that says who waits`() async
  {
    let waits = "waits for ever for a permit, though nobody is in service"
    await expectStorm(Grader.limiter(TwoLocks.self), saying: waits)
    await expectStorm(Grader.pool(TwoLocksPool.self), saying: waits)
  }

  @Test func `that look and then take are refused by a storm that says who is in service`() async {
    let report = await onOwnThread {
      Storm(
        entry: CatalogueEntry(LimiterAdapter<LooksThenTakes>.self),
        cancels: false,
        fails: false,
        seed: 1,
        executor: racetrack
      ).run()
    }
    if Storm.processors > 1 {
      #expect(report.fault?.contains("are in service at once: ") == true, "\(report)")
    }
  }

  @Test func `are not judged by a storm on one processor`() {
    let entry = CatalogueEntry(LimiterAdapter<TwoLocks>.self)
    let item = Storm.question(entry, processors: 1).ask(
      GradeBook.Terms(seed: 1, executor: racetrack)
    )
    #expect(item.passed)
    #expect(item.sentence.contains(Self.notJudged))
  }
}
