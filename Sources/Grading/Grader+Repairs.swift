internal import Exploration
internal import Foundation
internal import GradeReport
internal import Limiters
internal import Tracing
internal import VirtualTime

/// What a file or a cable does that fails.
private struct OutOfOrder: Error {}

/// The exercises in which a small edit mends a program.
extension Grader {
  /// What these files get wrong takes no more, and a look at each order takes no time.
  private static let onePreemption = 1

  // MARK: Lesson 2

  /// An operation is over when its download is.
  package static func downloader<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook {
    // More than the threads of an operation queue: once they are blocked it gets about one more a second,
    // and not so many in the time that the question has.
    let many = max(64, 2 * ProcessInfo.processInfo.activeProcessorCount + 4)
    return GradeBook([
      downloads(type, "over", files: 6, limit: 2),
      downloads(type, "limit_reached", files: many, limit: many, together: many),
      downloads(type, "all", files: 100, limit: 8),
      twoListsAtOnce(type),
    ])
  }

  private static func downloads<Downloader: LearnerDownloader>(
    _ type: Downloader.Type,
    _ name: String,
    files: Int,
    limit: Int,
    together: Int = 1
  ) -> GradeBook.Question {
    let asked =
      "\(files) downloads, limit \(limit)"
      + (together > 1 ? ", none of which ends before all have begun" : "")
    return .task(name, asked, seconds: 30) { _ in
      let server = FakeServer(together: together)
      let downloader = Downloader(limit: limit)
      await downloader.download(Array(1...files), server.fetch)
      // What is still under way when this returns is not over, whatever the queue says.
      let counts = server.counts
      let passed =
        counts.ended == files && counts.peak <= limit && counts.fetches.count == files
        && counts.begun == files
      return GradeItem(
        name,
        passed: passed,
        "\(asked): \(counts.ended) of \(counts.begun) had ended when 'download' returned, and at most "
          + "\(counts.peak) ran at once"
      )
    }
  }

  /// The limit is the downloader's, and not that of one call.
  private static func twoListsAtOnce<Downloader: LearnerDownloader>(
    _ type: Downloader.Type
  ) -> GradeBook.Question {
    let asked = "no files, then two lists of 12 at once, limit 3"
    return .task("two_at_once", asked, seconds: 30) { _ in
      let server = FakeServer()
      let downloader = Downloader(limit: 3)
      await downloader.download([], server.fetch)
      async let one: Void = downloader.download(Array(1...12), server.fetch)
      async let two: Void = downloader.download(Array(13...24), server.fetch)
      _ = await (one, two)
      let counts = server.counts
      return GradeItem(
        "two_at_once",
        passed: counts.ended == 24 && counts.begun == 24 && counts.peak <= 3,
        "\(asked): \(counts.ended) of \(counts.begun) had ended when both had returned, and at most "
          + "\(counts.peak) ran at once"
      )
    }
  }

  // MARK: Lesson 5

  /// A blocking call holds no thread of the pool.
  package static func reader<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook {
    GradeBook([
      answers(type), poolGoesOn(type, "pool"), poolGoesOn(type, "pool_each", readerForEach: true),
    ])
  }

  private static func answers<Reader: LearnerReader>(_ type: Reader.Type) -> GradeBook.Question {
    let asked = "two blocks, and one that does not exist"
    return .task("answers", asked, seconds: 10) { _ in
      let reader = Reader(disk: Disk())
      do {
        let read = [try await reader.read(1), try await reader.read(2)]
        guard read == [10, 20] else {
          return GradeItem("answers", passed: false, "\(asked): read \(read), expected [10, 20]")
        }
        _ = try await reader.read(-1)
        return GradeItem("answers", passed: false, "\(asked): the disk threw, and 'read' did not")
      } catch {
        return GradeItem(
          "answers",
          passed: error is Disk.NoSuchBlock,
          error is Disk.NoSuchBlock
            ? "what stands in a block and the disk's error both come out"
            : "\(asked): 'read' threw \(error)"
        )
      }
    }
  }

