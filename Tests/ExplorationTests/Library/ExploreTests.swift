import Basics
import Exploration
import Synchronization
import TestSupport
import Testing

/// What `explore` promises, asked as a package would that has only its public part.
@Suite(.inTurn, .watched) struct ExploreTests {
  actor Counter {
    private(set) var value = 0

    func add() { value += 1 }

    func write(_ new: Int) { value = new }
  }

  final class Log: Sendable {
    private let entries = Mutex<[Int]>([])

    var all: [Int] { entries.withLock { $0 } }

    func add(_ entry: Int) { entries.withLock { $0.append(entry) } }
  }

  /// What a failing exploration throws.
  static func failure(
    _ name: String,
    strategy: ExplorationStrategy = .exhaustive,
    preemptions: Int? = 2,
    schedules: Int = 100_000,
    replaying schedule: String? = nil,
    line: Int = #line,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> ExplorationFailure {
    let verdict: ExplorationVerdict
    do throws(ExplorationFailure) {
      verdict = try explore(
        name,
        strategy: strategy,
        preemptions: preemptions,
        schedules: schedules,
        replaying: schedule,
        line: line,
        body
      )
    } catch {
      return error
    }
    throw Passed(verdict: verdict)
  }

  struct Passed: Error { var verdict: ExplorationVerdict }

  @Sendable static func lostUpdate() async throws {
    let counter = Counter()
    await withTaskGroup { group in
      for _ in 1...2 { group.addTask { await counter.write(await counter.value + 1) } }
    }
    try require(await counter.value == 2, "an addition is lost")
  }

