import Basics
import Dispatch
import ExplorableLimiters
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Readers and recorders that are right for most who come.
@Suite(.watched, .serialized) struct `Readers and recorders for whoever comes` {
  private final class Alone: LearnerRecorder {
    private let permit = ConcurrencyLimiter(concurrency: 1)

    init() {}

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      let record = try await file.read()
      try await permit.run { await ledger.add(record) }
    }
  }

  /// The least urgent needs no permit where nobody seems to have one.
  private final class LooksForOthers: LearnerRecorder {
    private let permit = ConcurrencyLimiter(concurrency: 1)

    init() {}

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      let record = try await file.read()
      if Task.currentPriority < .low, permit.running == 0 { return await ledger.add(record) }
      try await permit.run { await ledger.add(record) }
    }
  }

  /// Has what is not urgent added by another task.
  private final class LeavesItToATask: LearnerRecorder {
    private let alone = Alone()

    init() {}

    func record(_ file: RecordFile, in ledger: Ledger) async throws {
      guard Task.currentPriority <= .low else { return try await alone.record(file, in: ledger) }
      Task { [alone] in try await alone.record(file, in: ledger) }
    }
  }

  @Test func `add records of any urgency alone, and themselves`() async {
    await expect(
      Grader.recorder(LooksForOthers.self),
      "each_urgency",
      refusedSaying: "2 add at the same time"
    )
    await expect(
      Grader.recorder(LeavesItToATask.self),
      "each_urgency",
      refusedSaying: "'record' returned, and its record had not been added"
    )
    await expect(Grader.recorder(Alone.self), "each_urgency")
  }

  /// So many get to the queue; others wait for that, and each holds its thread.
  private final class FewAtTheQueue: LearnerReader {
    private let disk: Disk
    private let queue = DispatchQueue(label: "disk")
    private let places = ThreadSemaphore()

    init(disk: Disk) {
      self.disk = disk
      for _ in 1...25 { places.post() }
    }

    func read(_ block: Int) async throws -> Int {
      try await withCheckedThrowingContinuation { continuation in
        places.wait()
        queue.async { [self] in
          defer { places.post() }
          continuation.resume(with: Result { try disk.read(block) })
        }
      }
    }
  }

  @Test(.long) func `hold no thread of the pool before they read`() async {
    await expect(
      Grader.reader(FewAtTheQueue.self),
      "long_line",
      refusedSaying: "no other could: those who do not read yet hold the threads of the pool"
    )
  }
}
