import Basics
import Dispatch
import Foundation
import Limiters
import TestSupport
import Testing

@testable import WorkStealing

@Suite(.watched) struct `The work-stealing executor` {
  /// Runs `body` on an executor of its own, ends that, and returns what it did.
  @discardableResult
  private static func on(
    _ workers: Int,
    _ body: @escaping @Sendable (WorkStealingExecutor) async throws -> Void
  ) async throws -> WorkStealingExecutor.Statistics {
    let executor = WorkStealingExecutor(workers: workers)
    try await Task(executorPreference: executor) { try await body(executor) }.value
    await executor.shutdown()
    return executor.statistics
  }

  @Test(arguments: [1, 2, 4])
  func `runs every job exactly once, from inside and outside, through yields and cancellations`(
    workers: Int
  ) async throws {
    let tasks = 20_000
    let counts = Counts(tasks)
    let statistics = try await Self.on(workers) { executor in
      let limiter = ConcurrencyLimiter(concurrency: 3)
      await withDiscardingTaskGroup { group in
        for number in 1...UInt(tasks / 2) {
          group.addTask {
            await Task.yield()
            counts.note(number)
            // Some wait in a limiter's line, and some of these are cancelled there.
            if number.isMultiple(of: 5) {
              let waiter = Task(executorPreference: executor) {
                try? await limiter.run { await Task.yield() }
              }
              if number.isMultiple(of: 10) { waiter.cancel() }
              await waiter.value
            }
          }
        }
        // The other half comes from a thread that is none of the executor's.
        group.addTask {
          let outside = await onOwnThread("outside") {
            (UInt(tasks / 2 + 1)...UInt(tasks)).map { number in
              Task(executorPreference: executor, priority: number.isMultiple(of: 3) ? .high : .low)
              {
                counts.note(number)
                await Task.yield()
              }
            }
          }
          for task in outside { await task.value }
        }
      }
    }
    #expect(counts.allAreOne)
    // Each task begins once and yields once.
    #expect(statistics.jobs >= tasks * 3)
  }

  @Test func `does not let a task that yields without end stop the others`() async throws {
    try await Self.on(1) { executor in
      let isDone = Flag()
      let endless = Task(executorPreference: executor) {
        while !isDone.isSet { await Task.yield() }
      }
      for _ in 0..<100 { await Task.yield() }
      // From outside too, which a worker with work of its own must look for.
      await withCheckedContinuation { continuation in
        OSThread("outside") { Task(executorPreference: executor) { continuation.resume() } }
          .detach()
      }
      isDone.set()
      await endless.value
    }
  }

  @Test func `does not let two tasks that wake each other in turn keep a worker`() async throws {
    try await Self.on(1) { executor in
      let isDone = Flag()
      let (here, there) = (Turn(), Turn())
      let pair = [(here, there), (there, here)].map { mine, other in
        Task(executorPreference: executor) {
          while !isDone.isSet {
            other.pass()
            await mine.come()
          }
          other.pass()
        }
      }
      let third = Task(executorPreference: executor) {
        for _ in 0..<100 { await Task.yield() }
        isDone.set()
      }
      await third.value
      for task in pair { await task.value }
    }
  }

  @Test func `lets equal tasks have their turns in order`() async throws {
    let order = Log<Int>()
    try await Self.on(1) { _ in
      await withDiscardingTaskGroup { group in
        for task in 0..<64 {
          group.addTask {
            for _ in 0..<50 {
              order.append(task)
              await Task.yield()
            }
          }
        }
      }
    }
    // Between two turns of one task, each other has one.
    let turns = order.all
    let expected = (0..<50).flatMap { _ in 0..<64 }
    #expect(turns == expected)
  }

  @Test func `lets no other of equal tasks overtake one more often than the slot allows`()
    async throws
  {
    let order = Log<Int>()
    try await Self.on(1) { _ in
      let limiter = ConcurrencyLimiter(concurrency: 4)
      await withDiscardingTaskGroup { group in
        for task in 0..<64 {
          group.addTask {
            for _ in 0..<20 {
              await limiter.runUncancellably {
                order.append(task)
                await Task.yield()
              }
            }
          }
        }
      }
    }
    // How often another had a second turn before one had its next; 99 of 100 are below what is held here.
    var overtakings: [Int] = []
    var since = Array(repeating: Array(repeating: 0, count: 64), count: 64)
    for task in order.all {
      overtakings.append(since[task].max() ?? 0)
      since[task] = Array(repeating: -1, count: 64)
      for other in since.indices { since[other][task] += 1 }
    }
    overtakings.sort()
    #expect(overtakings.count == 64 * 20)
    #expect(overtakings[overtakings.count * 99 / 100] <= 3)
  }

  @Test func `runs a task just woken although the one that woke it computes on`() async throws {
    let statistics = try await Self.on(2) { executor in
      let isRunning = Flag()
      let turn = Turn()
      let woken = Task(executorPreference: executor) {
        await turn.come()
        isRunning.set()
      }
      while !turn.isAwaited { await Task.yield() }
      turn.pass()
      // Never suspends: only the other worker can run the task in this one's slot.
      while !isRunning.isSet {}
      await woken.value
    }
    #expect(statistics.steals > 0)
    #expect(statistics.sleeps > statistics.wakes, "nobody woke the one that had the watch")
  }

