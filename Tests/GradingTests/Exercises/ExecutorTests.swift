import Basics
import Dispatch
import ExplorableSynchronization
import Foundation
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Whether threads that look for work by themselves are to end: each would take a part of a processor from all tests
/// that follow, for as long as the program runs.
private let areLookersOver = Atomic(false)

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
      while F.pause == nil || !areLookersOver.load(ordering: .acquiring) {
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

  /// Where the line is short nobody sees it.
  enum NewestOfMany: Flaw {
    static func next(_ waiting: Int) -> Int { waiting > 8 ? waiting - 1 : 0 }
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

  enum LooksEachSecond: Flaw {
    static let pause: Int? = 1_000_000_000
  }

  enum Spins: Flaw {
    static let pause: Int? = 0
  }

  enum TwoThreads: Flaw {
    static let threads = 2
  }

  /// What its own jobs make ready stands behind what other threads have.
  private final class OthersFirst: LearnerExecutor {
    private let lines = Mutex<(others: [UnownedJob], own: [UnownedJob])>(([], []))
    private let thread = Mutex<pthread_t?>(nil)
    private let ready = ThreadSemaphore()

    init() {
      Thread.detachNewThread { [self] in
        thread.withLock { $0 = pthread_self() }
        while true {
          ready.wait()
          let job = lines.withLock {
            $0.others.isEmpty ? $0.own.removeFirst() : $0.others.removeFirst()
          }
          job.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      let isOwn = thread.withLock { $0 } == pthread_self()
      lines.withLock { if isOwn { $0.own.append(job) } else { $0.others.append(job) } }
      ready.post()
    }
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

  /// Lets some jobs wait for others, or go before them; `Rank` says where one is put into the line.
  private final class Ranked<R: Rank>: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() {
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          jobs.withLock { $0.remove(at: R.next($0)) }
            .runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.insert(job, at: R.place(of: job, $0)) }
      ready.post()
    }
  }

  protocol Rank: SendableMetatype {
    static func next(_ line: [UnownedJob]) -> Int
    static func place(of job: UnownedJob, _ line: [UnownedJob]) -> Int
  }

  enum BackgroundLast: Rank {
    static func next(_ line: [UnownedJob]) -> Int {
      line.firstIndex { $0.priority != JobPriority(.background) } ?? 0
    }
  }

  enum InteractiveFirst: Rank {
    static func place(of job: UnownedJob, _ line: [UnownedJob]) -> Int {
      job.priority.rawValue > 25 ? 0 : line.count
    }
  }

  /// Runs a job where it becomes ready, if that is its own thread and none is in line.
  private final class RunsWithin: LearnerExecutor {
    private let worker = Worker()
    private let own = Atomic<UInt>(0)
    private let waiting = Atomic(0)

    init() {
      worker.start { [self] job in
        own.store(OSThread.current, ordering: .releasing)
        waiting.subtract(1, ordering: .acquiringAndReleasing)
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      if own.load(ordering: .acquiring) == OSThread.current, waiting.load(ordering: .acquiring) == 0
      {
        return job.runSynchronously(on: asUnownedTaskExecutor())
      }
      waiting.add(1, ordering: .acquiringAndReleasing)
      worker.add(job)
    }
  }

  /// Has room for 65,536 jobs: one more takes the place of the first.
  private final class Ring: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()

    init() {
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }?
            .runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { jobs in
        if jobs.count < 65_536 { jobs.append(job) } else { jobs[0] = job }
      }
      ready.post()
    }
  }

  /// Adds to the line without the lock, on its own thread.
  private final class UnlockedOnItsOwn: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()
    private let own = Atomic<UInt>(0)

    init() {
      Thread.detachNewThread { [self] in
        own.store(OSThread.current, ordering: .releasing)
        while true {
          ready.wait()
          jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }?
            .runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      // Not on other threads: a line that somebody has a copy of is copied when it changes.
      let isOwn = own.load(ordering: .acquiring) == OSThread.current
      let before = isOwn ? jobs.withLock { $0 } : []
      // Only where the line is long, so it does not depend on chance which question refuses it.
      if (100..<1_000).contains(before.count) {
        // What others add meanwhile is lost, as where two threads change an array. On one processor, too, they do.
        sched_yield()
        jobs.withLock { $0 = before + [job] }
      } else {
        jobs.withLock { $0.append(job) }
      }
      ready.post()
    }
  }

  /// Looks for a job, and waits for one, under one lock or under two.
  private final class OnACondition<L: Looking>: LearnerExecutor {
    private let condition = LearnerCondition()
    // Touched by who has the lock.
    nonisolated(unsafe) private var jobs: [UnownedJob] = []

    init() {
      Thread.detachNewThread { [self] in
        while true { next()?.runSynchronously(on: asUnownedTaskExecutor()) }
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      condition.lock()
      jobs.append(job)
      condition.unlock()
      condition.signal()
    }

    private func next() -> UnownedJob? {
      condition.lock()
      let isEmpty = jobs.isEmpty
      if L.letsGo {
        condition.unlock()
        condition.lock()
      }
      defer { condition.unlock() }
      if isEmpty { L.wait(for: condition) }
      return jobs.isEmpty ? nil : jobs.removeFirst()
    }
  }

  protocol Looking: SendableMetatype {
    /// Whether the lock is free for a moment between the look and the wait.
    static var letsGo: Bool { get }
    static func wait(for condition: LearnerCondition)
  }

  enum LooksAndWaits: Looking {}

  enum LooksThenWaits: Looking {
    static let letsGo = true
  }

  /// Looks again after a while, and so runs the job late.
  enum LooksThenWaitsAWhile: Looking {
    static let letsGo = true
    static func wait(for condition: LearnerCondition) {
      _ = condition.wait(until: Date(timeIntervalSinceNow: 0.5))
    }
  }

  /// Lets go of what has run when its line is empty.
  private final class KeepsUntilEmpty: LearnerExecutor {
    static let bytes = PlainCount()
    private let worker = Worker()
    private let state = Mutex((waiting: 0, kept: 0))

    init() {
      worker.start { [self] job in
        state.withLock { state in
          state.waiting -= 1
          state.kept += 8
          Self.bytes.add(8)
          guard state.waiting == 0 else { return }
          Self.bytes.add(-state.kept)
          state.kept = 0
        }
        job.runSynchronously(on: asUnownedTaskExecutor())
      }
    }

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      state.withLock { $0.waiting += 1 }
      worker.add(job)
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

  /// Starts its thread with the first job: two who bring it at once start two.
  private final class BeginsTwice: LearnerExecutor {
    private let jobs = Mutex<[UnownedJob]>([])
    private let ready = ThreadSemaphore()
    private let hasThread = Atomic(false)

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      jobs.withLock { $0.append(job) }
      ready.post()
      guard !hasThread.load(ordering: .acquiring) else { return }
      // Long enough for another to come in between, on one processor too.
      _ = ThreadSemaphore().wait(atMost: 1_000_000)
      hasThread.store(true, ordering: .releasing)
      Thread.detachNewThread { [self] in
        while true {
          ready.wait()
          jobs.withLock { $0.removeFirst() }.runSynchronously(on: asUnownedTaskExecutor())
        }
      }
    }
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

  @Test(.long) func `that run every job in order on a thread of their own pass`() async {
    let failed = await refusal(Grader.executor(Flawed<NoFlaw>.self))
    #expect(failed == nil, "\(failed as Any)")
  }

  @Test(.long) func `that choose another job are refused by what ran`() async {
    await expect(
      Flawed<NewestFirst>.self,
      refusedBy: "in_order",
      saying: "task 8 went on for the first time before task 1 for the first"
    )
    await expect(
      Flawed<NewestOfMany>.self,
      refusedBy: "pile",
      saying: "task 70000 ran before task 1, which was ready before"
    )
    await expect(
      OthersFirst.self,
      refusedBy: "both_sides",
      saying: "another thread had made ready ran before what a job of the executor had made ready"
    )
    await expect(UrgentFirst.self, refusedBy: "in_order", saying: "however urgent another is")
  }

  @Test(.long) func `that wake nobody, or hold up who asks, are refused by who waits then`() async {
    await expect(Flawed<WakesOnce>.self, refusedBy: "in_order", saying: "8 of 9 never ended")
    await expect(
      Flawed<HoldsLock>.self,
      refusedBy: "in_order",
      saying: "'enqueue' did not come back while a job was running"
    )
    await expect(Bounded.self, refusedBy: "pile", saying: "It must not wait for room")
  }

  @Test func `whose order depends on urgency, or on who asks, are refused`() async {
    await expect(
      Ranked<BackgroundLast>.self,
      refusedBy: "in_order",
      saying: "task 4 went on for the first time before task 3 for the first"
    )
    await expect(
      Ranked<InteractiveFirst>.self,
      refusedBy: "in_order",
      saying: "task 4 went on for the first time before task 1 for the first"
    )
    await expect(
      RunsWithin.self,
      refusedBy: "within",
      saying: "in the middle of the job that made it ready"
    )
  }

  @Test(.long) func `that lose jobs of a long line, or of two threads, are refused`() async {
    await expect(Ring.self, refusedBy: "pile", saying: "room for any number of jobs")
    await expect(
      UnlockedOnItsOwn.self,
      refusedBy: "own_and_others",
      saying: "take the lock on your own thread too"
    )
  }

  @Test(.long) func `that look under one lock and wait under another are refused`() async {
    let between = "Look for work and go to sleep in one step"
    await expect(OnACondition<LooksThenWaits>.self, refusedBy: "between_looks", saying: between)
    await expect(
      OnACondition<LooksThenWaitsAWhile>.self,
      refusedBy: "between_looks",
      saying: between
    )
    let failed = await refusal(Grader.executor(OnACondition<LooksAndWaits>.self))
    #expect(failed == nil, "\(failed as Any)")
  }

  @Test(.long) func `that let go only when nothing is in line are refused`() async {
    let failed = await refusal(
      Grader.executor(KeepsUntilEmpty.self),
      heap: { Int64(KeepsUntilEmpty.bytes.value) }
    )
    #expect(failed?.name == "kept_busy", "\(failed as Any)")
  }

  @Test(.long) func `that lose a wake-up between their last look and their sleep are refused`()
    async
  {
    // Each question that finds work from another thread can lose it. Which does, chance decides: the sentence says
    // what.
    let failed = await refusal(Grader.executor(LooksTooEarly.self))
    #expect(failed?.sentence.contains("woke") == true, "\(failed as Any)")
  }

  @Test(.long) func `that two threads start at once are refused`() async {
    // By itself: jobs of one thread that two threads run may be out of order before.
    await GradingTests.expect(
      Grader.executor(BeginsTwice.self),
      "first_jobs",
      refusedSaying: "Who starts the thread must know that nobody else does"
    )
  }

  @Test(.long) func `that keep something of each job are refused`() async {
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

  @Test(.long) func `whose thread does not sleep are refused by what it does instead`() async {
    // On a busy machine who spins is seen asleep while another has the processor, and who looks now and then is seen
    // awake while it waits for one: what to do is the same.
    let advice = "Let it wait until 'enqueue'"
    areLookersOver.store(false, ordering: .releasing)
    defer { areLookersOver.store(true, ordering: .releasing) }
    await expect(Flawed<LooksNowAndThen>.self, refusedBy: "asleep", saying: advice)
    await expect(Flawed<LooksEachSecond>.self, refusedBy: "asleep", saying: advice)
    await expect(Flawed<Spins>.self, refusedBy: "asleep", saying: advice)
  }
}

extension `Executors of learners`.Flaw {
  static func next(_ waiting: Int) -> Int { 0 }
  static var wakesOnce: Bool { false }
  static var threads: Int { 1 }
  static var holdsLock: Bool { false }
  static var pause: Int? { nil }
}

extension `Executors of learners`.Rank {
  static func next(_ line: [UnownedJob]) -> Int { 0 }
  static func place(of job: UnownedJob, _ line: [UnownedJob]) -> Int { line.count }
}

extension `Executors of learners`.Looking {
  static var letsGo: Bool { false }
  static func wait(for condition: LearnerCondition) { condition.wait() }
}
