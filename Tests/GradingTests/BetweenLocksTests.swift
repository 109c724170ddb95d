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
  @Test(.search) func `a permit of downloads is lost, or given twice`() async {
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
      refusedSaying: "of list 2, file 7 was fetched 0 times"
    )
    await expect(downloader(SoundPermits.self), "again")
  }

  private func batch<F: CountFlaw>(_ flaw: F.Type) -> GradeBook {
    Grader.batch(CountingBatch<F>.self)
  }

  @Test(.search) func `a file of a batch waits beside a free permit, or is not counted`() async {
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

  @Test(.search) func `who is told that a list is over cannot send the next`() async {
    await expect(
      batch(TellsUnderTheLock.self),
      "sends_next",
      refusedSaying: "'download' does not return there"
    )
    await expect(
      batch(TellsHoldingThePermit.self),
      "sends_next",
      refusedSaying: "which waits for its end: the second is never over"
    )
    await expect(batch(SoundCount.self), "sends_next")
  }

  // In a program of its own: whoever else asks meanwhile would have to wait as well.
  @Test(.search) func `a right batch is not refused because others hold the pool`() async {
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
