import Dispatch
import ExplorableLimiters
import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// The exercises in which a small edit mends a program: what they take, and by which question they refuse.
@Suite(.watched, .serialized, .long) struct `Small edits` {
  // MARK: Lesson 2

  private final class Downloader: LearnerDownloader {
    private let limiter: ConcurrencyLimiter

    init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      await Task { [limiter] in
        await withDiscardingTaskGroup { group in
          for file in files {
            group.addTask { await limiter.runUncancellably { await fetch(file) } }
          }
        }
      }.value
    }
  }

  /// Its operations are over when they have begun.
  private final class Hasty: LearnerDownloader {
    private let downloader: Downloader

    init(limit: Int) { downloader = Downloader(limit: limit) }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      await downloader.download(files) { file in Task { await fetch(file) } }
    }
  }

  /// Keeps the limit within each call.
  private final class LimitForEachCall: LearnerDownloader {
    private let limit: Int

    init(limit: Int) { self.limit = limit }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      await Downloader(limit: limit).download(files, fetch)
    }
  }

  @Test func `a downloader is graded by when its operations are over`() async {
    let failed = await refusal(Grader.downloader(Downloader.self))
    #expect(failed == nil, "\(failed as Any)")
    let hasty = await refusal(Grader.downloader(Hasty.self))
    #expect(hasty?.name == "over")
    #expect(hasty?.sentence.contains("had ended when 'download' returned") == true)
    #expect(await refusal(Grader.downloader(LimitForEachCall.self))?.name == "limits")
  }

  // MARK: Lesson 5

  private struct QueueReader: LearnerReader {
    let disk: Disk
    private let queue = DispatchQueue(label: "disk")

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        queue.async { [disk] in continuation.resume(with: Result { try disk.read(block) }) }
      }
    }
  }

  private struct BlockingReader: LearnerReader {
    let disk: Disk

    func read(_ block: Int) async throws -> Int { try disk.read(block) }
  }

  /// One of them blocks one thread, and as many as the pool has threads block them all.
  private actor ActorReader: LearnerReader {
    private let disk: Disk

    init(disk: Disk) { self.disk = disk }

    func read(_ block: Int) async throws -> Int { try disk.read(block) }
  }

  @Test func `a reader is refused that holds the threads of the pool`() async {
    let failed = await refusal(Grader.reader(QueueReader.self))
    #expect(failed == nil, "\(failed as Any)")
    let blocking = await refusal(Grader.reader(BlockingReader.self))
    #expect(blocking?.name == "pool")
    #expect(blocking?.sentence.contains("it got no thread for 5 s") == true)
    // On one processor it is refused sooner.
    let actor = await refusal(Grader.reader(ActorReader.self))
    #expect(["pool", "pool_each"].contains(actor?.name))
  }

  // MARK: Lesson 10

  private struct ShortRecorder: LearnerRecorder {
    private let permit = ConcurrencyLimiter(concurrency: 1)

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      let record = try await file.read()
      try await permit.run { await ledger.add(record) }
    }
  }

  private struct LongRecorder: LearnerRecorder {
    private let permit = ConcurrencyLimiter(concurrency: 1)

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      try await permit.run { await ledger.add(try await file.read()) }
    }
  }

  private struct FreeRecorder: LearnerRecorder {
    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      await ledger.add(try await file.read())
    }
  }

  @Test func `a recorder is graded by what it holds its permit for`() async {
    let failed = await refusal(Grader.recorder(ShortRecorder.self))
    #expect(failed == nil, "\(failed as Any)")
    #expect(await refusal(Grader.recorder(FreeRecorder.self))?.name == "one_at_a_time")
    let long = await refusal(Grader.recorder(LongRecorder.self))
    #expect(long?.name == "urgent")
    #expect(long?.sentence.contains("60 ms are allowed") == true, "\(long as Any)")
  }

  // MARK: Lesson 13

  /// Which limits a download and an upload take, in order.
  private class Copier {
    let connections: ConcurrencyLimiter
    let files: ConcurrencyLimiter
    let oneAtATime = ConcurrencyLimiter(concurrency: 1)

    required init(connections: Int, files: Int) {
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
    }

    func pass(_ limiters: ConcurrencyLimiter..., copy: () async throws -> Void) async throws {
      try await pass(limiters[...], copy)
    }

    private func pass(
      _ limiters: ArraySlice<ConcurrencyLimiter>,
      _ copy: () async throws -> Void
    ) async throws {
      guard let first = limiters.first else { return try await copy() }
      try await first.run { try await pass(limiters.dropFirst(), copy) }
    }
  }

  // The limiters never change, so a copier may be used by all tasks.
  private final class OppositeCopier: Copier, LearnerCopier, @unchecked Sendable {
    func download(_ copy: () async throws -> Void) async throws {
      try await pass(connections, files, copy: copy)
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(files, connections, copy: copy)
    }
  }

  private final class FilesOnlyCopier: Copier, LearnerCopier, @unchecked Sendable {
    func download(_ copy: () async throws -> Void) async throws {
      try await pass(connections, files, copy: copy)
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(files, copy: copy)
    }
  }

  private final class ConnectionsOnlyCopier: Copier, LearnerCopier, @unchecked Sendable {
    func download(_ copy: () async throws -> Void) async throws {
      try await pass(connections, files, copy: copy)
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(connections, copy: copy)
    }
  }

  private final class OneOfEachCopier: Copier, LearnerCopier, @unchecked Sendable {
    private let alsoOneAtATime = ConcurrencyLimiter(concurrency: 1)

    func download(_ copy: () async throws -> Void) async throws {
      try await pass(oneAtATime, connections, files, copy: copy)
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(alsoOneAtATime, connections, files, copy: copy)
    }
  }

  private final class NarrowCopier: Copier, LearnerCopier, @unchecked Sendable {
    func download(_ copy: () async throws -> Void) async throws {
      try await pass(oneAtATime, connections, files, copy: copy)
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(oneAtATime, files, connections, copy: copy)
    }
  }

  /// Gives back what a download holds only if the copy throws nothing.
  private final class LeakyCopier: Copier, LearnerCopier, @unchecked Sendable {
    // Only one download of a grading throws.
    private var lost: [PermitToken] = []

    func download(_ copy: () async throws -> Void) async throws {
      let connection = try await connections.acquire().detach()
      let file = try await files.acquire().detach()
      do {
        try await copy()
      } catch {
        // Dropped, they would give themselves back.
        lost += [connection, file]
        throw error
      }
      file.release()
      connection.release()
    }
    func upload(_ copy: () async throws -> Void) async throws {
      try await pass(connections, files, copy: copy)
    }
  }

  @Test func `a copier is graded by the order in which it takes its limits, and by both of them`()
    async
  {
    // That the solution passes takes long to explore: the lesson's own check asks it.
    #expect(await refusal(Grader.copier(OppositeCopier.self))?.name == "no_ring")
    #expect(await refusal(Grader.copier(FilesOnlyCopier.self))?.name == "connections")
    #expect(await refusal(Grader.copier(ConnectionsOnlyCopier.self))?.name == "files")
    #expect(await refusal(Grader.copier(NarrowCopier.self))?.name == "both")
    #expect(await refusal(Grader.copier(OneOfEachCopier.self))?.name == "alike")
    let leaky = await refusal(Grader.copier(LeakyCopier.self))
    #expect(leaky?.name == "errors", "\(leaky as Any)")
  }
}