  @Test
  func
    `looks each millisecond, and not much more often or less, what a worker that computes leaves`()
    async throws
  {
    try await Self.on(2) { executor in
      // The other worker may have slept before this task came, without the watch, of which there was no need. It
      // comes for a task in this one's slot.
      let hasCome = Flag()
      Task(executorPreference: executor) { hasCome.set() }
      while !hasCome.isSet {}
      // Never suspends, so now the other has the watch: it sleeps, looks, and sleeps again.
      func watches(_ count: Int) -> Bool {
        let most = MachineClock.threadTime() + 3_000_000_000
        let end = executor.statistics.sleeps + count
        while executor.statistics.sleeps < end {
          if MachineClock.threadTime() > most { return false }
        }
        return true
      }
      #expect(watches(2), "nobody has the watch")
      let clock = ContinuousClock()
      let began = clock.now
      // Fifty times what it should take, of this thread's own time: a busy machine does not count.
      #expect(watches(51), "a watch is much longer than a millisecond")
      // The first and the last may be there in part.
      #expect(clock.now - began >= .milliseconds(49), "a watch is shorter than a millisecond")
    }
  }

  @Test func `wakes up for work from outside, as often as it comes`() async throws {
    let statistics = try await Self.on(2) { _ in
      for _ in 0..<500 {
        await withCheckedContinuation { continuation in
          OSThread("outside") { continuation.resume() }.detach()
        }
      }
    }
    #expect(statistics.wakes > 0 && statistics.sleeps >= statistics.wakes)
  }

  @Test func `steals when one worker has all the work`() async throws {
    let statistics = try await Self.on(2) { _ in
      let running = Log<Int>()
      await withDiscardingTaskGroup { group in
        for _ in 0..<2 {
          group.addTask {
            running.append(1)
            // Each of the two needs a worker to itself until the other one runs.
            while running.all.count < 2 {}
          }
        }
      }
    }
    #expect(statistics.steals > 0)
  }

  @Test func `serves high priority first and background last among what comes from outside`()
    async throws
  {
    let executor = WorkStealingExecutor(workers: 1)
    let (isBlocked, mayGo) = await onOwnThread {
      (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    }
    let blocker = Task(executorPreference: executor) { Self.block(isBlocked, mayGo) }
    await onOwnThread { isBlocked.wait() }
    let order = Log<String>()
    let tasks = await onOwnThread {
      [
        ("background", TaskPriority.background), ("medium", .medium), ("high", .high),
        ("low", .low),
      ]
      .map { name, priority in
        Task(executorPreference: executor, priority: priority) { order.append(name) }
      }
    }
    mayGo.signal()
    // Not awaited one by one, because awaiting a task raises its priority.
    await executor.shutdown()
    #expect(order.all == ["high", "medium", "low", "background"])
    for task in tasks { await task.value }
    await blocker.value
  }

  @Test func `runs background tasks last, also those that a task here has started`() async throws {
    let order = Log<String>()
    try await Self.on(1) { executor in
      Task(executorPreference: executor, priority: .background) { order.append("background") }
      for priority in [TaskPriority.low, .high, .medium] {
        Task(executorPreference: executor, priority: priority) { order.append("\(priority)") }
      }
    }
    #expect(
      order.all == [
        "\(TaskPriority.low)", "\(TaskPriority.high)", "\(TaskPriority.medium)", "background",
      ]
    )
  }

  @Test func `runs the task just woken next, also one that was started from outside`() async {
    let executor = WorkStealingExecutor(workers: 1)
    let order = Log<String>()
    let (early, late) = (Turn(), Turn())
    let tasks = [("early", early), ("late", late)].map { name, turn in
      Task(executorPreference: executor) {
        await turn.come()
        order.append(name)
      }
    }
    while !(early.isAwaited && late.isAwaited) { await Moment.pass() }
    await Task(executorPreference: executor) {
      early.pass()
      late.pass()
    }.value
    for task in tasks { await task.value }
    #expect(order.all == ["late", "early"])
    await executor.shutdown()
  }

  @Test func `runs its tasks on its own threads, also those that another executor's start`() async {
    let (executor, other) = (
      WorkStealingExecutor(workers: 1, name: "own"), WorkStealingExecutor(workers: 1, name: "other")
    )
    let names = await Task(executorPreference: other) {
      let task = Task(executorPreference: executor) { threadName() }
      return [threadName(), await task.value]
    }.value
    #expect(names == ["other-1", "own-1"])
    await executor.shutdown()
    await other.shutdown()
  }