  /// The last of many tasks makes the disk ready: it needs a thread again and again, while the others read.
  ///
  /// With a reader for each of them, one that keeps its callers in a line holds a thread for each too.
  private static func poolGoesOn<Reader: LearnerReader>(
    _ type: Reader.Type,
    _ name: String,
    readerForEach: Bool = false
  ) -> GradeBook.Question {
    // More than the threads of any pool this may run on.
    let readers = 2 * ProcessInfo.processInfo.activeProcessorCount + 4
    let asked =
      "\(readers) tasks read\(readerForEach ? ", each by a reader of its own" : ""), "
      + "and the last of them makes the disk ready first"
    return .task(name, asked, seconds: 60) { _ in
      let disk = Disk(ready: false)
      let shared = Reader(disk: disk)
      let own = (1...readers).map { _ in readerForEach ? Reader(disk: disk) : shared }
      let begun = Lock(0)
      let ask: @Sendable (Int) async -> Bool = { number in
        let isLast = begun.withLock { begun in
          begun += 1
          return begun == readers
        }
        if isLast {
          // What the others have begun elsewhere in the pool gets its threads first.
          for _ in 1...4 * readers { await Task.yield() }
          disk.makeReady()
        }
        return (try? await own[number - 1].read(number)) == 10 * number
      }
      let right = await withTaskGroup { group in
        for number in 1...readers { group.addTask { await ask(number) } }
        return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      let late = disk.givenUp
      return GradeItem(
        name,
        passed: late == 0 && right == readers,
        "\(asked): "
          + (late > 0
            ? "it got no thread for 5 s, because the others blocked them all"
            : "the pool went on, and \(right) read what they asked for")
      )
    }
  }

  // MARK: Lesson 10

  /// A permit is held for what it protects and for nothing else.
  package static func recorder<Recorder: LearnerRecorder>(_ type: Recorder.Type) -> GradeBook {
    GradeBook([
      promise("one_at_a_time", "two tasks add a record each", preemptions: onePreemption) {
        let total = Lock(0)
        let ledger = Ledger { record in
          let before = total.withLock { $0 }
          await Task.yield()
          total.withLock { $0 = before + record }
        }
        let recorder = Recorder()
        async let one: Void = recorder.record(RecordFile { 1 }, in: ledger)
        async let two: Void = recorder.record(RecordFile { 2 }, in: ledger)
        _ = try await (one, two)
        let sum = total.withLock { $0 }
        try require(sum == 3, "the ledger has \(sum), expected 1 + 2")
      },
      promise("errors", "a file cannot be read, and another can", preemptions: onePreemption) {
        let total = Lock(0)
        let ledger = Ledger { record in total.withLock { $0 += record } }
        let recorder = Recorder()
        do {
          try await recorder.record(RecordFile { throw OutOfOrder() }, in: ledger)
          try require(false, "its error did not come out")
        } catch is OutOfOrder {}
        try await recorder.record(RecordFile { 2 }, in: ledger)
        let sum = total.withLock { $0 }
        try require(sum == 2, "the ledger has \(sum), expected 2")
      },
      urgentWait(type),
    ])
  }

  /// The scene of the lesson, with the learner's section in it.
  private static func urgentWait<Recorder: LearnerRecorder>(
    _ type: Recorder.Type
  ) -> GradeBook.Question {
    let asked = "a record of low urgency, 40 tasks of medium urgency, then an urgent record"
    return .task("urgent", asked) { _ in
      let scheduler = VirtualScheduler(workers: 1, heedingPriority: true)
      let millisecond: Int64 = 1_000_000
      let recorder = Recorder()
      let ledger = Ledger { _ in scheduler.hold(for: 10 * millisecond) }
      let ended = Lock<Int64?>(nil)
      func start(
        _ priority: TaskPriority,
        _ body: @escaping @Sendable () async throws -> Void
      ) {
        Task(executorPreference: scheduler, priority: priority) {
          if priority != .low { try await scheduler.clock.sleep(nanoseconds: 5 * millisecond) }
          try await body()
        }
      }
      start(.low) {
        let file = RecordFile {
          for _ in 1...5 { try await scheduler.clock.sleep(nanoseconds: 10 * millisecond) }
          return 1
        }
        try await recorder.record(file, in: ledger)
      }
      for _ in 1...40 { start(.medium) { scheduler.hold(for: 10 * millisecond) } }
      start(.high) {
        // Its file is in memory.
        try await recorder.record(RecordFile { 2 }, in: ledger)
        ended.withLock { $0 = scheduler.clock.now.nanoseconds }
      }
      _ = await scheduler.onOwnThread { $0.runUntilIdle() }
      guard let end = ended.withLock({ $0 }) else {
        return GradeItem("urgent", passed: false, "\(asked): the urgent one never ended")
      }
      let waited = end - 15 * millisecond
      return GradeItem(
        "urgent",
        passed: waited <= 60 * millisecond,
        "\(asked): it waited \(DurationText.text(waited)) before it was added; 60 ms are allowed"
      )
    }
  }

  // MARK: Lesson 13

  /// Two limits without a ring.
  package static func copier<Copier: LearnerCopier>(_ type: Copier.Type) -> GradeBook {
    GradeBook([
      promise(
        "no_ring",
        "a download and an upload, one connection, one file",
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 1, files: 1), atMost: 1)
      },
      promise(
        "connections",
        "a download and an upload, one connection, two files",
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 1, files: 2), atMost: 1)
      },
      promise(
        "files",
        "a download and an upload, two connections, one file",
        preemptions: onePreemption
      ) {
        try await copies(Copier(connections: 2, files: 1), atMost: 1)
      },
      promise(
        "both",
        "a download and an upload that wait for each other, two of each",
        preemptions: onePreemption
      ) {
        let copier = Copier(connections: 2, files: 2)
        try await meet(copier.download, copier.upload)
      },
      promise(
        "alike",
        "two downloads that wait for each other, then two uploads, two of each",
        preemptions: onePreemption
      ) {
        let copier = Copier(connections: 2, files: 2)
        try await meet(copier.download, copier.download)
        try await meet(copier.upload, copier.upload)
      },
      promise("errors", "two copies that throw, and two after them", preemptions: onePreemption) {
        let copier = Copier(connections: 1, files: 1)
        do {
          try await copier.upload { throw OutOfOrder() }
          try require(false, "its error did not come out")
        } catch is OutOfOrder {}
        do {
          try await copier.download { throw OutOfOrder() }
          try require(false, "its error did not come out")
        } catch is OutOfOrder {}
        try await copier.download {}
        try await copier.upload {}
      },
    ])
  }

  /// Two copies, each of which ends when the other is under way too.
  private static func meet(
    _ first: @escaping @Sendable (() async throws -> Void) async throws -> Void,
    _ second: @escaping @Sendable (() async throws -> Void) async throws -> Void
  ) async throws {
    let meeting = Meeting()
    async let one: Void = first { await meeting.come() }
    async let two: Void = second { await meeting.come() }
    _ = try await (one, two)
  }

  private static func copies(_ copier: some LearnerCopier, atMost limit: Int) async throws {
    let counts = Lock((running: 0, peak: 0, ended: 0))
    let copy: @Sendable () async -> Void = {
      counts.withLock {
        $0.running += 1
        $0.peak = max($0.peak, $0.running)
      }
      await Task.yield()
      counts.withLock {
        $0.running -= 1
        $0.ended += 1
      }
    }
    async let one: Void = copier.download(copy)
    async let two: Void = copier.upload(copy)
    _ = try await (one, two)
    let (_, peak, ended) = counts.withLock { $0 }
    try require(ended == 2, "\(ended) of 2 copies ran")
    try require(peak <= limit, "\(peak) copies ran at once, limit \(limit)")
  }
}
