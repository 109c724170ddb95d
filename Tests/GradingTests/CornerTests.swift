import Basics
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Wrong answers that the graders once called right, each by the question that refuses it.
@Suite(.watched, .serialized, .long) struct `Answers wrong in a corner` {
  /// What a question says of an answer: the first of that name that refuses it, else the last.
  private func item(
    _ name: String,
    of book: GradeBook,
    _ location: SourceLocation = #_sourceLocation
  ) async -> GradeItem? {
    let questions = book.questions.filter { $0.name == name }
    #expect(!questions.isEmpty, "no question is called \(name)", sourceLocation: location)
    var last: GradeItem?
    for question in questions {
      let terms = GradeBook.Terms(
        seed: 1,
        storm: 0.02,
        executor: racetrack,
        sharesPool: true,
        heap: OwnHeap.bytes,
        processorTime: OwnProcessor.time,
        sleeps: OwnProcessor.sleeps,
        areAllAsleep: { AsksInTurn.waiting.value > 0 },
        threads: { GateForEachList.waiting.value }
      )
      let item = await onOwnThread { question.ask(terms) }
      if !item.passed { return item }
      last = item
    }
    return last
  }

  private func expect(
    _ book: GradeBook,
    refusedBy name: String,
    saying part: String = "",
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let item = await item(name, of: book, location)
    #expect(item?.passed == false, "\(item as Any)", sourceLocation: location)
    if part.isEmpty { return }
    #expect(item?.sentence.contains(part) == true, "\(item as Any)", sourceLocation: location)
  }

  /// Passes every question, those on real threads too.
  private func expectSound(_ book: GradeBook, _ location: SourceLocation = #_sourceLocation) async {
    var failed: GradeItem?
    _ = await book.grade(
      GradeBook.Terms(
        seed: 1,
        storm: 0.02,
        executor: racetrack,
        sharesPool: true,
        heap: OwnHeap.bytes,
        processorTime: OwnProcessor.time,
        sleeps: OwnProcessor.sleeps,
        areAllAsleep: { AsksInTurn.waiting.value > 0 },
        threads: { GateForEachList.waiting.value }
      )
    ) {
      if !$0.passed { failed = $0 }
    }
    #expect(failed == nil, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `in what becomes of one body are refused`() async {
    let twice = "the first ran 2 times"
    await expect(
      Grader.limiter(Flawed<TriesCancelledAgain>.self),
      refusedBy: "permit_back",
      saying: twice
    )
    await expect(
      Grader.cancellableLimiter(Flawed<TriesAgainUncancelled>.self),
      refusedBy: "permit_back",
      saying: twice
    )
    await expect(
      Grader.limiter(NothingIsNoValue.self),
      refusedBy: "values",
      saying: "one of which returned nil, ran 3 times"
    )
    await expect(
      Grader.cancellableLimiter(Flawed<OwnError>.self),
      refusedBy: "cancelled_body",
      saying: "ran not at all, and run told it Left(), not CancellationError"
    )
    await expect(Grader.design(Flawed<OwnError>.self), refusedBy: "cancelled_body")
  }

  @Test func `in a line of three or four, one of them cancelled, are refused`() async {
    await expect(
      Grader.design(Flawed<LosesThirdWithSecond>.self),
      refusedBy: "short_lines",
      saying:
        "a line of 3, of which the second is cancelled, 4 tasks, limit 1, seed 1: never-ended: t04"
    )
    await expect(
      Grader.cancellableLimiter(Flawed<LosesSecondWithFirst>.self),
      refusedBy: "short_lines",
      saying: "of which the first is cancelled"
    )
    await expect(
      Grader.design(Flawed<LosesFirstWithLast>.self),
      refusedBy: "short_lines",
      saying: "of which the fourth is cancelled"
    )
    await expect(
      Grader.cancellableLimiter(Flawed<TurnsRound>.self),
      refusedBy: "short_lines",
      saying: "was overtaken by"
    )
  }

