import Basics
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Wrong answers that the graders once called right because nobody else came meanwhile, each by the question that
/// refuses it.
@Suite(.watched, .serialized, .long) struct `Answers wrong when others come` {
  private func expect(
    _ book: GradeBook,
    _ name: String,
    refusedSaying part: String? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let terms = GradeBook.Terms(
      seed: 1,
      executor: racetrack,
      sharesPool: true,
      threads: { GateForEachList.waiting.value }
    )
    let questions = book.questions.filter { $0.name == name }
    #expect(!questions.isEmpty, "no question is called \(name)", sourceLocation: location)
    var last: GradeItem?
    for question in questions where last?.passed != false {
      last = await onOwnThread { question.ask(terms) }
    }
    Forgotten.letGo()
    #expect(last?.passed == (part == nil), "\(last as Any)", sourceLocation: location)
    if let part {
      #expect(last?.sentence.contains(part) == true, "\(last as Any)", sourceLocation: location)
    }
  }

  @Test func `of lists of downloads are refused`() async {
    func downloader<S: ShortCut>(_ shortCut: S.Type) -> GradeBook {
      Grader.downloader(ShortCutDownloader<S>.self)
    }
    await expect(
      downloader(OneFilePassesBy.self),
      "limit_of_ones",
      refusedSaying: "300 lists at once, of 1 file each, limit 2: "
    )
    await expect(
      downloader(OneAfterTheOtherPassesBy.self),
      "limit_of_two",
      refusedSaying: "two lists at once, of 4 files each, limit 1: 2 ran at once"
    )
    await expect(
      downloader(WholePages.self),
      "long_list",
      refusedSaying: "20037 downloads, limit 16, every other of which ends at once: file"
    )
    await expect(
      Grader.downloader(LongListGetsMore.self),
      "long_list",
      refusedSaying: "ran at once. The limit holds for a list of any length"
    )
    await expect(
      downloader(StopsWhenCancelled.self),
      "cancelled_meanwhile",
      refusedSaying: "of its files were not there"
    )
    await expect(
      downloader(SharesDownloads.self),
      "in_two_lists",
      refusedSaying: "of list 2, file 7 was fetched not at all"
    )
  }

  @Test func `of batches are refused`() async {
    await expect(
      Grader.batch(OneFileNeedsNoGate.self),
      "threads_of_lists",
      refusedSaying: "200 lists of 2 and 200 of one file at once"
    )
    await expect(
      Grader.batch(ShortListsWait.self),
      "returns_in_line",
      refusedSaying: "a list of 0, limit 1, while another file is under way"
    )
  }

