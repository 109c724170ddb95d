import ExplorableSynchronization
import Glibc
import TestSupport
import Testing

@testable import Exploration

/// What a verdict and a failure are called, and what is told before there is one.
@Suite(.inTurn, .watched) struct `The words of an exploration` {
  final class Shared: Sendable {
    let lock = Mutex(0)
    let flag = Atomic(false)
    let count = Atomic(0)
  }

  // MARK: Much is no livelock

  /// Code that does something many times and then ends.
  static let long: [@Sendable (Shared) async -> Void] = [
    { shared in for _ in 0..<620 { shared.lock.withLock { _ in } } },
    { shared in for _ in 0..<1_000 { shared.lock.withLock { $0 += 1 } } },
    { shared in
      for _ in 0..<3_000 where shared.flag.load(ordering: .relaxed) { return }
    },
    { _ in for _ in 0..<3_000 { await Task.yield() } },
    { shared in for _ in 0..<1_000 { shared.count.add(1, ordering: .relaxed) } },
  ]

  @Test(arguments: long.indices)
  func `what one task does a thousand times is no livelock`(way: Int) throws {
    let verdict = try explore("long") { await Self.long[way](Shared()) }
    #expect(verdict.givenUp == 0, "\(verdict)")
  }

  @Test func `two tasks that write a thousand times under a lock are no livelock`() throws {
    let verdict = try explore("two", schedules: 20) {
      let shared = Shared()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask { for _ in 0..<500 { shared.lock.withLock { $0 += 1 } } }
        }
      }
      try require(shared.lock.withLock { $0 } == 1_000, "a write is lost")
    }
    #expect(verdict.givenUp == 0, "\(verdict)")
  }

  @Sendable static func recurse(_ shared: Shared) async {
    await Task.yield()
    if !Task.isCancelled { await recurse(shared) }
    // Behind the call, so that it is no loop.
    shared.count.add(1, ordering: .relaxed)
  }

  static func descend(_ shared: Shared) -> Int {
    shared.flag.load(ordering: .relaxed) ? 0 : descend(shared) + 1
  }

  /// Code that goes on for ever, and is never twice in one state.
  static let endless: [@Sendable (Shared) async -> Void] = [
    { shared in
      while !shared.flag.load(ordering: .relaxed) { shared.count.add(1, ordering: .relaxed) }
    },
    { shared in
      while shared.lock.withLock({
        $0 += 1
        return $0 > 0
      }) {}
    },
    { shared in await recurse(shared) },
    { shared in _ = descend(shared) },
  ]

  @Test(arguments: endless.indices)
  func `what goes on for ever and changes takes too many steps`(way: Int) throws {
    let failure = try ExploreTests.failure("endless") { await Self.endless[way](Shared()) }
    guard case .tooManySteps = failure.kind else { throw failure }
    #expect(failure.description.contains("it comes to no end"), "\(failure)")
    #expect(failure.description.contains("… and so on, "), "\(failure)")
    // Some rounds of what it does again and again are told too.
    #expect(failure.description.matches(of: /\n *\d+  task/).count >= 12, "\(failure)")
    #expect(failure.schedule.utf8.count < 100, "\(failure.schedule)")
    let again = try ExploreTests.failure("endless", replaying: failure.schedule) {
      await Self.endless[way](Shared())
    }
    guard case .tooManySteps = again.kind else { throw again }
    #expect(again.schedule == failure.schedule)
  }

  // MARK: A round without news is one

  static let rounds: [@Sendable (Shared) async -> Void] = [
    { shared in while !shared.flag.load(ordering: .relaxed) {} },
    { shared in
      while !shared.flag.compareExchange(expected: true, desired: false, ordering: .relaxed)
        .exchanged
      {}
    },
    { shared in
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask { while !shared.flag.load(ordering: .relaxed) {} }
        }
      }
    },
  ]

  @Test(arguments: rounds.indices.fewUnlessSearching { $0 == 0 })
  func `a round in which all find the same and write nothing is a livelock`(way: Int) throws {
    let failure = try ExploreTests.failure("round") { await Self.rounds[way](Shared()) }
    guard case .livelock = failure.kind else { throw failure }
    #expect(failure.description.contains("a livelock: all that can go on"), "\(failure)")
    let again = try ExploreTests.failure("round", replaying: failure.schedule) {
      await Self.rounds[way](Shared())
    }
    guard case .livelock = again.kind else { throw again }
    #expect(again.schedule == failure.schedule)
  }

  // MARK: Headlines

  @Test func `the bound on pre-emptions stands in the headline, whatever the verdict`() throws {
    @Sendable func two() async {
      async let one: Void = Task.yield()
      async let other: Void = Task.yield()
      _ = await (one, other)
    }
    let whole = try explore("two", two)
    #expect(whole.description.contains(", at most 2 pre-emptions: "), "\(whole)")
    let one = try explore("two", preemptions: 1, schedules: 2, two)
    #expect(one.description.hasPrefix("bounded, at most 1 pre-emption: 2 schedules"), "\(one)")
    let all = try explore("two", preemptions: nil, two)
    #expect(all.description.contains(", any number of pre-emptions: "), "\(all)")
    let drawn = try explore("two", strategy: .random(schedules: 5), two)
    #expect(drawn.description.hasPrefix("bounded, schedules drawn at random: 5 "), "\(drawn)")
    let again = try explore("two", replaying: "v3:two:-:1", two)
    #expect(again.description.hasPrefix("bounded, one schedule: 1 "), "\(again)")
  }

  // MARK: Time

  /// More schedules than anybody waits for.
  @Sendable static func many() async {
    await withTaskGroup { group in
      for _ in 0..<12 { group.addTask { for _ in 0..<4 { await Task.yield() } } }
    }
  }

  @Test(arguments: [.exhaustive, .random(schedules: .max)] as [ExplorationStrategy])
  func `a limit by time ends the search, which is bounded then and says why`(
    strategy: ExplorationStrategy
  ) throws {
    let start = ContinuousClock.now
    let verdict = try explore(
      "many",
      strategy: strategy,
      schedules: .max,
      within: .milliseconds(200),
      Self.many
    )
    #expect(ContinuousClock.now - start >= .milliseconds(200))
    #expect(verdict.coverage == .bounded)
    #expect(
      verdict.notCovered.contains { $0.hasSuffix("; the time allowed, 0.2 seconds, was over") },
      "\(verdict)"
    )
  }

  @Test func `no time at all is refused`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("none", within: .zero) {}
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("an exploration needs some time, not 0.0 seconds"), "\(text)")
  }

  @Test
  func `an exploration that lasts says within a second how far it has come`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try explore("many", schedules: .max, within: .milliseconds(2_500)) {
        await withTaskGroup { group in
          for _ in 0..<6 { group.addTask { for _ in 0..<3 { await Task.yield() } } }
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("exploring 'many': ") }
    #expect((2...6).contains(lines.count), "\(text)")
    // What it goes over to, once, and then how far it is with that.
    let change =
      #/about \d.* schedules, of which [\d,]+ fit in the limit; after [\d,]+ in order it goes over to 10,000 drawn by PCT/#
    let headway =
      #/\d+ schedules, \d+/s, (less than 1|about \d+) % of those to be drawn, (about|at most) \d+ s left/#
    let told = try #require(lines.firstIndex { $0.contains(change) }, "\(text)")
    #expect(lines.count { $0.contains(change) } == 1, "\(text)")
    #expect(lines[told...].contains { $0.contains(headway) }, "\(text)")
  }

  @Test func `an exploration that is soon over says nothing`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try explore("short") { await Task.yield() }
    }
    #expect(result?.standardErrorContent.isEmpty == true)
  }

  /// Sends a signal to this process, as another one would: what explored code sends by `kill` is its own doing.
  static func outsiderSends(_ signal: Int32) {
    sigqueue(getpid(), signal, sigval(sival_int: 0))
  }

  /// Ends the process as another one would; returns never.
  static func end(by signal: Int32) {
    outsiderSends(signal)
    // The threads of a pool have signals blocked, and another thread's handler takes a moment.
    while true { sched_yield() }
  }

  @Test func `an exploration ended by SIGTERM says what it has looked at, and ends so`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGTERM),
      observing: [\.standardErrorContent]
    ) {
      signal(SIGTERM, SIG_DFL)
      let runs = Atomic(0)
      try explore("ended") {
        let count = runs.add(1, ordering: .relaxed).newValue
        async let one: Void = Task.yield()
        async let two: Void = Task.yield()
        _ = await (one, two)
        if count == 3 { Self.end(by: SIGTERM) }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("The exploration of 'ended' is ended by a signal after 0 s and "),
      "\(text)"
    )
    #expect(text.contains("None of them has failed. The one in progress:"), "\(text)")
    #expect(text.contains(#"explore("ended", replaying: "v3:ended:-:1"#), "\(text)")
  }

  @Test func `an exploration ended by SIGINT after a failure says which schedule fails`() async {
    let result = await #expect(
      processExitsWith: .signal(SIGINT),
      observing: [\.standardErrorContent]
    ) {
      // Where a shell runs the tests behind it, it has them ignore this one.
      signal(SIGINT, SIG_DFL)
      let runs = Atomic(0)
      try explore("found") {
        // Not in the schedule that fails, but as that is looked at again.
        if runs.add(1, ordering: .relaxed).newValue == 3 { Self.end(by: SIGINT) }
        try require(false, "as it must")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("One of them fails:\nas it must ("), "\(text)")
    #expect(text.contains(#"to run it again: explore("found", replaying: "v3:found:"#), "\(text)")
  }

  @Test(
    arguments: [
      // How far it has come, in how many seconds, how many are left of the time allowed, and what is said.
      (0.25, 30.0, nil, "about 90 s left"), (0.25, 30, 91, "about 90 s left"),
      (0.25, 30, 90, "at most 90 s left"), (0.25, 30, 20, "at most 20 s left"),
      (0, 2, 58, "at most 58 s left"), (0, 2, nil, nil), (1, 10, 50, "about 0 s left"),
      (0.01, 10, nil, "about 16 min left"), (0.000_001, 10, nil, "about 115 days left"),
      (0.000_000_1, 10, nil, "more than a year left"),
    ] as [(Double, Double, Double?, String?)]
  )
  func `how long it may take is an estimate, or the time that is allowed`(
    _ share: Double,
    _ seconds: Double,
    _ limit: Double?,
    _ words: String?
  ) {
    #expect(Headway.left(after: share, in: seconds, limit: limit) == words)
  }

  @Test func `a failure is told before the smallest schedule that shows it is found`() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let runs = Atomic(0)
      do throws(ExplorationFailure) {
        try explore("early") {
          // As the schedule that fails is looked at again, which lasts here until it is told.
          if runs.add(1, ordering: .relaxed).newValue == 3 {
            while !Headway.hasToldFailure.load(ordering: .acquiring) { sched_yield() }
          }
          try require(false, "as it must")
        }
      } catch {
        Headway.write("in the end: \(error)\n")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(
      lines.first?.hasPrefix("exploring 'early': schedule 1 fails: as it must (WordsTests.swift:")
        == true,
      "\(text)"
    )
    #expect(
      lines.dropFirst().first?.hasPrefix("to run it again: explore(\"early\", replaying: ") == true
    )
    #expect(text.contains("in the end: 'early' fails in schedule 1"), "\(text)")
  }

  @Test(arguments: [true, false])
  func `a failure has a time of its own to be made small in, and says when that was over`(
    isInTime: Bool
  ) throws {
    // Drawn at random, so that what is found first has pre-emptions that it needs not.
    let found = ExplorationStrategy.random(schedules: 10_000, seed: 3)
    // How long to look for a failure has no part in it.
    var inquiry = Inquiry("late", place: "here", within: .seconds(3_600), ExploreTests.lostUpdate)
    inquiry.timeForSmallest = isInTime ? .seconds(3_600) : .zero
    let failure = try #require(throws: ExplorationFailure.self) {
      try answer(inquiry, found, nil, 10_000, nil)
    }
    let text = "\(failure)"
    #expect(text.contains("; the smallest that fails: ") == isInTime, "\(text)")
    let cut =
      "; not proved to be the smallest that fails, for the time to look for that, 0.0 seconds, was over: "
    #expect(text.contains(cut) == !isInTime, "\(text)")
    // The two steps are looked for all the same.
    #expect(text.contains("  what matters: step "), "\(text)")
  }

  @Test
  func `a signal that the program ignores stays ignored, and a later one is the program's own`()
    async
  {
    let result = await #expect(
      processExitsWith: .signal(SIGTERM),
      observing: [\.standardErrorContent]
    ) {
      signal(SIGINT, SIG_IGN)
      try explore("ignored") { Self.outsiderSends(SIGINT) }
      Self.outsiderSends(SIGINT)
      Self.end(by: SIGTERM)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(!text.contains("is ended by a signal"), "\(text)")
  }

  // MARK: The pool

  /// Tasks that each hold a lock over an `await`: a spin lock, whose waiters keep their threads by parking.
  @Sendable static func lockOverAwait(_ count: Int) async {
    let (isFree, parkers) = (Shared(), (0..<count).map { _ in Parker() })
    await withTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          while isFree.flag.exchange(true, ordering: .acquiring) { parkers[number].park() }
          await Task.yield()
          isFree.flag.store(false, ordering: .releasing)
          for parker in parkers { parker.unpark() }
        }
      }
    }
  }

  @Test func `tasks that block all threads of the pool are a failure of their own`() throws {
    let failure = try ExploreTests.failure("over an await") { await Self.lockOverAwait(3) }
    guard case .blockedPool = failure.kind else { throw failure }
    #expect(failure.description.contains("all 2 threads of the pool are blocked"), "\(failure)")
    let again = try ExploreTests.failure("over an await", replaying: failure.schedule) {
      await Self.lockOverAwait(3)
    }
    guard case .blockedPool = again.kind else { throw again }
    // Two of them leave a thread to each other.
    try explore("over an await") { await Self.lockOverAwait(2) }
  }

  @Test func `threads of one's own and the main actor's are none of the pool's`() throws {
    try explore("others") {
      let parkers = (0..<2).map { _ in Parker() }
      let threads = parkers.map { parker in Thread { parker.park() } }
      await Task.yield()
      await Task { for parker in parkers { parker.unpark() } }.value
      for thread in threads { thread.join() }
    }
  }

  /// A lock that no exploration knows.
  final class Unknown: @unchecked Sendable {
    // Safe: the C library's lock is made for several threads, and its address stays.
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init() { pthread_mutex_init(lock, nil) }

    func take() { pthread_mutex_lock(lock) }

    func leave() { pthread_mutex_unlock(lock) }
  }

  @Test func `a lock of the C library that three tasks hold over an await blocks the pool`() throws
  {
    let start = ContinuousClock.now
    let failure = try ExploreTests.failure("unknown") {
      let lock = Unknown()
      await withTaskGroup { group in
        for _ in 0..<3 {
          group.addTask {
            lock.take()
            await Task.yield()
            lock.leave()
          }
        }
      }
    }
    guard case .blockedPool = failure.kind else { throw failure }
    #expect(ContinuousClock.now - start < .seconds(60), "who sleeps for such a lock is waited for")
    #expect(failure.description.contains("waits for lock 1, which task 2 holds"), "\(failure)")
  }
}