  @Test func `at one limit, or in a second line, are refused`() async {
    await expect(
      Grader.limiter(Flawed<SevenIsEight>.self),
      refusedBy: "limits",
      saying: "over-admission"
    )
    await expect(
      Grader.design(Flawed<TwelveIsEleven>.self),
      refusedBy: "limits",
      saying: "11 of 12"
    )
    await expect(Grader.limiter(LastFirstLater.self), refusedBy: "limits", saying: "overtaken")
    await expect(Grader.pool(SevenPool.self), refusedBy: "limits", saying: "lent element 6")
    await expect(Grader.pool(TwelvePool.self), refusedBy: "limits", saying: "11 of 12")
    await expect(Grader.pool(LastOfThreePool.self), refusedBy: "limits", saying: "overtaken")
  }

  @Test func `in a limit larger than the workloads have are refused`() async {
    let idle = "128 ran at once; "
    await expect(Grader.limiter(Flawed<AtMost128>.self), refusedBy: "whole_limit", saying: idle)
    await expect(
      Grader.cancellableLimiter(Flawed<AtMost128>.self),
      refusedBy: "whole_limit",
      saying: "permits lay idle, and the others waited"
    )
    await expect(
      Grader.design(Flawed<TwoBytes>.self),
      refusedBy: "whole_limit",
      saying: "65535 ran at once; "
    )
    await expect(
      Grader.design(Flawed<OneMoreThan256>.self),
      refusedBy: "whole_limit",
      saying: "1 too many"
    )
    #expect(await item("whole_limit", of: Grader.design(Flawed<NoFlaw>.self))?.passed == true)
    #expect(await item("whole_limit", of: Grader.pool(SoundPool.self))?.passed == true)
  }

  @Test func `in which the urgent overtake are refused`() async {
    let order = "served in the order 36, 35, 34, 32, 29, 27,"
    await expect(Grader.limiter(Flawed<UrgentFirst>.self), refusedBy: "urgencies", saying: order)
    await expect(Grader.design(Flawed<UrgentFirst>.self), refusedBy: "urgencies", saying: order)
    await expect(Grader.design(Flawed<IdleLast>.self), refusedBy: "urgencies", saying: "3")
  }

  @Test func `that let a body's children in are refused`() async {
    let all = "4 bodies ran at once"
    await expect(Grader.limiter(KnowsItsChildren.self), refusedBy: "children", saying: all)
    await expect(Grader.design(KnowsItsChildren.self), refusedBy: "children", saying: all)
    #expect(await item("children", of: Grader.limiter(Flawed<NoFlaw>.self))?.passed == true)
  }

  @Test func `that keep something of each visit are refused`() async {
    let grows = "memory grows with each batch"
    await expect(Grader.limiter(Flawed<KeepsServed>.self), refusedBy: "kept", saying: grows)
    await expect(
      Grader.cancellableLimiter(Flawed<KeepsCancelled>.self),
      refusedBy: "kept",
      saying: grows
    )
    await expect(Grader.pool(KeepingPool.self), refusedBy: "kept", saying: grows)
    await expect(Grader.limiter(Flawed<WearsOut>.self), refusedBy: "kept", saying: "no end")
    await expect(
      Grader.limiter(Flawed<TwoBytesOfVisits>.self),
      refusedBy: "many",
      saying: "no end"
    )
    #expect(await item("kept", of: Grader.design(Flawed<NoFlaw>.self))?.passed == true)
    #expect(await item("kept", of: Grader.pool(SoundPool.self))?.passed == true)
  }

  @Test func `in a line of hundreds, or of who is cancelled, are refused`() async {
    await expect(
      Grader.cancellableLimiter(RepeatsIds.self),
      refusedBy: "cancelled_crowd",
      saying: "whom nobody cancelled were never served"
    )
    await expect(Grader.design(RepeatsIds.self), refusedBy: "cancelled_crowd")
    await expect(
      Grader.design(RoomForAThousand.self),
      refusedBy: "cancelled_crowd",
      saying: "limit 3"
    )
    let grows = "memory grows with each"
    await expect(
      Grader.cancellableLimiter(MarksGranted.self),
      refusedBy: "kept_granted",
      saying: grows
    )
    await expect(
      Grader.cancellableLimiter(LeavesLater.self),
      refusedBy: "kept_behind",
      saying: grows
    )
    for name in ["cancelled_crowd", "kept_granted", "kept_behind", "inside_three"] {
      let item = await item(name, of: Grader.cancellableLimiter(Flawed<NoFlaw>.self))
      #expect(item?.passed == true, "\(item as Any)")
    }
  }

