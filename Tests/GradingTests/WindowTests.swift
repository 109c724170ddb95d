import Basics
import LessonBook
import TestSupport
import Testing

@testable import Grading

private func stopTheProgram() {
  _ = [Int]()[0]
}

/// Wrong answers that two tasks and one permit, or a few visits of each kind, do not show.
@Suite(.watched, .serialized, .long) struct `Answers wrong in a window` {
  private func expect(
    _ book: GradeBook,
    _ name: String,
    refusedSaying part: String?,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let terms = GradeBook.Terms(
      seed: 1,
      executor: racetrack,
      sharesPool: true,
      heap: OwnHeap.bytes
    )
    let questions = book.questions.filter { $0.name == name }
    #expect(!questions.isEmpty, "no question is called \(name)", sourceLocation: location)
    var last: GradeItem?
    for question in questions where last?.passed != false {
      last = await onOwnThread { question.ask(terms) }
    }
    #expect(last?.passed == (part == nil), "\(last as Any)", sourceLocation: location)
    if let part {
      #expect(last?.sentence.contains(part) == true, "\(last as Any)", sourceLocation: location)
    }
  }

  @Test func `between two locks, with two permits or three tasks, are refused`() async {
    await expect(
      Grader.limiter(WakesForOnePermit.self),
      "inside_two",
      refusedSaying: "limit 2, stopping at any two operations on locks and atomics: lost-wake-up"
    )
    await expect(
      Grader.cancellableLimiter(LooksThenTakesOut.self),
      "inside_two",
      refusedSaying: "only 1 of 2 permits can be taken"
    )
    await expect(
      Grader.pool(ComparesByCount.self),
      "inside_two_of_four",
      refusedSaying: "a waiter was resumed twice"
    )
    await expect(
      Grader.cancellableLimiter(FreesWhatItHadNot.self),
      "cancelled_as_others_come",
      refusedSaying: "2 bodies ran at once, with one permit"
    )
    await expect(
      Grader.cancellableLimiter(WakesForOnePermit.self),
      "inside_cancelled_two",
      refusedSaying: "waits for ever"
    )
  }

  @Test func `between two locks of those who throw, or who were cancelled, are refused`() async {
    await expect(
      Grader.limiter(TwoLocksForErrors.self),
      "inside_errors",
      refusedSaying:
        "every body throwing, stopping at any two operations on locks and atomics: lost"
    )
    await expect(
      Grader.pool(TwoLocksWhenCancelled.self),
      "cancelled_inside",
      refusedSaying:
        "two tasks, one of which was cancelled before it came, one element: wrong in at least one"
    )
  }

  @Test func `that keep visits of one kind are refused`() async {
    let grows = "memory grows with each"
    func limiter<V: OddVisits>(_ visits: V.Type) -> GradeBook { Grader.limiter(Odd<V>.self) }
    await expect(limiter(KeepsThrown.self), "kept_thrown", refusedSaying: grows)
    await expect(limiter(KeepsWhoNeedNotWait.self), "kept_alone", refusedSaying: grows)
    await expect(limiter(KeepsCancelledVisits.self), "kept_cancelled", refusedSaying: grows)
    await expect(Grader.pool(KeepsLent.self), "kept_alone", refusedSaying: grows)
  }

  @Test func `that are right for the first ten thousand are refused`() async {
    func limiter<V: OddVisits>(_ visits: V.Type) -> GradeBook {
      Grader.cancellableLimiter(Odd<V>.self)
    }
    await expect(limiter(ThrowsTenThousand.self), "many_thrown", refusedSaying: "bodies ran")
    await expect(limiter(CancelsTenThousand.self), "many_cancelled", refusedSaying: "bodies ran")
    await expect(
      Grader.limiter(Flawed<LongLineIsLetIn>.self),
      "grown_line",
      refusedSaying: "was overtaken"
    )
    await expect(
      Grader.pool(TenThousandPool.self),
      "whole_limit",
      refusedSaying: "10000 ran at once; "
    )
  }

  @Test(.long) func `are no others: what is sound passes the same questions`() async {
    let names = [
      "inside_errors", "cancelled_inside", "inside_two", "inside_two_of_four",
      "inside_cancelled_two",
      "cancelled_as_others_come", "kept_alone", "kept_thrown", "kept_cancelled", "many_thrown",
      "many_cancelled", "grown_line",
      "whole_limit",
    ]
    for name in names {
      for book in [
        Grader.limiter(Odd<NothingOdd>.self), Grader.cancellableLimiter(Odd<NothingOdd>.self),
        Grader.pool(SoundPool.self),
      ] where book.questions.contains(where: { $0.name == name }) {
        await expect(book, name, refusedSaying: nil)
      }
    }
  }

  @Test func `of doors that two open, or that thousands wait at, are refused`() async {
    await expect(
      Grader.door(WakesTheFirst.self),
      "opened_twice_for_two",
      refusedSaying: "two tasks wait, two open the door: wrong in at least one schedule"
    )
    await expect(
      Grader.door(LeavesItToTheFirst.self),
      "open_when_opened",
      refusedSaying: "'open' had returned to a task, and it had to wait"
    )
    await expect(
      Grader.door(KeepsOpenings.self),
      "kept_of_openings",
      refusedSaying: "memory grows with each"
    )
    await expect(
      Grader.door(RoomForTenThousand.self),
      "crowd",
      refusedSaying: "10000 came through while the door was shut"
    )
    for name in [
      "three_in_line", "opened_twice_for_two", "open_when_opened", "kept_of_openings", "crowd",
    ] { await expect(Grader.door(SoundDoor.self), name, refusedSaying: nil) }
  }

  @Test func `of who is called back are refused`() async {
    func client<F: CallBackFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.client(CalledClient<F>.self)
    }
    func reader<F: CallBackFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.reader(CalledReader<F>.self)
    }
    for book in [client(ResumesUnderLock.self), reader(ResumesUnderLock.self)] {
      await expect(
        book,
        "cancelled_as_answered",
        refusedSaying: "a lock that is held while the task's continuation is resumed"
      )
    }
    for book in [
      client(KeepsErrors.self), client(KeepsWhoWasCancelled.self), reader(KeepsErrors.self),
      reader(KeepsWhoWasCancelled.self),
    ] { await expect(book, "kept", refusedSaying: "memory grows with each") }
    await expect(client(TwoBytesOfQuestions.self), "many", refusedSaying: "at number 65535")
    await expect(
      reader(TwoBytesOfQuestions.self),
      "many",
      refusedSaying: "4465 did not get their block"
    )
    for name in ["cancelled_as_answered", "kept", "many"] {
      await expect(client(SoundCallBack.self), name, refusedSaying: nil)
      await expect(reader(SoundCallBack.self), name, refusedSaying: nil)
    }
  }

  @Test func `that stop the program are told their line`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardOutputContent]) {
      let question = GradeBook.Question(name: "none") { _ in
        stopTheProgram()
        return GradeItem("none", passed: true, "")
      }
      GradeBook([question]).main()
    }
    let text = String(decoding: result?.standardOutputContent ?? [], as: UTF8.self)
    #expect(text.contains("the program is stopped by your line WindowTests.swift:"), "\(text)")
    #expect(text.contains("_ = [Int]()[0]"), "\(text)")
  }
}