  @Test func `ends for all who asked for it at the same time, the second as late as the first`()
    async
  {
    let executor = WorkStealingExecutor(workers: 1)
    let (isBlocked, mayGo) = await onOwnThread {
      (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    }
    let blocker = Task(executorPreference: executor) { Self.block(isBlocked, mayGo) }
    await onOwnThread { isBlocked.wait() }
    let (hand, ended) = (HandDrivenExecutor(), Log<Int>())
    for number in 1...2 {
      Task(executorPreference: hand) {
        await executor.shutdown()
        ended.append(number)
      }
    }
    hand.runAll()
    #expect(ended.all.isEmpty, "a job still runs")
    mayGo.signal()
    while ended.all.count < 2 {
      hand.runAll()
      await Moment.pass()
    }
    await blocker.value
  }

  /// Holds the executor's own thread, none of the pool's.
  private static func block(_ isBlocked: DispatchSemaphore, _ mayGo: DispatchSemaphore) {
    isBlocked.signal()
    mayGo.wait()
  }

  @Test(arguments: [1, 2, 4])
  func `finishes what is queued before it ends`(workers: Int) async {
    let executor = WorkStealingExecutor(workers: workers)
    let counts = Counts(5_000)
    for number in 1...UInt(5_000) {
      Task(executorPreference: executor) {
        await Task.yield()
        counts.note(number)
      }
    }
    await executor.shutdown()
    #expect(counts.allAreOne)
    // A second time it has nothing to wait for.
    await executor.shutdown()
  }

  @Test func `lets a task that is woken after its end go on in the global pool`() async {
    let executor = WorkStealingExecutor(workers: 2)
    let turn = Turn()
    let isWaiting = Flag()
    let late = Task(executorPreference: executor) {
      isWaiting.set()
      await turn.come()
      await Task.yield()
      return 7
    }
    while !isWaiting.isSet { await Moment.pass() }
    await executor.shutdown()
    turn.pass()
    #expect(await late.value == 7)
  }

  @Test func `can be ended from one of its own tasks`() async {
    let executor = WorkStealingExecutor(workers: 2)
    await Task(executorPreference: executor) { await executor.shutdown() }.value
    #expect(executor.statistics.jobs > 0)
  }

  @Test func `keeps a task group, actors and a stream on its threads`() async throws {
    actor Account {
      var threads: Set<String> = []
      func note() { threads.insert(threadName()) }
    }
    let executor = WorkStealingExecutor(workers: 2, name: "lane")
    let account = Account()
    let seen = await withTaskExecutorPreference(executor) {
      await withTaskGroup(of: Set<String>.self) { group in
        let (stream, input) = AsyncStream.makeStream(of: Int.self)
        group.addTask {
          var names: Set<String> = []
          for await _ in stream { names.insert(threadName()) }
          return names
        }
        group.addTask {
          for number in 0..<200 {
            input.yield(number)
            await account.note()
            await Task.yield()
          }
          input.finish()
          return [threadName()]
        }
        return await group.reduce(into: await account.threads) { $0.formUnion($1) }
      }
    }
    let names = await account.threads.union(seen)
    #expect(!names.isEmpty && names.isSubset(of: ["lane-1", "lane-2"]))
    await executor.shutdown()
  }

  @Test func `has a worker for each processor that the process may use, unless told otherwise`()
    async throws
  {
    // A program of the system, which is allowed as many as this one.
    let told = try await BuiltProgram(path: "/usr/bin/nproc").run([]).standardOutput
    let executor = WorkStealingExecutor()
    #expect("\(executor.workers)\n" == told)
    await executor.shutdown()
    #expect(executor.statistics.jobs == 0)
  }

  @Test func `refuses to be without workers`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = WorkStealingExecutor(workers: 0)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("workers is 0, but must be at least 1"))
  }

  @Test(arguments: [0, -1])
  func `stops when made without workers, saying how many`(_ workers: Int) async {
    let result = await #expect(
      processExitsWith: .failure,
      observing: [\.standardErrorContent]
    ) { [workers] in
      _ = WorkStealingExecutor(workers: workers)
    }
    let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(message.contains("workers is \(workers), but must be at least 1"))
  }
}

/// The name of the thread that asks, as the system knows it.
private func threadName() -> String {
  let text = (try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)) ?? ""
  return text.trimmingCharacters(in: .newlines)
}

/// What tasks wrote down, in order.
private final class Log<Entry: Sendable>: Sendable {
  private let entries = Lock<[Entry]>([])

  func append(_ entry: Entry) { entries.withLock { $0.append(entry) } }
  var all: [Entry] { entries.withLock { $0 } }
}

/// Lets one task wait until another passes it the turn.
private final class Turn: Sendable {
  private enum State {
    case nobody
    case passed
    case waiting(CheckedContinuation<Void, Never>)
  }

  private let state = Lock(State.nobody)

  func pass() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      if case .waiting(let waiter) = state {
        state = .nobody
        return waiter
      }
      state = .passed
      return nil
    }
    waiter?.resume()
  }

  var isAwaited: Bool { state.withLock { if case .waiting = $0 { true } else { false } } }

  func come() async {
    await withCheckedContinuation { continuation in
      let isPassed = state.withLock { state in
        if case .passed = state {
          state = .nobody
          return true
        }
        state = .waiting(continuation)
        return false
      }
      if isPassed { continuation.resume() }
    }
  }
}