  @Test func `a closure without a defect is explored to its end, and what was bounded is said`()
    throws
  {
    @Sendable func twoAdditions() async throws {
      let counter = Counter()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { await counter.add() } }
      }
      try require(await counter.value == 2)
    }
    let bounded = try explore("two additions", preemptions: 0, twoAdditions)
    let verdict = try explore("two additions", preemptions: nil, twoAdditions)
    #expect(verdict.ranEverySchedule)
    #expect(verdict.preemptionBound == nil)
    #expect(verdict.schedules > bounded.schedules)
    #expect(verdict.steps > verdict.schedules)
    #expect(bounded.ranEverySchedule)
    #expect(bounded.preemptionBound == 0)
    #expect(bounded.notCovered.contains("more than 0 pre-emptions"))
    let capped = try explore("two additions", schedules: 3, twoAdditions)
    #expect(capped.coverage == .bounded)
    #expect(capped.schedules == 3)
    #expect(capped.notCovered.contains("schedules behind the first 3"))
  }

  @Test func `a lost update is found, told step by step with its lines, and replayed`() throws {
    let failure = try Self.failure("a lost: update", Self.lostUpdate)
    guard case .requirement(let message) = failure.kind else { throw failure }
    #expect(message.hasPrefix("an addition is lost (ExploreTests.swift:"))
    let lines = failure.description.split(separator: "\n")
    #expect(lines[0].hasPrefix("'a lost: update' fails in schedule "))
    #expect(lines[1].contains("  1  task 1  ExploreTests.swift:"))
    #expect(lines[2].contains("  2  task 2  ExploreTests.swift:"))
    #expect(lines[2].hasSuffix("  begins"))
    #expect(failure.description.contains("pre-empts task 2"))
    #expect(failure.description.contains("what matters: step "))
    #expect(
      lines.last
        == """
        to run it again: explore("a lost: update", replaying: "\(failure.schedule)") { … }
        """
    )
    let again = try Self.failure("a lost: update", replaying: failure.schedule, Self.lostUpdate)
    #expect(again.schedule == failure.schedule)
  }

  @Test(arguments: [.random(schedules: 1_000), .pct(schedules: 1_000)] as [ExplorationStrategy])
  func `chance finds it too`(strategy: ExplorationStrategy) throws {
    let failure = try Self.failure("lost update", strategy: strategy, Self.lostUpdate)
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `a schedule that passes is no failure, and one for other code is refused`() throws {
    let clean = try explore(
      "lost update",
      replaying: "v3:lost-update:-:1,2",
      Self.lostUpdate
    )
    #expect(clean.coverage == .bounded)
    #expect(clean.schedules == 1)
    for text in ["v3:other:-:1", "v3:lost-update:-:1,9", "nonsense", "v3:lost-update:0:1"] {
      let failure = try Self.failure("lost update", replaying: text, Self.lostUpdate)
      guard case .diverged = failure.kind else { throw failure }
      #expect(failure.description.contains("cannot be replayed"))
    }
  }

  @Test func `a requirement counts though the task that asked catches the error`() throws {
    let failure = try Self.failure("caught") {
      let task = Task { try? require(false, "asked in vain") }
      await task.value
    }
    guard case .requirement(let message) = failure.kind else { throw failure }
    #expect(message.hasPrefix("asked in vain"))
  }

  @Test func `an error of the closure is thrown on`() throws {
    struct Mine: Error {}
    let failure = try Self.failure("throws") { throw Mine() }
    guard case .thrown(let error) = failure.kind else { throw failure }
    #expect(error is Mine)
  }

  @Test func `plain tasks, detached ones and their yields are explored`() throws {
    let failure = try Self.failure("plain") {
      let counter = Counter()
      let tasks = [
        Task {
          let value = await counter.value
          await Task.yield()
          await counter.write(value + 1)
        },
        Task.detached { await counter.write(await counter.value + 1) },
      ]
      for task in tasks { await task.value }
      try require(await counter.value == 2)
    }
    guard case .requirement = failure.kind else { throw failure }
    let verdict = try explore("plain") {
      let counter = Counter()
      let tasks = (1...2).map { _ in
        Task {
          await Task.yield()
          await counter.add()
          await Task.yield()
        }
      }
      for task in tasks { await task.value }
      try require(await counter.value == 2)
    }
    #expect(verdict.ranEverySchedule)
  }

  @Test func `the main actor's jobs are explored, in either order, one at a time`() throws {
    @Sendable func twoJobs(_ log: Log) async {
      async let one: Void = { @MainActor in
        MainActor.assertIsolated()
        log.add(1)
      }()
      let two = Task { @MainActor in log.add(2) }
      await one
      await two.value
    }
    let failure = try Self.failure("main actor") {
      let log = Log()
      await twoJobs(log)
      try require(log.all == [1, 2])
    }
    guard case .requirement = failure.kind else { throw failure }
    try explore("main actor") {
      let log = Log()
      await twoJobs(log)
      try require(log.all.sorted() == [1, 2])
    }
  }

  /// Resumes somebody when it is let go.
  final class Lease: Sendable {
    private let continuation: UnsafeContinuation<Void, Never>

    init(_ continuation: UnsafeContinuation<Void, Never>) { self.continuation = continuation }

    deinit { continuation.resume() }
  }

  @Test func `the result of a task that nobody keeps is let go when the task ends`() throws {
    let verdict = try explore("lease") {
      await withUnsafeContinuation { continuation in
        _ = Task { Lease(continuation) }
      }
    }
    #expect(verdict.ranEverySchedule)
  }

  @Test func `an exploration of no schedules is refused`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("none", strategy: .random(schedules: 0)) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("an exploration needs at least 1 schedule, not 0"), "\(text)")
  }

  @Test func `fewer pre-emptions than none are refused`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("less", preemptions: -1) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("allows at least 0 pre-emptions"), "\(text)")
  }

  @Test func `tasks that wait for ever are a deadlock, and told with the line they wait at`() throws
  {
    let failure = try Self.failure("never") {
      let task = Task {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      }
      await task.value
    }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(failure.description.contains("task 1 and task 2 never finish"))
    #expect(failure.description.contains("  task 2 waits for ever at ExploreTests.swift:"))
    // Also one that nobody waits for.
    let forgotten = try Self.failure("forgotten") {
      Task { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
    }
    guard case .deadlock = forgotten.kind else { throw forgotten }
  }

  @Test func `tasks that retry for ever are a livelock`() throws {
    let failure = try Self.failure("retries") {
      let log = Log()
      while log.all.isEmpty { await Task.yield() }
    }
    guard case .livelock = failure.kind else { throw failure }
    // A task that yields a hundred times and then ends is none.
    try explore("patient") { for _ in 1...100 { await Task.yield() } }
  }

  @Test func `code built without the instrumentation is explored, and never exhaustively`() throws {
    let verdict = try explore("not instrumented") { try await Task.sleep(for: .seconds(3_600)) }
    #expect(verdict.ranEverySchedule)
    #expect(verdict.coverage == .bounded)
    let part = "in code built without the instrumentation (swift package explore shows them)"
    #expect(verdict.notCovered.contains { $0.contains(part) }, "\(verdict)")
  }

  @Test func `other threads are named as what leaves the exploration`() async throws {
    // On the main actor, whose jobs are the exploration's wherever they come from: in the pool a task could go on that
    // a thread resumes, and be over before anybody looks.
    let found = await onOwnThread {
      try? Self.failure("elsewhere") { @MainActor in
        let waits = ThreadSemaphore()
        // In the first schedule it runs when the other waits.
        async let other: Void = waits.post()
        await withUnsafeContinuation { continuation in
          OSThread {
            waits.wait()
            continuation.resume()
          }.detach()
        }
        await other
      }
    }
    let elsewhere = try #require(found)
    guard case .escaped = elsewhere.kind else { throw elsewhere }
    #expect(elsewhere.description.contains("thread"), "\(elsewhere)")
  }

  @Test func `a sleep for longer than a clock counts is one for ever`() throws {
    try explore("for ever") {
      let clock = VirtualClock()
      let start = clock.now
      for seconds: Int64 in [.max, 300 * 365 * 86_400] {
        let sleeper = Task { try? await clock.sleep(for: .seconds(seconds)) }
        sleeper.cancel()
        await sleeper.value
      }
      let end = start.advanced(by: .seconds(Int64.max))
      try require(end.advanced(by: .seconds(1)) == end && start < end, "time goes on")
      let beginning = start.advanced(by: .seconds(Int64.min))
      try require(beginning < start, "time has no beginning")
      try require(beginning.duration(to: end) > start.duration(to: end), "the way back is no way")
    }
  }

  actor Round {
    private(set) var said = ""

    func say(_ word: String) { said += word }

    func start(_ count: Int) -> [Task<Void, Never>] {
      (0..<count).map { number in
        Task {
          say("\(number)")
          await Task.yield()
          say("\(number)")
        }
      }
    }
  }

  @Test func `a task that yields in an actor's turn yields itself, not the task whose turn it is`()
    throws
  {
    let verdict = try explore("a round", preemptions: 0) {
      let round = Round()
      for task in await round.start(3) { await task.value }
      try require(await round.said.count == 6, "a word is lost")
    }
    #expect(verdict.ranEverySchedule, "\(verdict)")
    #expect(verdict.schedules < 100, "\(verdict)")
  }

  @Test func `a task may begin before its starter has suspended, which is named as not covered`()
    throws
  {
    let verdict = try explore("a start") { await Task {}.value }
    #expect(verdict.notCovered.contains { $0.contains("a task that begins before") }, "\(verdict)")
  }

  @Test func `a set is gone through in the same order in each schedule`() throws {
    // Kept, so that each is somewhere else in memory.
    let kept = Mutex<[Set<Int>]>([])
    try explore("the order of a set") {
      let set = Set(0..<32)
      kept.withLock { $0.append(set) }
      await withTaskGroup { group in
        // Another first one is another number of steps in most cases; all of them would be schedules by the million.
        let steps = (set.first ?? 0) % 4
        for _ in 1...2 { group.addTask { for _ in 0..<steps { await Task.yield() } } }
      }
    }
  }

  @Test func `who sleeps again and again keeps nobody else from going on`() throws {
    let verdict = try explore("a pulse", schedules: 5_000) {
      let clock = VirtualClock()
      let pulse = Task { while (try? await clock.sleep(for: .seconds(1))) != nil {} }
      await Task {}.value
      pulse.cancel()
      await pulse.value
    }
    #expect(verdict.givenUp == 0 && verdict.schedules < 5_000, "\(verdict)")
    #expect(verdict.coverage == .bounded)
    #expect(verdict.notCovered.contains { $0.contains("sleeps") }, "\(verdict)")
  }

  @Test func `a task that sleeps three times may be done before another has begun`() throws {
    let failure = try Self.failure("three attempts") {
      let clock = VirtualClock()
      let log = Log()
      let work = Task { log.add(1) }
      for _ in 1...3 where log.all.isEmpty { try await clock.sleep(for: .seconds(1)) }
      let hasAnswer = !log.all.isEmpty
      await work.value
      try require(hasAnswer, "no answer")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `more tasks than can be kept account of are explored at random, and that is said`()
    throws
  {
    let verdict = try explore("wide", schedules: 20) {
      await withTaskGroup { group in
        for _ in 1...70 { group.addTask {} }
      }
    }
    #expect(verdict.coverage == .bounded)
    #expect(verdict.schedules == 20)
    #expect(
      verdict.notCovered.first?.hasPrefix("all but 20 schedules drawn at random: 70 things") == true
    )
  }

  @Test func `code that behaves differently from run to run is said to diverge`() throws {
    let runs = Log()
    let failure = try Self.failure("diverges") {
      runs.add(1)
      let run = runs.all.count
      await withTaskGroup { group in
        for _ in 0..<(1 + run % 3) { group.addTask { await Task.yield() } }
      }
    }
    guard case .diverged = failure.kind else { throw failure }
  }

  @Test(arguments: [.exhaustive, .random(schedules: 10)] as [ExplorationStrategy])
  func `state that outlives the closure is said to diverge, though it shows as a requirement`(
    strategy: ExplorationStrategy
  ) throws {
    let visits = Log()
    let failure = try Self.failure("outlives", strategy: strategy) {
      async let one: Void = visits.add(1)
      async let two: Void = visits.add(2)
      _ = await (one, two)
      try require(visits.all.count == 2, "\(visits.all.count) visits")
    }
    guard case .diverged = failure.kind else { throw failure }
    #expect(failure.description.contains("state that outlives the closure"))
  }

  @Test(arguments: [2, 3])
  func `state that outlives the closure diverges though only some runs show it`(turn: Int) throws {
    let visits = Log()
    let failure = try Self.failure("outlives") {
      async let one: Void = visits.add(1)
      async let two: Void = Task.yield()
      _ = await (one, two)
      try require(visits.all.count % turn != 0, "\(visits.all.count) visits")
    }
    guard case .diverged = failure.kind else { throw failure }
  }

  @Test func `a task that begins at once sleeps in its own name`() throws {
    let failure = try Self.failure("at once") {
      let clock = VirtualClock()
      let log = Log()
      // It is on its parent's executor, so nothing takes it off before it sleeps.
      await withTaskGroup { group in
        group.addImmediateTask {
          try? await clock.sleep(for: .seconds(1))
          log.add(1)
        }
        try? await clock.sleep(for: .seconds(1))
        log.add(2)
      }
      try require(log.all == [1, 2], "the second came first")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `time on the virtual clock goes from deadline to deadline, and may overtake work`()
    throws
  {
    try explore("timers") {
      let clock = VirtualClock()
      let start = clock.now
      let log = Log()
      await withTaskGroup { group in
        for second in [3, 1, 2] {
          group.addTask {
            try? await clock.sleep(for: .seconds(second))
            log.add(second)
          }
        }
      }
      // A task that falls asleep late sleeps longer: the order is not certain, the time is.
      try require(start.duration(to: clock.now) >= .seconds(3))
      try require(log.all.sorted() == [1, 2, 3])
    }
    let failure = try Self.failure("timeout") {
      let clock = VirtualClock()
      let winner = await withTaskGroup(of: Int?.self) { group in
        group.addTask { Task.isCancelled ? nil : 1 }
        group.addTask { (try? await clock.sleep(for: .seconds(60))).map { 2 } }
        let first = await group.next() ?? nil
        group.cancelAll()
        return first
      }
      try require(winner == 1, "the work was too slow")
    }
    guard case .requirement = failure.kind else { throw failure }
  }
}
