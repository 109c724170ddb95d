import Basics
import ExplorableSynchronization
import Exploration
import Glibc
import TestSupport
import Testing

/// What `explore` finds inside synchronous code that uses `ExplorableSynchronization`.
@Suite(.inTurn, .watched) struct `Exploring inside one's own synchronous code` {
  /// Counts with a look and a write that are apart, or with one operation.
  final class Visits: Sendable {
    private let count = Atomic(0)
    private let isCareful: Bool

    init(isCareful: Bool) { self.isCareful = isCareful }

    var total: Int { count.load(ordering: .relaxed) }

    func add() {
      if isCareful {
        count.add(1, ordering: .relaxed)
      } else {
        count.store(total + 1, ordering: .relaxed)
      }
    }
  }

  actor Desk {
    private let visits: Visits

    init(_ visits: Visits) { self.visits = visits }

    func visit() { visits.add() }
  }

  /// A line for one permit, whose count and line have a lock each.
  final class TwoLocks: Sendable {
    private let isFree = Mutex(true)
    private let line = Mutex<[CheckedContinuation<Void, Never>]>([])

    func run() async {
      let isAdmitted = isFree.withLock { isFree in
        defer { isFree = false }
        return isFree
      }
      if !isAdmitted {
        await withCheckedContinuation { continuation in line.withLock { $0.append(continuation) } }
      }
      if let next = line.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
        next.resume()
      } else {
        isFree.withLock { $0 = true }
      }
    }
  }

  @Sendable static func plainTasks(isCareful: Bool) async throws {
    let visits = Visits(isCareful: isCareful)
    let tasks = [Task { visits.add() }, Task.detached { visits.add() }]
    for task in tasks { await task.value }
    try require(visits.total == 2, "a visit is lost")
  }

  @Sendable static func actors(isCareful: Bool) async throws {
    let visits = Visits(isCareful: isCareful)
    let (one, two) = (Desk(visits), Desk(visits))
    async let first: Void = one.visit()
    async let second: Void = two.visit()
    _ = await (first, second)
    try require(visits.total == 2, "a visit is lost")
  }

  @Test(arguments: [0, 1])
  func `looks on, within the bound, after code that looked often in a row`(
    preemptions: Int
  ) throws {
    let verdict = try explore("looks", preemptions: preemptions) {
      let count = Atomic(0)
      let thread = Thread { count.add(1, ordering: .relaxed) }
      for _ in 0..<100 { _ = count.load(ordering: .relaxed) }
      thread.join()
    }
    #expect(verdict.schedules > preemptions, "\(verdict)")
  }

  @Test(arguments: [plainTasks, actors] as [@Sendable (Bool) async throws -> Void])
  func `finds the update that is lost between a look and a write, and replays it`(
    visiting: @escaping @Sendable (Bool) async throws -> Void
  ) throws {
    let failure = try ExploreTests.failure("visits") { try await visiting(false) }
    guard case .requirement = failure.kind else { throw failure }
    #expect(failure.description.contains(#/  InsideTests.swift:\d+ +reads atomic 1/#), "\(failure)")
    #expect(
      failure.description.contains(#/  InsideTests.swift:\d+ +writes atomic 1/#),
      "\(failure)"
    )
    let again = try ExploreTests.failure("visits", replaying: failure.schedule) {
      try await visiting(false)
    }
    #expect(again.schedule == failure.schedule)
    let verdict = try explore("visits") { try await visiting(true) }
    #expect(verdict.coverage == .exhaustive)
    #expect(
      verdict.notCovered.contains {
        $0.hasSuffix("elsewhere than at its ExplorableSynchronization")
      }
    )
  }

  @Test func `finds the wake-up that is lost between two locks`()
    throws
  {
    let failure = try ExploreTests.failure("two locks") {
      let locks = TwoLocks()
      async let one: Void = locks.run()
      async let two: Void = locks.run()
      _ = await (one, two)
    }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(failure.description.contains("takes lock 2"), "\(failure)")
    #expect(failure.description.contains("waits for ever at InsideTests.swift:"), "\(failure)")
  }

  /// Two tasks take two locks, each in an order of its own.
  private static func circleOfLocks() async {
    let (one, two) = (Pair(), Pair())
    await withTaskGroup { group in
      group.addTask { one.lock.withLock { _ in two.lock.withLock { _ in } } }
      group.addTask { two.lock.withLock { _ in one.lock.withLock { _ in } } }
    }
  }

  @Test func `tells who holds what in a circle of locks`() throws {
    let failure = try ExploreTests.failure("circle") { await Self.circleOfLocks() }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(
      failure.description.contains("task 3 waits for lock 1, which task 2 holds"),
      "\(failure)"
    )
    #expect(
      failure.description.contains("task 2 waits for lock 2, which task 3 holds"),
      "\(failure)"
    )
  }

  final class Pair: Sendable { let lock = Mutex(0) }

  @Test func `lets no other job of the main actor begin in the middle of one`() throws {
    let verdict = try explore("main", preemptions: nil) {
      let counter = MainCounter()
      async let one: Void = counter.add()
      async let two: Void = counter.add()
      _ = await (one, two)
      try require(await counter.count == 2, "two jobs of the main actor ran at once")
    }
    #expect(verdict.coverage == .exhaustive)
  }

  @MainActor final class MainCounter {
    private(set) var count = 0
    private let looks = Atomic(0)

    nonisolated init() {}

    func add() {
      let seen = count
      looks.add(1, ordering: .relaxed)
      count = seen + 1
    }
  }

  /// Two additions, each a look and a write that others can come between.
  @MainActor final class Sum {
    nonisolated let value = Atomic(0)

    nonisolated init() {}

    func addOnMain() {
      value.store(value.load(ordering: .relaxed) + 1, ordering: .relaxed)
    }

    @concurrent nonisolated func addOnPool() async {
      value.store(value.load(ordering: .relaxed) + 1, ordering: .relaxed)
    }
  }

  @Test func `what the main actor leaves for the pool runs beside its other jobs`() throws {
    let failure = try ExploreTests.failure("main to pool") {
      let sum = Sum()
      let one = Task { @MainActor in await sum.addOnPool() }
      let two = Task { @MainActor in sum.addOnMain() }
      await one.value
      await two.value
      try require(sum.value.load(ordering: .relaxed) == 2, "an addition is lost")
    }
    guard case .requirement = failure.kind else { throw failure }
    // Who sleeps on the pool keeps nobody from the main actor.
    try explore("main to parker") {
      let parker = Parker()
      let one = Task { @MainActor in await Self.sleep(parker) }
      let two = Task { @MainActor in parker.unpark() }
      await one.value
      await two.value
    }
  }

  @concurrent private static func sleep(_ parker: Parker) async { parker.park() }

  final class Flags: Sendable {
    let isDone = Atomic(false)
    let count = Atomic(0)
    let counts = (0..<8).map { _ in Cell() }
    let lock = Mutex(false)

    final class Cell: Sendable { let count = Atomic(0) }
  }

  /// One task does something and then says so; another requires that it has not.
  @Sendable static func first(_ body: @escaping @Sendable (Flags) -> Void) async throws {
    let flags = Flags()
    let one = Task {
      body(flags)
      flags.isDone.store(true, ordering: .relaxed)
    }
    let two = Task { try require(!flags.isDone.load(ordering: .relaxed), "it was the first") }
    await one.value
    try await two.value
  }

  @Test func `writing often is no retrying, nor is looking at many things`() throws {
    let changes: @Sendable (Flags) -> Void = { flags in
      for number in 0..<8 {
        _ = flags.count.compareExchange(expected: number, desired: number + 1, ordering: .relaxed)
      }
    }
    let looks: @Sendable (Flags) -> Void = { flags in
      for cell in flags.counts { _ = cell.count.load(ordering: .relaxed) }
    }
    for work in [changes, looks] {
      let failure = try ExploreTests.failure("works") { try await Self.first(work) }
      guard case .requirement = failure.kind else { throw failure }
    }
  }

  @Test func `what is left out because a task looks again and again is said`() throws {
    let verdict = try explore("looks", preemptions: 0) {
      try await Self.first { flags in
        for _ in 0..<8 { _ = flags.count.load(ordering: .relaxed) }
      }
    }
    #expect(verdict.coverage == .bounded)
    #expect(
      verdict.notCovered.contains {
        $0.contains("looks at the same lock or atomic, again and again")
      }
    )
  }

  @Test func `what operations do in no schedule is said where the code uses them`() throws {
    let verdict = try explore("operations") {
      let flags = Flags()
      flags.lock.withLock { $0 = true }
      _ = flags.count.weakCompareExchange(expected: 0, desired: 1, ordering: .relaxed)
      _ = Parker().park(nanoseconds: 1)
    }
    for part in [
      "between an unlock and", "a weakCompareExchange that fails", "a park(nanoseconds:)",
    ] {
      #expect(verdict.notCovered.contains { $0.contains(part) }, "\(verdict)")
    }
    let none = try explore("none") {}
    #expect(none.notCovered.allSatisfy { !$0.contains("unlock") && !$0.contains("weakCompare") })
  }

  @Test func `a task that looks hundreds of times and then ends is no livelock`() throws {
    try explore("patient") {
      let flags = Flags()
      for _ in 0..<400 { _ = flags.count.load(ordering: .relaxed) }
    }
  }

  @Test(arguments: [1, 2])
  func `asking in vain under a lock is a livelock`(tasks: Int) throws {
    let failure = try ExploreTests.failure("asks") {
      let flags = Flags()
      await withTaskGroup { group in
        for _ in 1...tasks {
          group.addTask { while !flags.lock.withLock({ $0 }) { await Task.yield() } }
        }
      }
    }
    guard case .livelock = failure.kind else { throw failure }
    #expect(!failure.schedule.isEmpty)
  }

  @Test func `what never comes to an end is a livelock, though it writes`() throws {
    let failure = try ExploreTests.failure("counts") {
      let flags = Flags()
      await withTaskGroup { group in
        for _ in 1...2 {
          group.addTask {
            while !flags.isDone.load(ordering: .relaxed) {
              flags.count.add(1, ordering: .relaxed)
              await Task.yield()
            }
          }
        }
      }
    }
    guard case .livelock = failure.kind else { throw failure }
    #expect(failure.description.contains("comes to no end"), "\(failure)")
  }

  /// Ways to wait for somebody that end when somebody comes.
  static let patientWays: [@Sendable (Flags) async -> Void] = [
    { flags in
      async let other: Void = { while !flags.lock.withLock({ $0 }) { await Task.yield() } }()
      while !flags.lock.withLock({ $0 }) { await Task.yield() }
      await other
    },
    { flags in while !flags.lock.withLock({ $0 }) {} },
    { flags in while flags.lock.withLockIfAvailable({ $0 }) != true {} },
    { flags in
      @Sendable func count() {
        while flags.isDone.exchange(true, ordering: .acquiring) {}
        flags.count.store(flags.count.load(ordering: .relaxed) + 1, ordering: .relaxed)
        flags.isDone.store(false, ordering: .releasing)
      }
      async let other: Void = count()
      count()
      await other
    },
  ]

  @Test(arguments: patientWays.indices)
  func `asking until somebody answers comes to an end in each schedule`(way: Int) throws {
    let verdict = try explore("asks") {
      let flags = Flags()
      let answer = Task { flags.lock.withLock { $0 = true } }
      await Self.patientWays[way](flags)
      await answer.value
    }
    #expect(verdict.givenUp == 0)
    #expect(verdict.schedules < 20_000, "\(verdict)")
  }

  /// Code that waits on its thread, and code that ends the wait.
  static let waits: [@Sendable (Flags, Parker) -> (Task<Void, Never>, Task<Void, Never>)] = [
    { _, parker in (Task { parker.park() }, Task { parker.unpark() }) },
    { flags, _ in
      (
        Task { while !flags.isDone.load(ordering: .relaxed) {} },
        Task { flags.isDone.store(true, ordering: .relaxed) }
      )
    },
    { flags, _ in
      (Task { flags.lock.withLock { _ in flags.lock.withLock { _ in } } }, Task {})
    },
  ]

  @Test(arguments: waits.indices)
  func `a schedule that fails while others wait on their threads ends`(wait: Int) throws {
    let failure = try ExploreTests.failure("fails", preemptions: 0) {
      _ = Self.waits[wait](Flags(), Parker())
      try require(false, "as it must")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  @Test func `taking a lock that one holds is a deadlock`() throws {
    let failure = try ExploreTests.failure("twice") {
      let flags = Flags()
      flags.lock.withLock { _ in flags.lock.withLock { _ in } }
    }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(
      failure.description.contains("task 1 waits for lock 1, which task 1 holds"),
      "\(failure)"
    )
  }

  actor Starter {
    private var count = 0

    func start(_ flags: Flags) {
      Task {
        count += 1
        await Self.waitForEver(flags)
      }
    }

    static func waitForEver(_ flags: Flags) async {
      flags.lock.withLock { $0 = true }
      await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
  }

  @Test func `a task that never came as a job, and waits for ever, is a deadlock`() throws {
    let ofActor = try ExploreTests.failure("in a turn") { await Starter().start(Flags()) }
    guard case .deadlock = ofActor.kind else { throw ofActor }
    let atOnce = try ExploreTests.failure("at once") {
      let flags = Flags()
      Task.immediate { await Starter.waitForEver(flags) }
    }
    guard case .deadlock = atOnce.kind else { throw atOnce }
  }

  @Test func `who sleeps on a thread for what is not explored has left the exploration`() throws {
    let failure = try ExploreTests.failure("semaphore") {
      let semaphore = ThreadSemaphore()
      let one = Task { semaphore.wait() }
      let two = Task { semaphore.post() }
      await one.value
      await two.value
    }
    guard case .escaped = failure.kind else { throw failure }
    #expect(failure.description.contains("sleeps on its thread"), "\(failure)")
  }

  @Test func `jobs that can never go on keep no files open`() async {
    await #expect(processExitsWith: .success) {
      let failure = try ExploreTests.failure("circle") { await Self.circleOfLocks() }
      guard case .deadlock = failure.kind else { throw failure }
      let open = (0..<1_024).count { fcntl(Int32($0), F_GETFD) != -1 }
      guard open < 30 else { fatalError("\(open) files are open") }
    }
  }

  @Test func `prints the schedule of a trap in the middle of a job`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("inside a job") {
        let visits = Visits(isCareful: false)
        await withTaskGroup { group in
          for _ in 1...2 { group.addTask { visits.add() } }
        }
        guard visits.total == 2 else { fatalError("a visit is lost") }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("a visit is lost"), "\(text)")
    #expect(text.contains(#"explore("inside a job", replaying: "v2:inside-a-job:-:1,"#), "\(text)")
  }
}
