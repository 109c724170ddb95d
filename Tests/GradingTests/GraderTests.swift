import Basics
import ExplorableLimiters
import ExplorableSynchronization
import Exploration
import LessonBook
import TestSupport
import Testing

@testable import Grading

@Suite(.watched, .serialized) struct GraderTests {
  /// What a solution could be: the package's own limiter under another name.
  private struct Sound: LearnerLimiter {
    private let limiter: ConcurrencyLimiter

    init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      try await limiter.run(body)
    }
  }

  private struct NoLimit: LearnerLimiter {
    init(limit: Int) {}

    func run<Value>(_ body: () async throws -> Value) async throws -> Value { try await body() }
  }

  /// Sound, but of one permit whatever it is told.
  private struct OneAtATime: LearnerLimiter {
    private let limiter = ConcurrencyLimiter(concurrency: 1)

    init(limit: Int) {}

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      try await limiter.run(body)
    }
  }

  /// Waits, cancelled or not, and then runs the body all the same.
  struct Uncancellable: LearnerLimiter {
    private let limiter: ConcurrencyLimiter

    init(limit: Int) { limiter = ConcurrencyLimiter(concurrency: limit) }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      try await limiter.runUncancellably(body)
    }
  }

  /// Keeps the permit of a body that throws.
  private final class Leaking: LearnerLimiter {
    private let pool: AsyncPool<Permit>
    final class Permit: Sendable {}

    init(limit: Int) { pool = AsyncPool(maxElements: limit) { Permit() } }

    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
      let permit = try await pool.get()
      let value = try await body()
      pool.return(permit)
      return value
    }
  }

  /// The names of the items that passed and the first that did not.
  private func grade(_ book: GradeBook) async -> (passed: [String], failed: GradeItem?) {
    var items: [GradeItem] = []
    let passed = await book.grade(
      GradeBook.Terms(
        seed: 1,
        storm: 0.02,
        executor: racetrack,
        sharesPool: true,
        heap: heapAtRest,
        processorTime: processorAtRest,
        sleeps: threadsAtRest
      )
    ) {
      items.append($0)
    }
    #expect(passed == items.allSatisfy(\.passed))
    return (items.filter(\.passed).map(\.name), items.first { !$0.passed })
  }

  @Test(.long) func `a sound limiter passes every exercise on limiters`() async {
    for book in [
      Grader.limiter(Uncancellable.self), Grader.cancellableLimiter(Sound.self),
      Grader.design(Sound.self),
    ] {
      let (passed, failed) = await grade(book)
      #expect(failed == nil)
      #expect(passed == book.questions.map(\.name))
    }
  }

  @Test func `no limit at all fails with the schedule that shows it`() async {
    let (_, failed) = await grade(Grader.limiter(NoLimit.self))
    #expect(failed?.name == "safety")
    #expect(failed?.story.contains("2 running, limit 1") == true)
  }

  @Test func `one at a time is safe, and fails for being too careful`() async {
    let (passed, failed) = await grade(Grader.limiter(OneAtATime.self))
    #expect(passed.contains("safety"))
    #expect(failed?.name == "limit_reached")
    #expect(failed?.sentence.contains("at most 1 ran at once") == true)
  }

  @Test func `a permit lost to an error is found`() async {
    let (passed, failed) = await grade(Grader.limiter(Leaking.self))
    #expect(passed.contains("safety"))
    #expect(failed?.name == "errors")
  }

  @Test(.long) func `a body that runs although it was cancelled is found`() async {
    #expect(await grade(Grader.limiter(Uncancellable.self)).failed == nil)
    let (_, failed) = await grade(Grader.cancellableLimiter(Uncancellable.self))
    #expect(failed?.name == "cancellation")
    #expect(failed?.sentence.contains("ran-after-cancel") == true)
  }

  @Test func `a thread that runs is seen, so that nobody who is only slow is called still`() {
    final class Flag: Sendable { let isUp = Atomic(false) }
    let flag = Flag()
    // A thread of its own, because it spins.
    let spinning = OSThread { while !flag.isUp.load(ordering: .relaxed) {} }
    #expect(!OtherThreads.areAllAsleep)
    flag.isUp.store(true, ordering: .relaxed)
    spinning.detach()
  }

  // MARK: Pools

  /// Resumes the first waiter and leaves it in the line.
  private final class ResumingTwice: LearnerPool {
    private let state: Mutex<(free: [Int], line: [Waiting.Waiter])>
    private let waiting: Waiting

    init(size: Int, waiting: Waiting) {
      state = Mutex((Array(1...size), []))
      self.waiting = waiting
    }

    func take() async -> Int {
      await waiting.suspend { waiter in
        let element: Int? = state.withLock { state in
          if let element = state.free.popLast() { return element }
          state.line.append(waiter)
          return nil
        }
        if let element { waiter.resume(with: element) }
      }
    }

    func giveBack(_ element: Int) {
      let waiter: Waiting.Waiter? = state.withLock { state in
        if let first = state.line.first { return first }
        state.free.append(element)
        return nil
      }
      waiter?.resume(with: element)
    }
  }

  @Test(.long) func `a pool whose waiters are resumed once passes`() async {
    let failed = await grade(Grader.pool(SoundPool.self)).failed
    #expect(failed == nil, "\(failed as Any)")
  }

  @Test func `a waiter resumed twice is found, and survived`() async {
    let (_, failed) = await grade(Grader.pool(ResumingTwice.self))
    #expect(failed?.sentence.contains("double-resume") == true)
  }

  // MARK: Accounts

  private actor SoundAccount: LearnerAccount {
    private var balance: Int
    private let bank: Bank

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance >= amount else { return false }
      balance -= amount
      await bank.approve()
      return true
    }
  }

  private actor CheckThenAct: LearnerAccount {
    private var balance: Int
    private let bank: Bank

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      guard balance >= amount else { return false }
      await bank.approve()
      balance -= amount
      return true
    }
  }

  private actor Miser: LearnerAccount {
    init(balance: Int, bank: Bank) {}

    func withdraw(_ amount: Int) async -> Bool { false }
  }

  @Test(.long) func `an account that reserves before it awaits passes`() async {
    let failed = await grade(Grader.account(SoundAccount.self)).failed
    #expect(failed == nil, "\(failed as Any)")
  }

  @Test func `an account that checks, awaits and acts is overdrawn`() async {
    let (_, failed) = await grade(Grader.account(CheckThenAct.self))
    #expect(failed?.name == "safety")
    let paid = "overdrawn: 2 withdrawals of 60 are paid out of 100. Each looked before another took"
    #expect(failed?.sentence.contains(paid) == true, "\(failed as Any)")
    // Nothing is admitted to an account, and it has no limit: its lines are told.
    #expect(failed?.story.contains("task 2 is the first withdrawal") == true)
    #expect(
      failed?.story.contains("limit 1") == false && failed?.story.contains("admitted") == false
    )
  }

  @Test func `an account that refuses everybody is safe, and fails`() async {
    let (passed, failed) = await grade(Grader.account(Miser.self))
    #expect(passed.contains("safety"))
    #expect(failed?.name == "paid_out")
  }

  private enum GoodTest: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      async let one = cache.value(for: "logo")
      async let two = cache.value(for: "logo")
      async let other = cache.value(for: "photograph")
      let values = await [one, two, other]
      try require(values == [4, 4, 10])
      try require(await cache.downloads == 2)
    }
  }

  private enum OneAfterTheOther: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      for _ in 1...2 { try require(await cache.value(for: "logo") == 4) }
      try require(await cache.downloads == 1)
    }
  }

  /// Looks at no value.
  private enum CountsDownloads: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws {
      async let one = cache.value(for: "logo")
      async let two = cache.value(for: "logo")
      async let other = cache.value(for: "photograph")
      _ = await [one, two, other]
      try require(await cache.downloads == 2)
    }
  }

  private enum RefusesAll: LearnerTest {
    static func check(_ cache: any LearnerCache) async throws { try require(false) }
  }

  @Test(.long) func `a test that finds every planted defect and passes what is right passes`() async
  {
    #expect(await grade(Grader.test(GoodTest.self)).failed == nil)
  }

  @Test func `a test that does one thing after the other finds nothing`() async {
    let (passed, failed) = await grade(Grader.test(OneAfterTheOther.self))
    #expect(passed.contains("right_too"))
    #expect(failed?.name == "once")
  }

  @Test(.long) func `a test that looks at the downloads only misses a wrong value`() async {
    let (passed, failed) = await grade(Grader.test(CountsDownloads.self))
    #expect(passed.contains("once"))
    #expect(failed?.name == "own")
  }

  @Test func `a test that refuses what is right fails, and is told the schedule`() async {
    let (_, failed) = await grade(Grader.test(RefusesAll.self))
    #expect(failed?.name == "right")
    #expect(failed?.story.contains("begins; ends") == true, "\(failed as Any)")
  }
}