  @Test func `between two locks, where it takes three tasks, are refused`() async {
    await expect(
      Grader.pool(GivesBackTwice.self),
      refusedBy: "inside_three",
      saying: "was overtaken"
    )
    await expect(
      Grader.design(FreesThenHandsOn.self),
      refusedBy: "inside_four",
      saying: "over-admission"
    )
    await expect(
      Grader.cancellableLimiter(FreesBeforeItHandsOn.self),
      refusedBy: "inside_three",
      saying: "was overtaken"
    )
    await expect(
      Grader.design(FreesBeforeItHandsOn.self),
      refusedBy: "inside_four",
      saying: "was overtaken 2 times"
    )
    #expect(await item("inside_four", of: Grader.design(Flawed<NoFlaw>.self))?.passed == true)
    #expect(await item("inside_three", of: Grader.pool(SoundPool.self))?.passed == true)
  }

  @Test func `of many lists are refused`() async {
    await expect(
      Grader.batch(GateForEachList.self),
      refusedBy: "threads_of_lists",
      saying: "not one for each list"
    )
    await expect(
      Grader.batch(EndsAtTheGate.self),
      refusedBy: "first_ends",
      saying: "it waits behind the other list's wait"
    )
    await expect(
      Grader.batch(GateOutsideGroup.self),
      refusedBy: "limit",
      saying: "'whenAll' was called when 0 of 12 had come"
    )
  }

  @Test func `of one batch, of two and of none that is kept are refused`() async {
    await expect(
      Grader.batch(Gated<FetchesAtOnce>.self),
      refusedBy: "returns",
      saying:
        "a list of 1, limit 3, and no file comes before 'download' has returned: it did not return"
    )
    await expect(
      Grader.batch(Gated<FetchesAtGate>.self),
      refusedBy: "lists_of_one",
      saying: "1 ran at once, and 3 may"
    )
    await expect(
      Grader.batch(Gated<GateForAll>.self),
      refusedBy: "apart",
      saying: "the second waits for a permit of the first"
    )
    await expect(
      Grader.batch(Gated<ForgetsItself>.self),
      refusedBy: "let_go",
      saying: "had come"
    )
    await expect(
      Grader.batch(Gated<SetOfFiles>.self),
      refusedBy: "twice",
      saying: "'whenAll' was called when 4 of 7 had come"
    )
    await expectSound(Grader.batch(Gated<SoundGate>.self))
  }

  @Test func `of lists that do not rest, keep something or change the order are refused`() async {
    let burnt = "asks again and again instead of waiting"
    await expect(Grader.batch(Gated<AsksForPermits>.self), refusedBy: "quiet", saying: burnt)
    await expect(
      Grader.batch(Gated<NoLimitAboveSix>.self),
      refusedBy: "limits",
      saying: "12 downloads, limit 9: 10 ran at once"
    )
    await expect(
      Grader.batch(Gated<KeepsGroups>.self),
      refusedBy: "kept",
      saying: "memory grows with each"
    )
    await expect(
      Grader.batch(AnyOfThree.self),
      refusedBy: "order",
      saying: "which was sent before it"
    )
    for name in ["quiet", "limits", "kept", "order"] {
      let item = await item(name, of: Grader.batch(Gated<SoundGate>.self))
      #expect(item?.passed == true, "\(item as Any)")
    }
    await expect(Grader.downloader(AsksWhenCancelled.self), refusedBy: "quiet", saying: burnt)
    await expect(
      Grader.downloader(OneGroupForAll.self),
      refusedBy: "ends_before_later",
      saying: "it waits for the files of another list"
    )
    await expect(Grader.copier(TriesBoth.self), refusedBy: "quiet", saying: burnt)
    await expect(Grader.recorder(AsksForTheLedger.self), refusedBy: "quiet", saying: burnt)
  }

