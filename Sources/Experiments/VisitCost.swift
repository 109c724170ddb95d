internal import Basics
internal import Glibc
internal import Limiters
internal import Specimens
internal import Synchronization
internal import WorkStealing

// What a visit to the limiter costs, by what runs the tasks.
//
// Some tasks visit one limiter again and again, and yield while they have its permit. So a visit is a few
// switches of tasks and a little of the limiter, and what runs the tasks has most of its time. How long it
// takes says nothing by itself: on an executor that runs one task to its end before the next begins, nobody
// ever waits. Therefore it comes with the share of visits that waited, and with how much of all had been done when the
// first task was.
//
// With an empty body the limiter decides, as far as tasks meet at all; on a busy machine one is done before
// another has a thread. Where they meet, one that hands its permits over has every visit wait: who departs hands
// the permit to a task that must first be given a thread, comes back and waits itself.
// Blasgen, Gray, Mitoma, Price: The convoy phenomenon (1979). One that frees its permits lets the task that
// is running take them again.

/// Tasks that visit one limiter over and over, on the wall clock.
package struct VisitCost: Sendable {
  /// What runs the tasks.
  package enum Executor: String, CaseIterable, Sendable {
    /// Swift's own pool.
    case global
    /// The work-stealing executor.
    case lanes
    /// The specimen that lets a task that yields go on at once.
    case unfair
  }

  /// What becomes of the permit of a task that departs while others wait.
  package enum Departure: String, CaseIterable, Sendable {
    /// The first in line has it: `ConcurrencyLimiter`.
    case handoff
    /// Anybody may take it, the first in line being woken: the specimen that barges.
    case barging
  }

  /// What a task does with its permit.
  package enum Body: String, CaseIterable, Sendable {
    case yield
    case empty
  }

  /// What was seen.
  package struct Outcome: Sendable {
    package var executor: Executor
    package var departure: Departure
    package var body: Body
    package var tasks: Int
    package var limit: Int
    package var visits: Int
    /// Nanoseconds from the first visit to the last, over the number of visits.
    package var nanosecondsPerVisit: Int64
    /// The share of visits that found no permit, in percent.
    package var waited: Double
    /// The share of all visits that had begun when the first task was done, in percent.
    package var firstDone: Double
  }

  package var executor = Executor.global
  package var departure = Departure.handoff
  package var body = Body.yield
  package var tasks = 64
  package var limit = 4
  /// How many visits each task makes: those that take next to no time must be many, or a task is done before
  /// another thread has woken.
  package var visitsEach: Int { body == .yield ? 500 : max(500, 160_000 / tasks) }

  package init() {}

  package func run() async -> Outcome {
    let seen: Seen
    switch executor {
    case .global: seen = await visit(on: nil)
    case .lanes:
      let lanes = WorkStealingExecutor()
      seen = await visit(on: lanes)
      await lanes.shutdown()
    case .unfair:
      let unfair = UnfairExecutor(workers: Processors.allowed)
      seen = await visit(on: unfair)
      unfair.shutdown()
    }
    let visits = tasks * visitsEach
    return Outcome(
      executor: executor,
      departure: departure,
      body: body,
      tasks: tasks,
      limit: limit,
      visits: visits,
      nanosecondsPerVisit: seen.nanoseconds / Int64(visits),
      waited: Double(seen.waited) / Double(visits) * 100,
      firstDone: Double(seen.firstDone) / Double(visits) * 100
    )
  }

  private struct Seen {
    /// How many visits found no permit.
    var waited = 0
    /// How many visits had begun when the first task was done.
    var firstDone = Int.max
    /// From the first visit to the last.
    var nanoseconds: Int64 = 0
  }

  /// On the global pool if `executor` is nil.
  private func visit(on executor: (any TaskExecutor)?) async -> Seen {
    switch departure {
    case .handoff: await visit(ConcurrencyLimiter(concurrency: limit), on: executor)
    case .barging: await visit(BargingLimiter(limit: limit), on: executor)
    }
  }

  private func visit(
    _ limiter: some VisitedLimiter,
    on executor: (any TaskExecutor)?
  ) async -> Seen {
    // The children prefer what their parent does; this task may prefer the shell's thread.
    await Task.detached(on: executor) { await visit(limiter) }.value
  }

  private func visit(_ limiter: some VisitedLimiter) async -> Seen {
    let yields = body == .yield
    let begun = Begun()
    let start = StartLine(tasks: tasks)
    let each = visitsEach
    return await withTaskGroup(of: (waited: Int, begun: Int).self) { group in
      for _ in 0..<tasks {
        group.addTask {
          var waited = 0
          // The threads are awake when it begins.
          for _ in 0..<100 { await Task.yield() }
          await start.wait()
          for _ in 0..<each {
            begun.visits.add(1, ordering: .relaxed)
            if await limiter.visit(yielding: yields) { waited += 1 }
          }
          return (waited, begun.visits.load(ordering: .relaxed))
        }
      }
      var seen = await group.reduce(into: Seen()) { seen, task in
        seen.waited += task.waited
        seen.firstDone = min(seen.firstDone, task.begun)
      }
      seen.nanoseconds = MachineClock.monotonic() - start.passed
      return seen
    }
  }

  private final class Begun: Sendable { let visits = Atomic<Int>(0) }
}

/// Nobody passes until all tasks have come.
///
/// Without it the first task may have made all its visits before the last one exists: to start a thread of
/// the pool takes as long as many visits do, and the thread that makes the tasks may lose its processor. So may
/// the one that resumes them all, while those resumed already run: they pass when it is done.
private final class StartLine: Sendable {
  private struct State {
    var missing: Int
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// When all were resumed.
    var passed: Int64 = 0
  }

  private let state: Mutex<State>
  private let isOpen = Atomic<Bool>(false)

  init(tasks: Int) { state = Mutex(State(missing: tasks)) }

  var passed: Int64 { state.withLock { $0.passed } }

  func wait() async {
    await withCheckedContinuation { continuation in
      let complete = state.withLock { state in
        state.missing -= 1
        state.waiting.append(continuation)
        guard state.missing == 0 else { return [CheckedContinuation<Void, Never>]() }
        defer { state.waiting = [] }
        return state.waiting
      }
      guard !complete.isEmpty else { return }
      for task in complete { task.resume() }
      state.withLock { $0.passed = MachineClock.monotonic() }
      isOpen.store(true, ordering: .releasing)
    }
    // The thread that opens it runs already and waits for nobody, so this ends. A yield would not do: it is
    // what the executor under study may get wrong.
    while !isOpen.load(ordering: .acquiring) { sched_yield() }
  }
}

private protocol VisitedLimiter: Sendable {
  /// Visits once; whether it had to wait for a permit.
  func visit(yielding: Bool) async -> Bool
}

extension ConcurrencyLimiter: VisitedLimiter {
  fileprivate func visit(yielding: Bool) async -> Bool {
    if await runIfFree({ await serve(yielding) }) != nil { return false }
    await runUncancellably { await serve(yielding) }
    return true
  }
}

extension BargingLimiter: VisitedLimiter {
  fileprivate func visit(yielding: Bool) async -> Bool {
    if await runIfFree({ await serve(yielding) }) != nil { return false }
    // Nobody cancels it.
    try? await run { await serve(yielding) }
    return true
  }
}

private func serve(_ yielding: Bool) async {
  if yielding { await Task.yield() }
}
