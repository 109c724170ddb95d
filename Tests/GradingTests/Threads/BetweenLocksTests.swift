import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Answers that run on threads, and are wrong only if somebody comes between two locks of theirs.
@Suite(.watched, .serialized) struct `Between two locks of a thread` {
  private func downloader<F: PermitFlaw>(_ flaw: F.Type) -> GradeBook {
    Grader.downloader(Permits<F>.self)
  }

  // Somebody comes in between on another processor.
  @Test(.long) func `a permit of downloads is lost, or given twice`() async {
    await expect(
      downloader(FreesLater.self),
      "as_a_file_ends",
      refusedSaying: "a file waits for ever"
    )
    // Two run at once, or one waits for ever: that is up to the threads.
    await expect(
      downloader(TakesLate.self),
      "as_a_file_ends",
      refusedSaying: "a list comes just as"
    )
    await expect(downloader(SoundPermits.self), "as_a_file_ends")
  }

  @Test func `a list's fetches go on when it is cancelled, and know of no list before`() async {
    for name in ["cancelled", "cancelled_meanwhile"] {
      await expect(
        downloader(CancelsFetches.self),
        name,
        refusedSaying: "a file was fetched by a task that is cancelled"
      )
      await expect(downloader(SoundPermits.self), name)
    }
    await expect(
      downloader(RemembersFiles.self),
      "again",
      refusedSaying: "of list 2, file 7 was fetched not at all"
    )
    await expect(downloader(SoundPermits.self), "again")
  }

  private func batch<F: CountFlaw>(_ flaw: F.Type) -> GradeBook {
    Grader.batch(CountingBatch<F>.self)
  }

  @Test(.long) func `a file of a batch waits beside a free permit, or is not counted`() async {
    await expect(
      batch(FreesThePermitLater.self),
      "as_a_file_ends",
      refusedSaying: "a file waits for ever"
    )
    await expect(
      batch(CountsInTwoSteps.self),
      "as_a_file_ends",
      refusedSaying: "end at the same moment: all files have come, and a 'whenAll'"
    )
    await expect(
      batch(CountsAsSent.self),
      "as_a_list_comes",
      refusedSaying: "of 4 had come"
    )
    for name in ["as_a_file_ends", "as_a_list_comes"] { await expect(batch(SoundCount.self), name) }
  }

  @Test(.long) func `who is told that a list is over cannot send the next`() async {
    await expect(
      batch(TellsUnderTheLock.self),
      "sends_next",
      refusedSaying: "'download' does not return there"
    )
    await expect(
      batch(TellsHoldingThePermit.self),
      "sends_next",
      refusedSaying: "which waits for its end: list 2 is never over. Give the last permit back"
    )
    await expect(batch(SoundCount.self), "sends_next")
  }

  private func batch<F: EndFlaw>(_ flaw: F.Type) -> GradeBook { Grader.batch(Ending<F>.self) }

  @Test(.long) func `ends of a batch hold up others, and let in one too many`() async {
    await expect(
      batch(LendsAtTheEnd.self),
      "sends_next",
      refusedSaying:
        "lists of 2, 3, limit 1, each sent by the 'whenAll' of the one before, which waits for its "
        + "end: 2 ran at once"
    )
    await expect(
      batch(EndsEmptyAtGate.self),
      "sends_next",
      refusedSaying: "list 2 is never over. A 'whenAll' may wait, so call it on no queue that"
    )
    await expect(
      batch(TwoEndsAtOnce.self),
      "sends_next",
      refusedSaying: "all files of list 3 have come, and its 'whenAll' was not called while 2"
    )
    await expect(
      batch(ThreeEndsAtOnce.self),
      "sends_next",
      refusedSaying: "all files of list 4 have come, and its 'whenAll' was not called while 3"
    )
    await expect(batch(SoundEnd.self), "sends_next")
  }

  @Test func `a file that another list has on its way is not fetched`() async {
    await expect(
      batch(JoinsAnotherList.self),
      "same_file",
      refusedSaying: "it was fetched once. Each list has it fetched"
    )
    await expect(batch(SoundEnd.self), "same_file")
  }

  @Test(.long) func `a batch with fewer permits than a wide limit is refused`() async {
    await expect(
      batch(EightPermits.self),
      "explored_wide",
      refusedSaying: "at most 8 were fetched at once"
    )
    await expect(batch(SoundEnd.self), "explored_wide")
  }

  // In a program of its own: whoever else asks meanwhile would have to wait as well.
  @Test(.long) func `a right batch is not refused because others hold the pool`() async {
    await #expect(processExitsWith: .success) {
      let end = ContinuousClock.now + .seconds(8)
      for _ in 0..<max(2, ProcessInfo.processInfo.activeProcessorCount) {
        Task.detached { while ContinuousClock.now < end {} }
      }
      await expect(Grader.batch(CountingBatch<SoundCount>.self), "sends_next")
    }
  }

  @Test func `who asks the same as others is told what another was`() async {
    await expect(
      Grader.client(FindsThenTakes<FindsFirst>.self),
      "same_at_once",
      refusedSaying: "Find who waits, and take it out of the line, under one lock"
    )
    await expect(Grader.client(FindsThenTakes<TakesAtOnce>.self), "same_at_once")
  }
}
