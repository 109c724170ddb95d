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
    #expect(
      failure.description.contains(#/  InsideTests.swift:\d+ +reads atomic 1 \(count = 0\)/#),
      "\(failure)"
    )
    #expect(
      failure.description.contains(
        #/  InsideTests.swift:\d+ +writes atomic 1 \(count = 0, then 1\)/#
      ),
      "\(failure)"
    )
    let again = try ExploreTests.failure("visits", replaying: failure.schedule) {
      try await visiting(false)
    }
    #expect(again.schedule == failure.schedule)
    let verdict = try explore("visits") { try await visiting(true) }
    #expect(verdict.ranEverySchedule)
    #expect(
      verdict.notCovered.contains {
        $0.hasSuffix("elsewhere than at its locks and atomics")
      }
    )
  }

  private enum Phase: UInt8, AtomicRepresentable { case idle, busy }

  private struct Word: AtomicRepresentable, CustomStringConvertible {
    typealias AtomicRepresentation = UInt8.AtomicRepresentation
    var byte: UInt8
    var description: String { "text of the code that is explored" }
    static func encodeAtomicRepresentation(_ value: consuming Word) -> AtomicRepresentation {
      UInt8.encodeAtomicRepresentation(value.byte)
    }
    static func decodeAtomicRepresentation(_ storage: consuming AtomicRepresentation) -> Word {
      Word(byte: UInt8.decodeAtomicRepresentation(storage))
    }
  }

  @Test func `each operation on an atomic says its name, what it found and what it left`() throws {
    let failure = try ExploreTests.failure("values") {
      let count = Atomic(1)
      let flag = Atomic(false)
      let phase = Atomic(Phase.idle)
      let packed = Atomic(UInt64(1) << 32)
      let word = Atomic(Word(byte: 1))
      // The first object of all, so the atomics are numbered from 2.
      let thread = Thread {
        count.add(2, ordering: .relaxed)
        count.subtract(1, ordering: .relaxed)
        count.wrappingAdd(5, ordering: .relaxed)
        count.wrappingSubtract(7, ordering: .relaxed)
        _ = count.compareExchange(expected: 9, desired: 8, ordering: .relaxed)
        _ = count.compareExchange(expected: 0, desired: 8, ordering: .relaxed)
        _ = count.exchange(8, ordering: .relaxed)
        count.max(10, ordering: .relaxed)
        count.store(3, ordering: .relaxed)
        flag.logicalOr(true, ordering: .relaxed)
        _ = phase.exchange(.busy, ordering: .relaxed)
        packed.bitwiseOr(1, ordering: .relaxed)
        _ = word.load(ordering: .relaxed)
        _ = word.compareExchange(
          expected: Word(byte: 9),
          desired: Word(byte: 8),
          ordering: .relaxed
        )
        count.store(-5_000_000, ordering: .relaxed)
        flag.store(true, ordering: .relaxed)
      }
      thread.join()
      try require(count.load(ordering: .relaxed) == 0, "told")
    }
    let operations = failure.description.matches(
      of: /(?:reads|writes|(?:compares and )?changes|compares) atomic.*/
    )
    #expect(
      operations.map { $0.output.replacing(/( {2}|;).*/, with: "") } == [
        "changes atomic 2 (count = 1, then 3)", "changes atomic 2 (count = 3, then 2)",
        "changes atomic 2 (count = 2, then 7)", "changes atomic 2 (count = 7, then 0)",
        "compares atomic 2 (count = 0)", "compares and changes atomic 2 (count = 0, then 8)",
        "changes atomic 2 (count = 8, then 8)", "changes atomic 2 (count = 8, then 10)",
        "writes atomic 2 (count = 10, then 3)", "changes atomic 3 (flag = false, then true)",
        "changes atomic 4 (phase = idle, then busy)",
        "changes atomic 5 (packed = 0x100000000, then 0x100000001)", "reads atomic 6 (word)",
        "compares atomic 6 (word)", "writes atomic 2 (count = 3, then -5000000)",
        "writes atomic 3 (flag = true, then true)",
        "reads atomic 2 (count = -5000000)",
      ],
      "\(failure)"
    )
  }

  /// Its text would come from code that takes a lock, which would be a step.
  private struct Payload: CustomStringConvertible, Sendable {
    static let lock = Mutex(0)
    var description: String { Self.lock.withLock { "\($0)" } }
  }

  private enum Holder: AtomicRepresentable, Sendable {
    case empty
    case full(Payload)
    typealias AtomicRepresentation = UInt8.AtomicRepresentation
    static func encodeAtomicRepresentation(_ value: consuming Holder) -> AtomicRepresentation {
      if case .full = value { return UInt8.encodeAtomicRepresentation(1) }
      return UInt8.encodeAtomicRepresentation(0)
    }
    static func decodeAtomicRepresentation(_ storage: consuming AtomicRepresentation) -> Holder {
      UInt8.decodeAtomicRepresentation(storage) == 0 ? .empty : .full(Payload())
    }
  }

  private final class Box: Sendable {
    let holder = Atomic(Holder.empty)
    let lock = Mutex(0)
  }

  @Test func `no code of the value's type runs to tell what an atomic held`() throws {
    let failure = try ExploreTests.failure("payload") {
      let visits = Visits(isCareful: false)
      let box = Box()
      await withTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            _ = box.holder.exchange(.full(Payload()), ordering: .relaxed)
            visits.add()
          }
        }
      }
      try require(visits.total == 2, "a visit is lost")
    }
    guard case .requirement = failure.kind else { throw failure }
    #expect(failure.description.contains("changes atomic 1 (holder)"), "\(failure)")
  }

  private final class Counters: Sendable {
    let other = Atomic(0)
    let count = Atomic(0)
  }

  @Test func `the pair that matters is the race, and no harmless step beside it`() throws {
    let failure = try ExploreTests.failure("statistics") {
      let counters = Counters()
      await withTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            for _ in 0..<60 { counters.other.add(1, ordering: .relaxed) }
            let seen = counters.count.load(ordering: .relaxed)
            counters.count.store(seen + 1, ordering: .relaxed)
          }
        }
      }
      try require(counters.count.load(ordering: .relaxed) == 2, "a visit is lost")
    }
    let text = failure.description
    let marked = text.split(separator: "\n").filter { $0.hasSuffix("◀") }
    #expect(marked.count == 2, "both are told, however long the schedule is: \(failure)")
    #expect(marked.allSatisfy { $0.contains("(count = ") }, "\(failure)")
    let numbers = text.matches(of: /\n +(\d+)  task/).compactMap { Int($0.output.1) }
    let left = text.matches(of: /… (\d+) more steps/).compactMap { Int($0.output.1) }
    #expect(!left.isEmpty && left.allSatisfy { $0 > 0 })
    #expect(numbers.count + left.reduce(0, +) == numbers.last, "every step is told or counted")
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

  private static let (east, west) = (Box(), Box())

  private static func circleOfLocksThatStay() async {
    async let one: Void = east.lock.withLock { _ in west.lock.withLock { _ in } }
    async let two: Void = west.lock.withLock { _ in east.lock.withLock { _ in } }
    _ = await (one, two)
  }

  @Test func `tells a circle of locks that outlive the closure as it was found, at once`() throws {
    let failure = try ExploreTests.failure("circle") { await Self.circleOfLocksThatStay() }
    guard case .deadlock = failure.kind else { throw failure }
    #expect(
      failure.description.contains(/task 2 waits for lock \d, which task 3 holds/),
      "\(failure)"
    )
    #expect(failure.description.contains("a lock outlives the closure"), "\(failure)")
    #expect(failure.description.contains("replaying: \"\(failure.schedule)\""))
    // They stay locked: whoever comes to them now waits for what no schedule will do.
    let again = try ExploreTests.failure("circle") { await Self.circleOfLocksThatStay() }
    #expect(again.description.contains("which a schedule before left locked"), "\(again)")
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
    #expect(verdict.ranEverySchedule)
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
        $0.contains("looks at the same lock or atomic again and again")
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
      "a pool whose threads are all parked",
    ] {
      #expect(verdict.notCovered.contains { $0.contains(part) }, "\(verdict)")
    }
    let none = try explore("none") {}
    for part in ["unlock", "weakCompare", "parks"] {
      #expect(none.notCovered.allSatisfy { !$0.contains(part) }, "\(none)")
    }
    #expect(none.notCovered.contains { $0.contains("timers of run loops") })
  }

  @Test func `a task that looks hundreds of times and then ends is no livelock`() throws {
    try explore("patient") {
      let flags = Flags()
      for _ in 0..<400 { _ = flags.count.load(ordering: .relaxed) }
    }
  }

  // What the lock guards may change each time: nobody sees it.
  @Test(arguments: [1, 2])
  func `asking in vain under a lock takes too many steps`(tasks: Int) throws {
    let failure = try ExploreTests.failure("asks") {
      let flags = Flags()
      await withTaskGroup { group in
        for _ in 1...tasks {
          group.addTask { while !flags.lock.withLock({ $0 }) { await Task.yield() } }
        }
      }
    }
    guard case .tooManySteps = failure.kind else { throw failure }
    #expect(!failure.schedule.isEmpty && failure.schedule.utf8.count < 200, "\(failure)")
  }

  @Test func `what never comes to an end and writes is no livelock`() throws {
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
    guard case .tooManySteps = failure.kind else { throw failure }
    #expect(failure.description.contains("comes to no end"), "\(failure)")
  }

  @Test func `a try that finds the lock taken is seen to fail, whoever holds it does nothing else`()
    throws
  {
    final class Tries: Sendable {
      let value = Mutex(0)
      let plain = LockObject()

      func tryLock(_ isPlain: Bool) -> Bool {
        guard isPlain else { return value.withLockIfAvailable { _ in } != nil }
        guard plain.try() else { return false }
        plain.unlock()
        return true
      }
    }
    for isPlain in [false, true] {
      for hasTriedToo in [false, true] {
        let failure = try ExploreTests.failure("tries") {
          let tries = Tries()
          let holder = Task {
            if hasTriedToo {
              _ = tries.tryLock(isPlain)
            } else if isPlain {
              tries.plain.withLock {}
            } else {
              tries.value.withLock { $0 += 1 }
            }
          }
          try require(tries.tryLock(isPlain), "taken")
          await holder.value
        }
        guard case .requirement = failure.kind else { throw failure }
      }
    }
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

  /// Counts as it is let go.
  final class Guest: Sendable {
    private let visits: Visits

    init(of visits: Visits) { self.visits = visits }

    deinit { visits.add() }
  }

  @Test func `code that runs as a task's function lets go of what it owns is told with its line`()
    async
  {
    // The frame of such a function still says that it has a context, and that is gone.
    await #expect(processExitsWith: .success) {
      let tasks: [@Sendable (Visits) async -> Void] = [
        { visits in await Task { [guest = Guest(of: visits)] in _ = guest }.value },
        { visits in
          let task = Task { [guest = Guest(of: visits)] in
            await Task.yield()
            _ = guest
          }
          await task.value
        },
        { visits in
          await withTaskGroup { group in
            let guest = Guest(of: visits)
            group.addTask { _ = guest }
          }
        },
      ]
      for (number, task) in tasks.enumerated() {
        let failure = try ExploreTests.failure("guest \(number)") {
          let visits = Visits(isCareful: true)
          await task(visits)
          try require(false, "the end")
        }
        guard failure.description.contains("InsideTests.swift") else { throw failure }
      }
    }
  }

  /// A task that retries while another has set what it saw, and counts how often.
  final class Retries: Sendable {
    private let state = Atomic(0)
    private let count = Atomic(0)

    func set() {
      state.store(1, ordering: .relaxed)
      state.store(0, ordering: .relaxed)
    }

    func retry() {
      guard state.load(ordering: .relaxed) == 1 else { return }
      while state.load(ordering: .relaxed) != 2 { count.add(1, ordering: .relaxed) }
    }
  }

  @Test(.search)
  func `loops that come to no end in one schedule after another fail where the others are short`()
    throws
  {
    let failure = try ExploreTests.failure("counted retries") {
      let values = Retries()
      async let setting: Void = values.set()
      async let retrying: Void = values.retry()
      _ = await (setting, retrying)
    }
    guard case .tooManySteps = failure.kind else { throw failure }
    let place = /fails in 5 of \d+ schedules, where the others ended after at most \d+ steps/
    #expect(failure.description.contains(place), "\(failure)")
  }

  /// A door that opens for who has come, and at which who comes later looks again and again.
  actor Pulse {
    private var waiting = 0
    private var isOpen = false

    func open() { if waiting > 0 { isOpen = true } }

    /// - Returns: whether it is open when it has been looked so often.
    func pass(looks: Int) async -> Bool {
      let clock = VirtualClock()
      waiting += 1
      for _ in 0..<looks {
        if isOpen { return true }
        try? await clock.sleep(for: .milliseconds(10))
      }
      return false
    }
  }

  @Test(.search) func `a task that sleeps and looks again for ever in some orders fails`() throws {
    let body: @Sendable () async -> Void = {
      let pulse = Pulse()
      async let passing = pulse.pass(looks: .max)
      async let opening: Void = pulse.open()
      _ = await (passing, opening)
    }
    let failure = try ExploreTests.failure("polls") { await body() }
    guard case .tooManySteps = failure.kind else { throw failure }
    let again = try ExploreTests.failure("polls", replaying: failure.schedule) { await body() }
    guard case .tooManySteps = again.kind else { throw again }
  }

  @Test(.search) func `a task that sleeps and looks hundreds of times and gives up does not fail`()
    throws
  {
    try explore("gives up") {
      let pulse = Pulse()
      async let passing = pulse.pass(looks: 400)
      async let opening: Void = pulse.open()
      _ = await (passing, opening)
    }
  }

  @Test(.search) func `jobs that can never go on keep no files open`() async {
    await #expect(processExitsWith: .success) {
      func open() -> Int { (0..<1_024).count { fcntl(Int32($0), F_GETFD) != -1 } }
      // What the tests beside this one have open may be open here too.
      let before = open()
      let failure = try ExploreTests.failure("circle") { await Self.circleOfLocks() }
      guard case .deadlock = failure.kind else { throw failure }
      let more = open() - before
      guard more < 20 else { fatalError("\(more) more files are open") }
    }
  }

  @Test func `tells a trap in the middle of a job`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let failure = try ExploreTests.failure("inside a job") {
        let visits = Visits(isCareful: false)
        await withTaskGroup { group in
          for _ in 1...2 { group.addTask { visits.add() } }
        }
        guard visits.total == 2 else { fatalError("a visit is lost") }
      }
      guard case .trap = failure.kind else { fatalError("\(failure)") }
      guard "\(failure)".contains("; the smallest that fails: 1 pre-emption: task 1 stops ") else {
        fatalError("\(failure)")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("a visit is lost"), "\(text)")
  }
}