  @Test func `that hold threads, or do not begin what may begin, are refused`() async {
    await expect(Grader.batch(OwnThreads.self), refusedBy: "idle", saying: "36 threads are held")
    await expect(Grader.downloader(ThreadForOneFile.self), refusedBy: "threads")
    for name in ["lists_together", "ends_before_later", "limits", "quiet"] {
      let item = await item(name, of: Grader.downloader(ListAfterList.self))
      #expect(item?.passed == true, "\(item as Any)")
    }
    await expect(
      Grader.downloader(AtMostFourFiles.self),
      refusedBy: "limit_reached",
      saying: "4 are under way, 64 may be at once (a 'start' that waits holds a thread"
    )
  }

  @Test func `that ask one after the other are refused`() async {
    await expect(
      Grader.client(AsksInTurn.self),
      refusedBy: "together",
      saying: "one of them waits before the next question is asked"
    )
  }

  @Test func `that ask again and again are refused`() async {
    let burnt = "asks again and again instead of waiting"
    await expect(Grader.client(PollingClient.self), refusedBy: "quiet", saying: burnt)
    await expect(Grader.imageCache(PollingCache.self), refusedBy: "quiet", saying: burnt)
    await expect(
      Grader.imageCache(PollingCache.self),
      refusedBy: "failure",
      saying: "in no schedule were both told"
    )
    #expect(
      await item("quiet", of: Grader.imageCache(FlawedCache<SoundCaching>.self))?.passed == true
    )
  }

  @Test func `of doors are refused that open later, or keep who comes later`() async {
    await expect(
      Grader.door(OpensLater.self),
      refusedBy: "comes_later",
      saying: "the door was not open yet"
    )
    await expect(Grader.door(KeepsLater.self), refusedBy: "kept", saying: "memory grows with each")
  }

  @Test func `that suspend with the permit, or record elsewhere, are refused`() async {
    await expect(
      Grader.recorder(YieldsWithPermit.self),
      refusedBy: "held",
      saying: "before it was added; 60 ms are allowed"
    )
    await expect(
      Grader.recorder(RecordsElsewhere.self),
      refusedBy: "urgent",
      saying: "a 'Task {}' of yours reads or adds"
    )
  }

  // MARK: Accounts

  @Test func `of accounts are refused, and accounts of three kinds pass`() async {
    func account<F: AccountFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.account(FlawedAccount<F>.self)
    }
    let taken = "was told false, so 60 of 100 are left; 60 was refused, so the money was taken"
    await expect(account(TakesAndDenies.self), refusedBy: "cancelled", saying: taken)
    await expect(account(PutsBackTwice.self), refusedBy: "cancelled", saying: "61 was paid")
    await expect(
      account(PaysFromNothing.self),
      refusedBy: "cancelled",
      saying: "told true, so 0 of 100"
    )
    await expect(
      account(AsksNobodyWhenCancelled.self),
      refusedBy: "cancelled",
      saying: "had not approved it"
    )
    await expect(account(KeepsThePenny.self), refusedBy: "one_by_one", saying: "was refused")
    await expect(account(PaysNoMore.self), refusedBy: "one_by_one", saying: "was refused")
    await expect(account(ClosesWhenRefused.self), refusedBy: "one_by_one", saying: "was refused")
    await expect(account(PaysFiftyTimes.self), refusedBy: "one_by_one", saying: "withdrawal 51")
    await expect(Grader.account(OneBalanceForAll.self), refusedBy: "apart")
    await expect(
      Grader.account(ReservedForAll.self),
      refusedBy: "apart_at_once",
      saying: "was refused, though the account has it"
    )
    await expect(
      account(LosesBehindOthers.self),
      refusedBy: "cancelled_among_many",
      saying:
        "the first is cancelled before the bank has approved: by what each was told, 1 of 78 are left; 1 was refused"
    )
    await expect(
      Grader.account(AddsAmounts.self),
      refusedBy: "cancelled_among_many",
      saying: "then one came for 9223372036854775807, and was paid"
    )
    for name in ["cancelled", "one_by_one", "apart", "cancelled_among_many"] {
      for book in [
        account(PutsBack.self), Grader.account(AsksFirst.self),
        Grader.account(OneAfterTheOther.self),
      ] {
        let item = await item(name, of: book)
        #expect(item?.passed == true, "\(item as Any)")
      }
    }
  }

  // MARK: Small edits

  @Test func `of downloads are refused`() async {
    func downloader<F: DownloaderFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.downloader(FlawedDownloader<F>.self)
    }
    await expect(downloader(CountsFiles.self), refusedBy: "over", saying: "was fetched")
    await expect(
      downloader(InBatches.self),
      refusedBy: "next",
      saying: "the third does not begin, though the second has come"
    )
    await expect(downloader(KeepsDownloads.self), refusedBy: "kept", saying: "is still kept")
    await expect(downloader(DownloadsThrice.self), refusedBy: "all", saying: "0 of 0")
    await expect(downloader(CountsAllLists.self), refusedBy: "two_at_once", saying: "had not ended")
    await expect(downloader(NeverOne.self), refusedBy: "limits", saying: "2 ran at once")
    await expect(downloader(SomeAreMore.self), refusedBy: "limits", saying: "6 ran at once")
    await expect(Grader.downloader(OneQueueForAll.self), refusedBy: "apart")
    await expect(
      Grader.downloader(LooksForTheEnd.self),
      refusedBy: "quiet",
      saying: "somebody asks again and again"
    )
    await expectSound(downloader(SoundDownloads.self))
  }

  @Test func `of reads are refused`() async {
    func reader<F: ReaderFlaw>(_ flaw: F.Type) -> GradeBook { Grader.reader(FlawedReader<F>.self) }
    await expect(
      reader(FailsForEver.self),
      refusedBy: "answers",
      saying: "for block 3, which is there"
    )
    await expect(reader(KnowsBlocks.self), refusedBy: "answers", saying: "and read 0 times")
    await expect(reader(ReadsTwice.self), refusedBy: "answers", saying: "and read 2 times")
    await expect(reader(KeepsBlocks.self), refusedBy: "answers", saying: "and read 1 times")
    await expect(reader(FailsInItsOwnWay.self), refusedBy: "answers", saying: "'read' threw Failed")
    await expect(reader(SharesReads.self), refusedBy: "mixed", saying: "got 0")
    await expect(reader(AnswersTheLast.self), refusedBy: "mixed")
    await expect(
      Grader.reader(OneDiskForAll.self),
      refusedBy: "apart",
      saying: "0 reads on the one"
    )
    await expect(
      Grader.reader(ElsewhereReader<Low>.self),
      refusedBy: "pool",
      saying: "a task of low priority got no thread for 5 s"
    )
    await expect(
      Grader.reader(ElsewhereReader<High>.self),
      refusedBy: "pool",
      saying: "a task of high priority got no thread for 5 s"
    )
    for flawed in [
      reader(CancelledReadsItself.self), reader(CancelledReadsAgain.self),
      reader(UrgentReadsItself.self),
    ] {
      await expect(flawed, refusedBy: "kinds", saying: "held a thread of the pool while it read")
    }
    await expectSound(reader(SoundReads.self))
    await expect(
      Grader.reader(ThreadReader.self),
      refusedBy: "pool",
      saying: "The reader's one queue needs one"
    )
  }

  @Test func `of records are refused`() async {
    func recorder<F: RecorderFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.recorder(FlawedRecorder<F>.self)
    }
    await expect(
      recorder(LeavesSilently.self),
      refusedBy: "cancelled",
      saying: "and the ledger has"
    )
    await expect(recorder(AddsAndThrows.self), refusedBy: "cancelled", saying: "and the ledger has")
    await expect(recorder(AddsOnce.self), refusedBy: "many", saying: "added")
    await expect(recorder(AddsNothingNegative.self), refusedBy: "many", saying: "added")
    await expect(recorder(ReadsAgain.self), refusedBy: "errors", saying: "were read 4 times")
    await expect(
      recorder(TakesCancellationForZero.self),
      refusedBy: "errors",
      saying: "and 'record' did not"
    )
    await expect(
      recorder(UrgentReadUnderPermit.self),
      refusedBy: "behind",
      saying: "a record of high urgency whose file takes a second, then an urgent record: it waited"
    )
    await expectSound(recorder(SoundRecords.self))
  }

  @Test func `of copies are refused, and it is told who stands where`() async {
    func copier<F: CopierFlaw>(_ flaw: F.Type) -> GradeBook { Grader.copier(FlawedCopier<F>.self) }
    let ring = await item("two_down", of: copier(GateBeforeRing.self))
    #expect(ring?.passed == false)
    let story = ring?.story ?? ""
    #expect(story.contains("waits for ever at WrongEdits.swift:"), "\(story)")
    #expect(story.contains("try await second.run {"), "\(story)")
    #expect(
      story.contains("task 2 is a download, task 3 is a download, task 4 is an upload"),
      "\(story)"
    )
    for file in ["Grader", "Limiter.swift", "Condition.swift", "OSThread.swift"] {
      #expect(!story.contains(file), "\(story)")
    }
    await expect(copier(GateOfOneMore.self), refusedBy: "two_down")
    await expect(copier(CopiesAgain.self), refusedBy: "errors", saying: "ran 8 times")
    await expect(copier(CopiesCancelledAgain.self), refusedBy: "errors", saying: "ran 6 times")
    await expect(copier(FourIsFive.self), refusedBy: "limits", saying: "5 ran at once, expected 4")
    await expect(copier(TwoAtMost.self), refusedBy: "limits")
    await expect(Grader.copier(FewUploads.self), refusedBy: "limits")
    await expect(Grader.copier(KeepsFirstOnCancel.self), refusedBy: "cancelled")
    await expect(Grader.copier(OneCopierForAll.self), refusedBy: "apart")
    await expect(
      Grader.copier(KeepsPlacesInLine.self),
      refusedBy: "kept",
      saying: "memory grows with each"
    )
    await expectSound(copier(SoundCopies.self))
    await expectSound(copier(GateOfFewer.self))
  }

  // MARK: Real work

  @Test func `of image caches are refused`() async {
    func cache<F: CacheFlaw>(_ flaw: F.Type) -> GradeBook { Grader.imageCache(FlawedCache<F>.self) }
    let again = "then a task that asked was cancelled, and it was fetched again"
    await expect(cache(EvictsOnCancel.self), refusedBy: "cancelled", saying: again)
    await expect(Grader.imageCache(LastTwoOut.self), refusedBy: "cancelled")
    await expect(
      cache(CancelledForgetNothing.self),
      refusedBy: "failed_for_nobody",
      saying: "the next who asked was told of the old failure"
    )
    await expect(
      cache(TwoFailures.self),
      refusedBy: "failures",
      saying: "2 times, and 3 times was expected"
    )
    await expect(
      cache(ThreeFailures.self),
      refusedBy: "failures",
      saying: "3 times, and 4 times was expected"
    )
    await expect(
      cache(KeepsCancellation.self),
      refusedBy: "failures",
      saying: "once, and 2 times was expected"
    )
    await expect(
      cache(TriesThrice.self),
      refusedBy: "failures",
      saying: "2 times, and once was expected"
    )
    await expect(
      cache(RepeatsError.self),
      refusedBy: "failures_of_its_own",
      saying: "fetch 2 failed, and who asked was told the error of fetch 1"
    )
    await expect(
      cache(LosesAll.self),
      refusedBy: "failures_of_its_own",
      saying: "'photo' was there, and was fetched again"
    )
    await expect(cache(RoomForSixteen.self), refusedBy: "many", saying: "was fetched 2 times")
    await expect(cache(KnowsByLength.self), refusedBy: "many", saying: "got 'logo'")
    await expect(cache(KnowsByLowercase.self), refusedBy: "many", saying: "got 'logo'")
    await expect(cache(EmptyIsNone.self), refusedBy: "many", saying: "'' was fetched 2 times")
    await expect(cache(EndsWithFirst.self), refusedBy: "cancellation")
    await expect(Grader.imageCache(OneCacheForAll.self), refusedBy: "caches_apart")
    for name in ["cancelled", "failures", "failures_of_its_own", "many", "caches_apart"] {
      #expect(await item(name, of: cache(SoundCaching.self))?.passed == true)
    }
  }

  @Test func `of connections are refused`() async {
    func pool<F: ConnectionsFlaw>(_ flaw: F.Type) -> GradeBook {
      Grader.connections(FlawedConnections<F>.self)
    }
    let broken = "somebody was told ConnectionBroken()"
    await expect(pool(GivesUpAfterThree.self), refusedBy: "breakages", saying: broken)
    await expect(pool(GivesUpAfterSix.self), refusedBy: "breakages", saying: broken)
    let good = "a good one was given up"
    await expect(pool(DiscardsOnCancellationError.self), refusedBy: "other_errors", saying: good)
    await expect(pool(DiscardsOnOthers.self), refusedBy: "other_errors", saying: good)
    await expect(pool(DiscardsWhenCancelled.self), refusedBy: "cancelled", saying: good)
    await expect(
      pool(KeepsBroken.self),
      refusedBy: "breakages",
      saying: "those that broke among them"
    )
    await expect(pool(AsksTwice.self), refusedBy: "breakages", saying: "were put")
    await expect(pool(OpensAlways.self), refusedBy: "breakages", saying: "were opened")
    await expect(pool(HidesFailedOpening.self), refusedBy: "reopening", saying: "told to nobody")
    await expect(pool(AnswersInItsOwnWay.self), refusedBy: "other_errors", saying: "told Failed()")
    await expect(pool(FiveIsFour.self), refusedBy: "limits")
    for name in ["breakages", "other_errors", "reopening", "cancelled", "limits"] {
      let item = await item(name, of: pool(SoundPooling.self))
      #expect(item?.passed == true, "\(item as Any)")
    }
  }

  // MARK: Tests

  @Test func `of tests are refused`() async {
    await expect(Grader.test(AtMostThree.self), refusedBy: "once_of_three")
    await expect(Grader.test(SumsValues.self), refusedBy: "swapped")
    await expect(Grader.test(SortsValues.self), refusedBy: "swapped")
    await expect(Grader.test(SetsOfValues.self), refusedBy: "swapped")
    await expect(Grader.test(KeysAlike.self), refusedBy: "own")
    await expect(Grader.test(CountsCaches.self), refusedBy: "right")
    await expect(Grader.test(ForgivesTwoAtOnce.self), refusedBy: "two_at_once")
    for name in [
      "two_at_once", "right_at_once", "once", "own", "swapped", "kept", "answered", "answered_each",
    ] {
      let item = await item(name, of: Grader.test(ThreeKeys.self))
      #expect(item?.passed == true, "\(item as Any)")
    }
  }

  @Test func `for who was cancelled before it came are refused`() async {
    let permit = "Being cancelled gives nobody a permit"
    for book in [
      Grader.limiter(CancelledGoFree.self), Grader.cancellableLimiter(CancelledGoFree.self),
      Grader.design(CancelledGoFree.self), Grader.pool(CancelledTakeTheFirst.self),
    ] { await expect(book, refusedBy: "cancelled_before", saying: permit) }
    await expect(
      Grader.limiter(Flawed<CancelledFirst>.self),
      refusedBy: "cancelled_before",
      saying: "number 1 of them was overtaken. Being cancelled moves nobody forward"
    )
    await expect(
      Grader.limiter(Flawed<LosesHandedPermit>.self),
      refusedBy: "cancelled_before",
      saying: "was never served: a permit went along with one who was cancelled"
    )
    await expect(
      Grader.limiter(TurnsCancelledAway.self),
      refusedBy: "cancelled_before",
      saying: "number 2 of them was not served. Who is cancelled waits like the others"
    )
    // Lesson 9 lets it.
    let turnedAway = await item(
      "cancelled_before",
      of: Grader.cancellableLimiter(TurnsCancelledAway.self)
    )
    #expect(turnedAway?.passed == true, "\(turnedAway as Any)")
    for book in [
      Grader.limiter(GraderTests.Uncancellable.self),
      Grader.cancellableLimiter(Flawed<NoFlaw>.self),
      Grader.design(Flawed<NoFlaw>.self), Grader.pool(SoundPool.self),
    ] {
      let item = await item("cancelled_before", of: book)
      #expect(item?.passed == true, "\(item as Any)")
    }
    await expect(
      Grader.door(LetsCancelledThrough.self),
      refusedBy: "cancelled",
      saying: "the door was shut"
    )
    await expect(
      Grader.client(MadeUpAnswer.self),
      refusedBy: "cancelled",
      saying: "and you returned 0"
    )
    await expect(
      Grader.downloader(LeavesCancelledLists.self),
      refusedBy: "cancelled",
      saying: "6 of its files were not there"
    )
    await expect(
      Grader.client(HoldsThreadOfCancelled.self),
      refusedBy: "together_cancelled",
      saying: "and then hardly one more"
    )
    await expect(
      Grader.copier(CancelledUploadFree.self),
      refusedBy: "cancelled_before",
      saying: "2 copies ran at once, with one connection and one file"
    )
    let told = "was told no error, and its copy did not run"
    await expect(Grader.copier(SwallowsCancellation.self), refusedBy: "cancelled", saying: told)
    await expect(
      Grader.copier(SwallowsCancellation.self),
      refusedBy: "cancelled_before",
      saying: told
    )
  }

  @Test func `that keep what is over while others wait are refused`() async {
    let grows = "memory grows with each"
    await expect(
      Grader.limiter(KeepsWhileInLine.self),
      refusedBy: "kept_in_line",
      saying: grows
    )
    await expect(
      Grader.outbox(KeepsWhileSending.self),
      refusedBy: "kept_in_line",
      saying: grows
    )
    for book in [
      Grader.limiter(Flawed<NoFlaw>.self), Grader.design(Flawed<NoFlaw>.self),
      Grader.pool(SoundPool.self), Grader.outbox(UnseenOutbox.self),
    ] {
      let item = await item("kept_in_line", of: book)
      #expect(item?.passed == true, "\(item as Any)")
    }
  }

  @Test func `that wait by asking at a door or a bank are refused`() async {
    let burnt = "asks again and again instead of waiting"
    await expect(Grader.door(PollingDoor.self), refusedBy: "quiet", saying: burnt)
    await expect(Grader.account(PollingAccount.self), refusedBy: "quiet", saying: burnt)
    #expect(await item("quiet", of: Grader.account(RefusesNothing.self))?.passed == true)
  }

  @Test func `that share what each should have, or few of what many need, are refused`() async {
    await expect(
      Grader.reader(OneQueueOfReads.self),
      refusedBy: "slow_disk",
      saying: "Each reader needs a queue of its own"
    )
    await expect(Grader.recorder(OnePermitForAll.self), refusedBy: "apart")
    await expect(
      Grader.recorder(FewReaders.self),
      refusedBy: "urgent_among",
      saying: "60 ms are allowed"
    )
  }

  @Test func `that mix up who asks in between, or know small limits only, are refused`() async {
    await expect(
      Grader.client(CountsWhoWaits.self),
      refusedBy: "in_between",
      saying: "and you returned -1"
    )
    await expect(Grader.copier(EightAtMost.self), refusedBy: "limits", saying: "0 ended, 8 run")
  }

  @Test func `of nothing are refused`() async {
    await expect(
      Grader.account(RefusesNothing.self),
      refusedBy: "one_by_one",
      saying: "0 of the 0 that are left was refused"
    )
    await expect(Grader.outbox(DropsNothingSaid.self), refusedBy: "empty")
  }
}