  @Test func `of lists that are alike, short, cancelled or late are refused`() async {
    func downloader<F: ListFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.downloader(DownloaderOfLists<F>.self)
    }
    await expect(
      downloader(TakesAlikeForOne.self),
      "in_two_lists",
      refusedSaying: "all its files have come, and 'download' does not return"
    )
    await expect(
      downloader(EndsWithLastOfEach.self),
      "twice",
      refusedSaying: "'download' returned when 6 had ended"
    )
    await expect(
      downloader(ShortListLowers.self),
      "limits",
      refusedSaying: "1 of the files are under way and no other begins"
    )
    await expect(
      downloader(CancelledPassBy.self),
      "cancelled",
      refusedSaying: "8 files were fetched at once"
    )
    await expect(
      downloader(CancelledLower.self),
      "cancelled_meanwhile",
      refusedSaying: "a list of 2 was sent, and 1 of its files began"
    )
    await expect(
      downloader(RenewsPermits.self),
      "limit_of_ones",
      refusedSaying: "ran at once. The limit is the downloader's"
    )
    await expect(
      Grader.downloader(FlawedDownloader<SkipsZero>.self),
      "twice",
      refusedSaying: "file 0 was fetched not at all"
    )
    for name in [
      "in_two_lists", "twice", "limits", "cancelled", "cancelled_meanwhile", "limit_of_ones",
      "again", "long_list",
    ] { await expect(downloader(SoundLists.self), name) }
  }

  @Test func `of lists of a batch that are alike, short, long or sent from inside are refused`()
    async
  {
    func batch<F: BatchListFlaw>(_ flaw: F.Type) -> GradeBook { Grader.batch(BatchOfLists<F>.self) }
    let overtaken = ", which was sent before it"
    await expect(
      batch(TakesAlikeForOneList.self),
      "same_file",
      refusedSaying: "'whenAll' was not called for each list"
    )
    await expect(
      batch(CallsAtLastOfEach.self),
      "twice",
      refusedSaying: "'whenAll' was called when 6 of 7 had come"
    )
    await expect(
      batch(ShortListTakesPermits.self),
      "three_lists",
      refusedSaying: "1 ran at once, and 2 may"
    )
    await expect(
      batch(TakesPermitAgain.self),
      "as_a_file_ends",
      refusedSaying: "the new list's file began before the one that waited"
    )
    await expect(
      batch(LosesWhatIsMore.self),
      "returns_in_line",
      refusedSaying: "of 20039 files 4097 have come"
    )
    await expect(
      batch(WaitsForRoom.self),
      "returns_in_line",
      refusedSaying: "a list of 20037, limit 1"
    )
    await expect(batch(FetchesOnTheSpot.self), "order", refusedSaying: overtaken)
    await expect(batch(EndsGoFirst.self), "order", refusedSaying: overtaken)
    await expect(batch(KeepsLastList.self), "kept", refusedSaying: "is still kept")
    await expect(batch(KeepsWhoHasWaited.self), "kept", refusedSaying: "is still kept")
    for name in [
      "same_file", "twice", "three_lists", "as_a_file_ends", "returns_in_line", "order", "kept",
    ] { await expect(batch(SoundBatchLists.self), name) }
  }

  @Test func `of questions are refused`() async {
    await expect(
      Grader.client(AnswersWhoAskedFirst.self),
      "same_twice",
      refusedSaying: "you returned 71 and 70"
    )
    await expect(
      Grader.client(AnswersWhoAskedAnyFirst.self),
      "apart_at_once",
      refusedSaying: "their clients returned 71 and 70"
    )
    await expect(
      Grader.client(TableOfAThousand.self),
      "open",
      refusedSaying: "called back for all, and 3976 tasks still wait"
    )
    await expect(
      Grader.client(ForgetsWhoIsCancelled.self),
      "cancelled_meanwhile",
      refusedSaying: "who was cancelled waits for ever"
    )
  }

  @Test func `of reads are refused`() async {
    await expect(
      Grader.reader(ReadsForWhoAskedFirst.self),
      "apart_at_once",
      refusedSaying: "their readers returned 11 and 10"
    )
    await expect(
      Grader.reader(AvoidsLongLines.self),
      "long_line",
      refusedSaying: "one of them held a thread of the pool while it read"
    )
  }

  @Test func `of doors are refused`() async {
    await expect(
      Grader.door(FlawedDoor<LetsTheCancelledThrough>.self),
      "cancelled_waiting",
      refusedSaying: "'wait' returned, and the door was shut"
    )
    await expect(
      Grader.door(FlawedDoor<ForgetsTheCancelled>.self),
      "cancelled_waiting",
      refusedSaying: "2 came through"
    )
    await expect(
      Grader.door(FlawedDoor<WakesSixtyFour>.self),
      "crowd",
      refusedSaying: "64 came through, and 236 wait at an open door"
    )
  }

  @Test func `of a permit and of lines that grow are refused`() async {
    await expect(
      Grader.limiter(Flawed<KeepsPermitOfCancelled>.self),
      "permit_back_cancelled",
      refusedSaying: "its body runs, and the body throws: its permit was not given back"
    )
    await expect(Grader.limiter(Flawed<NoFlaw>.self), "permit_back_cancelled")
    let lost = "300 of them are served, and 17000 more come: "
    await expect(Grader.limiter(GrowsItsLine.self), "grown_line", refusedSaying: lost)
    await expect(Grader.pool(PoolWithALine<LineThatGrows>.self), "grown_line", refusedSaying: lost)
    await expect(
      Grader.cancellableLimiter(Flawed<SecondFirstInACrowd>.self),
      "grown_line",
      refusedSaying: "was overtaken. A line that needs more room keeps its order"
    )
    await expect(Grader.cancellableLimiter(Flawed<NoFlaw>.self), "grown_line")
    await expect(Grader.pool(SoundPool.self), "grown_line")
  }

  @Test func `of records are refused`() async {
    let mixed = "each record belongs in the ledger that 'record' was given with its file"
    await expect(Grader.recorder(OneLedgerForAll.self), "two_ledgers", refusedSaying: mixed)
    await expect(Grader.recorder(AddsWhatWaits.self), "two_ledgers", refusedSaying: mixed)
    await expect(Grader.recorder(FlawedRecorder<SoundRecords>.self), "two_ledgers")
  }
}
