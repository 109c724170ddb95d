import Basics
import Dispatch
import ExplorableSynchronization
import Foundation
import GradeReport
import TestSupport
import Testing

@testable import Grading

/// The exercise on executors: what it takes, and by which question it refuses.
@Suite(.watched, .serialized) struct `Executors of learners` {
  /// What is wrong with an executor.
  protocol Flaw: SendableMetatype {
    static func next(_ waiting: Int) -> Int
    /// Whether a job that finds others is left to the wake-up of the first.
    static var wakesOnce: Bool { get }
    static var threads: Int { get }
    static var holdsLock: Bool { get }
    /// How many nanoseconds the thread sleeps before it looks for work by itself; nil for as long as it takes.
    static var pause: Int? { get }
  }

  private final class Flawed<F: Flaw>: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() {
      for _ in 0..<F.threads { Thread.detachNewThread { [self] in work() } }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let count = jobs.withLock { jobs in
        jobs.append(job)
        return jobs.count
      }
      if !F.wakesOnce || count == 1 { ready.post() }
    }

    private func work() {
      while true {
        if let pause = F.pause {
          _ = ready.wait(atMost: pause)
        } else {
          ready.wait()
        }
        if F.holdsLock {
          jobs.withLock { $0.removeFirst().runSynchronously(on: asUnownedTaskExecutor()) }
        } else {
          let job = jobs.withLock { $0.isEmpty ? nil : $0.remove(at: F.next($0.count)) }
          job?.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }
  }

  enum NoFlaw: Flaw {}

  enum NewestFirst: Flaw {
    static func next(_ waiting: Int) -> Int { waiting - 1 }
  }

  enum WakesOnce: Flaw {
    static let wakesOnce = true
  }

  enum HoldsLock: Flaw {
    static let holdsLock = true
  }

  enum LooksNowAndThen: Flaw {
    static let pause: Int? = 1_000_000
  }

  enum Spins: Flaw {
    static let pause: Int? = 0
  }

  enum TwoThreads: Flaw {
    static let threads = 2
  }

  /// Runs a job where it becomes ready.
  private final class Inline: LearnerExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
      UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
    }
  }

  /// Has a thread of Dispatch's run each job.
  private final class Queue: LearnerExecutor {
    private let queue = DispatchQueue(label: "")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// The most urgent first.
  private final class UrgentFirst: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() {
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { jobs in
        jobs.insert(job, at: jobs.firstIndex { $0.priority < job.priority } ?? jobs.endIndex)
      }
      ready.post()
    }
  }

  /// A thread that works off what it is given by somebody else, to whom the jobs may be said to belong.
  private final class Worker: Sendable {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    func start(_ run: @escaping @Sendable (UnownedJob) -> Void) {
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          run(jobs.withLock { $0.removeFirst() })
        }
      }
    }

    func add(_ job: UnownedJob) {
      jobs.withLock { $0.append(job) }
      ready.post()
    }
  }

  /// Has room for 256 jobs.
  private final class Bounded: LearnerExecutor {
    private let worker = Worker()
    private let room = ThreadSemaphore()

    init() {
      for _ in 1...256 { room.post() }
      worker.start { [self] job in
        room.post()
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      room.wait()
      worker.add(job)
    }
  }

  /// Says of its jobs that another executor runs them.
  private final class UnderAnotherName: LearnerExecutor {
    private let worker = Worker()
    private let other = Inline()

    init() {
      worker.start { [self] job in job.runSynchronously(on: other.asUnownedTaskExecutor()) }
    }

    func enqueue(_ job: consuming ExecutorJob) { worker.add(UnownedJob(job)) }
  }

  /// Keeps something of each job that has run.
  private final class Keeping: LearnerExecutor {
    static let bytes = PlainCount()
    private let worker = Worker()

    init() {
      worker.start { [self] job in
        Self.bytes.add(8)
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }

    func enqueue(_ job: consuming ExecutorJob) { worker.add(UnownedJob(job)) }
  }

  /// Takes back that it was woken only when it has looked for work for the last time.
  private final class LooksTooEarly: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()
    private let isWoken = Atomic(false)

    init() {
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          while let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
            job.runSynchronously(on: asUnownedTaskExecutor())
          }
          // On one processor, too, a job comes in between.
          sched_yield()
          isWoken.store(false, ordering: .releasing)
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
      if !isWoken.exchange(true, ordering: .acquiringAndReleasing) { ready.post() }
    }
  }

  private func expect<Executor: LearnerExecutor>(
    _ type: Executor.Type,
    refusedBy name: String,
    saying part: String,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let failed = await refusal(Grader.executor(type))
    #expect(failed?.name == name, "\(failed as Any)", sourceLocation: location)
    #expect(failed?.sentence.contains(part) == true, "\(failed as Any)", sourceLocation: location)
  }

  @Test func `that run every job in order on a thread of their own pass`() async {
    let failed = await refusal(Grader.executor(Flawed<NoFlaw>.self))
    #expect(failed == nil, "\(failed as Any)")
  }

  @Test func `that choose another job, or none, are refused by what ran`() async {
    await expect(
      Flawed<NewestFirst>.self,
      refusedBy: "in_order",
      saying: "task 8 went on for the first time before task 1 for the first"
    )
    await expect(Flawed<WakesOnce>.self, refusedBy: "in_order", saying: "8 of 9 never ended")
    await expect(
      Flawed<HoldsLock>.self,
      refusedBy: "in_order",
      saying: "'enqueue' did not come back while a job was running"
    )
    await expect(UrgentFirst.self, refusedBy: "in_order", saying: "however urgent another is")
    await expect(Bounded.self, refusedBy: "pile", saying: "It must not wait for room")
  }

  @Test func `that lose a wake-up between their last look and their sleep are refused`() async {
    // Which of the two it is, chance decides.
    let failed = await refusal(Grader.executor(LooksTooEarly.self))
    #expect(["going_to_sleep", "resumed"].contains(failed?.name), "\(failed as Any)")
  }

  @Test func `that keep something of each job are refused`() async {
    let failed = await refusal(
      Grader.executor(Keeping.self),
      heap: { Int64(Keeping.bytes.value) }
    )
    #expect(failed?.name == "kept", "\(failed as Any)")
  }

  @Test func `that have another thread run it are refused by who ran it`() async {
    await expect(Inline.self, refusedBy: "elsewhere", saying: "it ran inside 'enqueue'")
    await expect(Queue.self, refusedBy: "one_thread", saying: "a thread of Dispatch or of Swift")
    await expect(
      UnderAnotherName.self,
      refusedBy: "by_name",
      saying: "job.runSynchronously(on: asUnownedTaskExecutor())"
    )
    // Which of the two it is depends on the machine.
    let failed = await refusal(Grader.executor(Flawed<TwoThreads>.self))
    #expect(["in_order", "one_thread"].contains(failed?.name), "\(failed as Any)")
  }

  @Test func `whose thread does not sleep are refused by what it does instead`() async {
    await expect(
      Flawed<LooksNowAndThen>.self,
      refusedBy: "asleep",
      saying: "times to look for work"
    )
    // On a busy machine it is seen asleep while another has the processor.
    await expect(Flawed<Spins>.self, refusedBy: "asleep", saying: "Let it wait until 'enqueue'")
  }
}

extension `Executors of learners`.Flaw {
  static func next(_ waiting: Int) -> Int { 0 }
  static var wakesOnce: Bool { false }
  static var threads: Int { 1 }
  static var holdsLock: Bool { false }
  static var pause: Int? { nil }
}
