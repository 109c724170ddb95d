import Basics
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercise on executors that are right but for how they keep the line, and how they sleep.
@Suite(.watched, .serialized) struct `Executors' lines and sleeps` {
  /// What is wrong with an executor.
  protocol Flaw: SendableMetatype {
    /// How many bytes are there for jobs that have not come.
    static var room: Int { get }
    /// Whether the whole line is copied for each job.
    static var copies: Bool { get }
    /// Whether who finds an empty line sleeps for a moment.
    static var sleepsIfEmpty: Bool { get }
    /// Whether who finds the lock taken puts the urgent first.
    static var triesLock: Bool { get }
    /// For how many nanoseconds the thread waits for a job before it ends.
    static var patience: Int? { get }
    /// After how long a job has another thread run the others.
    static var longest: Duration? { get }
  }

  private enum OwnExecutorHeap {
    static let bytes = PlainCount()
  }

  private final class Flawed<F: Flaw>: LearnerExecutor {
    private let jobs = LearnerMutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()
    private let running = Mutex<(since: ContinuousClock.Instant?, hasHelp: Bool)>((nil, false))

    init() {
      OwnExecutorHeap.bytes.add(F.room)
      Thread.detachNewThread { [self] in work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if F.sleepsIfEmpty, jobs.withLock(\.isEmpty) { _ = ThreadSemaphore().wait(atMost: 1_000_000) }
      if F.triesLock {
        let isIn: Void? = jobs.withLockIfAvailable { $0.append(job) }
        if isIn == nil { addByUrgency(job) }
      } else {
        jobs.withLock { jobs in
          if F.copies { jobs = jobs + [job] } else { jobs.append(job) }
        }
      }
      ready.post()
      helpAfterAWhile()
    }

    private func addByUrgency(_ job: UnownedJob) {
      jobs.withLock { jobs in
        let place = jobs.firstIndex { $0.priority < job.priority } ?? jobs.endIndex
        jobs.insert(job, at: place)
      }
    }

    private func helpAfterAWhile() {
      guard let longest = F.longest else { return }
      let starts = running.withLock { running in
        guard let since = running.since, .now - since > longest, !running.hasHelp else {
          return false
        }
        running.hasHelp = true
        return true
      }
      if starts { Thread.detachNewThread { [self] in work() } }
    }

    private func work() {
      while true {
        if let patience = F.patience {
          guard ready.wait(atMost: patience) else { return }
        } else {
          ready.wait()
        }
        let job = jobs.withLock { $0.removeFirst() }
        running.withLock { $0.since = .now }
        job.runSynchronously(on: asUnownedTaskExecutor())
        running.withLock { $0.since = nil }
      }
    }
  }

  enum NoFlaw: Flaw {}

  enum RoomForAMillion: Flaw {
    static let room = 8_000_000
  }

  enum CopiesLine: Flaw {
    static let copies = true
  }

  enum SleepsIfEmpty: Flaw {
    static let sleepsIfEmpty = true
  }

  enum UrgentIfTaken: Flaw {
    static let triesLock = true
  }

  enum EndsAfterTwentySeconds: Flaw {
    static let patience: Int? = 20_000_000_000
  }

  enum HelpsAfterTwoSeconds: Flaw {
    static let longest: Duration? = .seconds(2)
  }

  private func executor<F: Flaw>(_ flaw: F.Type) -> GradeBook { Grader.executor(Flawed<F>.self) }

  private let heap: @Sendable () -> Int64 = { Int64(OwnExecutorHeap.bytes.value) }

  @Test(.long) func `a line that is copied for each job is refused, however soon that is`() async {
    await expect(
      executor(CopiesLine.self),
      "pile",
      refusedSaying: "'enqueue' takes the longer the more jobs are in line"
    )
    await expect(executor(NoFlaw.self), "pile")
  }

  @Test func `an executor that has who adds to an empty line sleep is refused`() async {
    await expect(
      executor(SleepsIfEmpty.self),
      "comes_back",
      refusedSaying: "slept in 'enqueue', where nothing was in line"
    )
    await expect(executor(NoFlaw.self), "comes_back")
  }

  @Test(.long) func `a line that has its room before it has jobs is refused`() async {
    await expect(
      executor(RoomForAMillion.self),
      "apart",
      refusedSaying: "each takes 8000 kB of memory before it has a job",
      heap: heap
    )
    await expect(executor(NoFlaw.self), "apart", heap: heap)
  }

  @Test func `a line is refused whose order is another where the lock is taken`() async {
    await expect(
      executor(UrgentIfTaken.self),
      "in_order",
      refusedSaying: "Who is ready first runs first"
    )
    await expect(executor(NoFlaw.self), "in_order")
  }

  @Test(.long) func `a thread that would wake by itself in many seconds is refused`() async {
    await expect(
      executor(EndsAfterTwentySeconds.self),
      "asleep",
      refusedSaying: "would wake by itself within"
    )
  }

  @Test(.long) func `a second thread beside a job that takes seconds is refused`() async {
    await expect(
      executor(HelpsAfterTwoSeconds.self),
      "going_to_sleep",
      refusedSaying: "what became ready then ran beside it"
    )
    await expect(executor(NoFlaw.self), "going_to_sleep")
  }
}

extension `Executors' lines and sleeps`.Flaw {
  static var room: Int { 0 }
  static var copies: Bool { false }
  static var sleepsIfEmpty: Bool { false }
  static var triesLock: Bool { false }
  static var patience: Int? { nil }
  static var longest: Duration? { nil }
}
