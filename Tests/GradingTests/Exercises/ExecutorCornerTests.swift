import Basics
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercise on executors that are right for a while, for a short line or for one urgency.
@Suite(.watched, .serialized) struct `Executors in one case` {
  /// What is wrong with an executor.
  protocol Flaw: SendableMetatype {
    /// Which job comes next of so many that wait.
    static func next(_ waiting: Int) -> Int
    /// Whether something is kept of a job.
    static func keeps(_ job: UnownedJob) -> Bool
    /// How many jobs its thread runs.
    static var jobs: Int { get }
  }

  private final class Flawed<F: Flaw>: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() { Thread.detachNewThread { [self] in work() } }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if F.keeps(job) { OwnExecutorHeap.bytes.add(8) }
      jobs.withLock { $0.append(job) }
      ready.post()
    }

    private func work() {
      for _ in 0..<F.jobs {
        ready.wait()
        let job = jobs.withLock { $0.remove(at: F.next($0.count)) }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
      // The thread stays, so that it cannot be told by its end.
      while true { ready.wait() }
    }
  }

  private enum OwnExecutorHeap {
    static let bytes = PlainCount()
  }

  enum NoFlaw: Flaw {}

  enum NewestOfThousands: Flaw {
    static func next(_ waiting: Int) -> Int { waiting > 10_000 ? waiting - 1 : 0 }
  }

  enum KeepsUrgentOnes: Flaw {
    static func keeps(_ job: UnownedJob) -> Bool { job.priority.rawValue > 25 }
  }

  enum AQuarterOfAMillion: Flaw {
    static let jobs = 250_000
  }

  /// Has a thread as long as there is something to do; `E` says when it ends.
  private final class Ending<E: Idling>: LearnerExecutor {
    private let state = Mutex<(jobs: [UnownedJob], hasThread: Bool)>(([], false))
    private let ready = ThreadSemaphore()

    init() {}

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let starts = state.withLock { state in
        state.jobs.append(job)
        defer { state.hasThread = true }
        return !state.hasThread
      }
      ready.post()
      if starts { Thread.detachNewThread { [self] in work() } }
    }

    private func next() -> UnownedJob? {
      state.withLock { state in
        if state.jobs.isEmpty {
          state.hasThread = false
          return nil
        }
        return state.jobs.removeFirst()
      }
    }

    private func work() {
      while true {
        _ = ready.wait(atMost: E.patience)
        guard let job = next() else { return }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  protocol Idling: SendableMetatype {
    /// How many nanoseconds the thread waits for a job before it ends.
    static var patience: Int { get }
  }

  enum AtOnce: Idling {
    static let patience = 0
  }

  enum AfterAWhile: Idling {
    static let patience = 300_000_000
  }

  enum AfterSeconds: Idling {
    static let patience = 3_000_000_000
  }

  /// Looks for some milliseconds before it sleeps.
  private final class LooksFirst<L: Looking>: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() { Thread.detachNewThread { [self] in work() } }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
      ready.post()
    }

    private func work() {
      while true {
        var looks = 0
        while looks < L.looks, !ready.wait(atMost: L.pause) { looks += 1 }
        if looks == L.looks { ready.wait() }
        let job = jobs.withLock { $0.removeFirst() }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }
  }

  protocol Looking: SendableMetatype {
    static var looks: Int { get }
    /// How many nanoseconds there are between two looks.
    static var pause: Int { get }
  }

  enum ThirtyPauses: Looking {
    static let looks = 30
    static let pause = 100_000
  }

  @Test func `whose thread looks for work again before it sleeps are refused`() async {
    await expect(
      Grader.executor(LooksFirst<ThirtyPauses>.self),
      "one_by_one",
      refusedSaying: "looked for work again and again before it slept for good"
    )
  }

  private func executor<F: Flaw>(_ flaw: F.Type) -> GradeBook { Grader.executor(Flawed<F>.self) }

  @Test(.long) func `whose order changes when thousands wait are refused`() async {
    await expect(
      executor(NewestOfThousands.self),
      "pile",
      refusedSaying: "however urgent another is and however many wait"
    )
    await expect(executor(NoFlaw.self), "pile")
  }

  @Test func `whose thread ends when it has nothing to do are told that it has ended`() async {
    await expect(
      Grader.executor(Ending<AtOnce>.self),
      "one_by_one",
      refusedSaying: "the thread ended when no job was left"
    )
    await expect(
      Grader.executor(Ending<AfterAWhile>.self),
      "asleep",
      refusedSaying: "the thread ended when no job was left"
    )
    await expect(executor(NoFlaw.self), "one_by_one")
    await expect(executor(NoFlaw.self), "asleep")
  }

  @Test(.long) func `whose thread ends after seconds with nothing to do are refused`() async {
    await expect(
      Grader.executor(Ending<AfterSeconds>.self),
      "asleep",
      refusedSaying: "the thread sleeps for a time, and would wake by itself within 2 s"
    )
  }

  @Test(.long) func `that keep the urgent ones, or run a quarter of a million, are refused`()
    async
  {
    await expect(
      executor(KeepsUrgentOnes.self),
      "kept",
      refusedSaying: "Let go of each job that has run",
      heap: { Int64(OwnExecutorHeap.bytes.value) }
    )
    await expect(
      executor(AQuarterOfAMillion.self),
      "kept",
      refusedSaying: "when 250000 had run, the next never did"
    )
    await expect(executor(NoFlaw.self), "kept")
  }
}

extension `Executors in one case`.Flaw {
  static func next(_ waiting: Int) -> Int { 0 }
  static func keeps(_ job: UnownedJob) -> Bool { false }
  static var jobs: Int { .max }
}
