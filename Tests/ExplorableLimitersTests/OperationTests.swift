import ExplorableLimiters
import Synchronization
import TestSupport
import Testing

@testable import Exploration

// Every operation of the limiters, alone and against every other, inside synchronous code: agents stop
// before each operation on a lock or an atomic. Small cases, all of their schedules with at most two
// pre-emptions.

/// What happens to one limiter, made anew for each schedule, and what must be true of it.
private struct Subject: Sendable {
  /// One thing that a task does.
  typealias Operation = @Sendable () async throws -> Void

  /// What each task does.
  var operations: [Operation]
  /// What must be 0 when every task has ended.
  var leftOver: @Sendable () -> Int
}

/// Who is inside, with how many permits, and how many there may be.
private final class Room: Sendable {
  private let state: Synchronization.Mutex<(permits: Int, bodies: Int, most: Int, ended: Int)>
  private let context: ScenarioContext

  init(most: Int, _ context: ScenarioContext) {
    state = Synchronization.Mutex((0, 0, most, 0))
    self.context = context
  }

  /// How many bodies have ended.
  var ended: Int { state.withLock { $0.ended } }

  /// Allows as many permits from now on, if that is more than before.
  func allow(_ most: Int) { state.withLock { $0.most = max($0.most, most) } }

  func enter(_ weight: Int = 1) {
    let (permits, bodies, most) = state.withLock { state in
      state.permits += weight
      state.bodies += 1
      return (state.permits, state.bodies, state.most)
    }
    // One that needs more than there are runs alone.
    if permits > most, bodies > 1 { context.note(.overAdmission, "\(permits) of \(most)") }
  }

  func leave(_ weight: Int = 1) {
    state.withLock { state in
      state.permits -= weight
      state.bodies -= 1
      state.ended += 1
    }
  }

  /// A body that suspends.
  func visit(_ weight: Int = 1) async {
    enter(weight)
    try? await context.pause()
    leave(weight)
  }
}

/// A clock that stands still, and whose sleepers wake when the schedule says so.
private struct ChosenClock: Clock {
  struct Instant: InstantProtocol {
    var time = Duration.zero
    func advanced(by duration: Duration) -> Self { Self(time: time + duration) }
    func duration(to other: Self) -> Duration { other.time - time }
    static func < (one: Self, other: Self) -> Bool { one.time < other.time }
  }

  let context: ScenarioContext
  /// What sleepers wait for instead, if there is one.
  var event: Condition?
  var now: Instant { Instant() }
  var minimumResolution: Duration { .zero }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    if let event { try await event.wait() } else { try await context.pause() }
  }
}

/// Keeps a permit where several tasks reach it.
private final class Keeper: Sendable {
  private let permit: Permit?
  init(_ permit: consuming Permit?) { self.permit = permit }

  func release() { permit?.release() }
}

/// What a task can do with a limiter.
private enum LimiterOperation: String, CaseIterable {
  case run
  case acquire
  case tryAcquire
  case runIfFree
  case runUncancellably
  case detach
  case heavy
  case deadline
  case cancelled
  case raise
  case lower
  case close

  /// Those that are tried with a third task: not those like others, nor those with thousands of schedules.
  static let besideRelease = allCases.filter {
    ![.acquire, .runIfFree, .detach, .deadline].contains($0)
  }

  func callAsFunction(
    _ limiter: ConcurrencyLimiter,
    _ room: Room,
    _ context: ScenarioContext
  ) async throws {
    switch self {
    case .run: try await limiter.run { await room.visit() }
    case .acquire:
      let permit = try await limiter.acquire()
      defer { permit.release() }
      await room.visit()
    case .tryAcquire:
      guard let permit = limiter.tryAcquire() else { return }
      await room.visit()
      permit.release()
    case .runIfFree: _ = await limiter.runIfFree { await room.visit() }
    case .runUncancellably: await limiter.runUncancellably { await room.visit() }
    case .detach:
      let token = try await limiter.acquire().detach()
      await room.visit()
      token.release()
    case .heavy: try await limiter.run(weight: 2) { await room.visit(2) }
    case .deadline:
      try await limiter.run(waitingAtMost: .seconds(1), clock: ChosenClock(context: context)) {
        await room.visit()
      }
    case .cancelled:
      let task = Task(executorPreference: context.executor) {
        try? await limiter.run { await room.visit() }
      }
      task.cancel()
      await task.value
    case .raise:
      room.allow(3)
      limiter.setConcurrency(3)
    case .lower: limiter.setConcurrency(1)
    case .close:
      limiter.close()
      await limiter.closed()
    }
  }
}

/// What a task can do with the elements of a sequence, and a limiter that another uses too.
private enum SequenceOperation: String, CaseIterable {
  case map
  case forEach
  case results
  case resultsAsReady
  case firstResult
  case fail
  case resultsThatFail
  case cancelled

  func callAsFunction(
    _ numbers: [Int],
    _ limiter: ConcurrencyLimiter,
    _ room: Room,
    _ context: ScenarioContext
  ) async throws {
    let visit: @Sendable (Int) async throws -> Int = { number in
      await room.visit()
      return number
    }
    let fail: @Sendable (Int) async throws -> Int = { number in
      room.enter()
      defer { room.leave() }
      if number == 1 { throw Failed() }
      return number
    }
    func expect(_ found: [Int], _ expected: [Int]) {
      if found != expected { context.note(.requirement, "\(self): \(found)") }
    }
    switch self {
    case .map: expect(try await numbers.concurrentMap(limiter: limiter, visit), numbers)
    case .forEach: try await numbers.concurrentForEach(limiter: limiter) { _ = try await visit($0) }
    case .results, .resultsAsReady:
      let ordered = self == .results
      let results = numbers.concurrentResults(
        limiter: limiter,
        ordered: ordered,
        executor: context.executor,
        visit
      )
      var found: [Int] = []
      for try await result in results { found.append(result) }
      expect(ordered ? found : found.sorted(), numbers)
    case .firstResult:
      let results = numbers.concurrentResults(limiter: limiter, executor: context.executor, visit)
      for try await result in results {
        expect([result], [1])
        break
      }
    case .fail:
      do {
        _ = try await numbers.concurrentMap(limiter: limiter, fail)
        context.note(.requirement, "no error")
      } catch is Failed {}
    case .resultsThatFail:
      do {
        for try await result in numbers.concurrentResults(
          limiter: limiter,
          ordered: false,
          executor: context.executor,
          fail
        ) { expect([result], [2]) }
        context.note(.requirement, "no error")
      } catch is Failed {}
    case .cancelled:
      let results = numbers.concurrentResults(limiter: limiter, executor: context.executor, visit)
      let task = Task(executorPreference: context.executor) {
        var iterator = results.makeAsyncIterator()
        _ = try? await iterator.next()
      }
      task.cancel()
      await task.value
    }
  }
}

/// What a task can do with a pool.
private enum PoolOperation: String, CaseIterable {
  case withElement
  case fail
  case lease
  case discardLease
  case get
  case discard
  case prepare
  case cancelled
  case shutdown

  func callAsFunction(
    _ pool: AsyncPool<Room>,
    _ context: ScenarioContext
  ) async throws {
    switch self {
    case .withElement: try await pool.withElement { await $0.visit() }
    case .fail:
      do {
        try await pool.withElement(onError: .discard) {
          await $0.visit()
          throw Failed()
        }
      } catch is Failed {}
    case .lease:
      let lease = try await pool.lease()
      await lease.element.visit()
      lease.return()
    case .discardLease:
      let lease = try await pool.lease()
      await lease.element.visit()
      lease.discard()
    case .get:
      let element = try await pool.get()
      await element.visit()
      pool.return(element)
    case .discard:
      let element = try await pool.get()
      await element.visit()
      pool.discard(element)
    case .prepare: try await pool.prepare()
    case .cancelled:
      let task = Task(executorPreference: context.executor) {
        try? await pool.withElement { await $0.visit() }
      }
      task.cancel()
      await task.value
    case .shutdown: await pool.shutdown()
    }
  }
}

private struct Failed: Error {}

/// What a task can do with an ordered queue.
private enum QueueOperation: String, CaseIterable {
  case enqueue
  case enqueueAndWait
  case enqueueAndWaitUncancellably
  case cancelled
}

private actor Place {}

@Suite(.watched) struct `Inside the limiters' code` {
  /// A scenario in which each task does one thing to what `make` makes.
  private func explore(
    _ name: String,
    tasks: Int = 2,
    preemptions: Int = 2,
    _ make: @escaping @Sendable (ScenarioContext) -> Subject
  ) throws {
    var scenario = Scenario(
      tasks: tasks,
      limit: nil,
      cancellable: false,
      promises: .init(workConservation: false),
      fingerprint: { _ in name },
      make: { context in instance(make(context), context) }
    )
    scenario.inside = true
    @Sendable func instance(_ subject: Subject, _ context: ScenarioContext) -> ScenarioInstance {
      ScenarioInstance(
        body: { task in
          context.report(.arrived, of: task)
          do {
            try await subject.operations[task - 1]()
          } catch is WaitTimedOut {
          } catch is LimiterClosed {
          } catch is PoolClosed {
          } catch {
            context.note(.thrown, "\(error)")
          }
          context.report(.admitted, of: task)
          context.report(.finished, of: task)
        },
        permitsInUse: subject.leftOver
      )
    }
    let verdict = try Explorer(preemptions: preemptions, stopsAtViolation: true)(scenario)
    let found = verdict.found.map { "\($0.violation.kind.rawValue): \($0.violation.message)" }
    #expect(found == nil, "\(name), by \(verdict.found.map { "\($0.schedule)" } ?? "")")
    #expect(verdict.coverage == .exhaustive || found != nil, "\(name)")
  }

  @Test(
    arguments: LimiterOperation.allCases.fewUnlessSearching {
      [.run, .tryAcquire, .cancelled].contains($0)
    }
  )
  fileprivate func `a limiter keeps its promises whatever two tasks do`(
    first: LimiterOperation
  ) throws {
    for second in LimiterOperation.allCases where second.rawValue >= first.rawValue {
      for limit in [1, 2] {
        try explore("\(first)-\(second)-\(limit)") { context in
          let room = Room(most: limit, context)
          let limiter = ConcurrencyLimiter(
            concurrency: limit,
            clock: ChosenClock(context: context)
          )
          return Subject(
            operations: [first, second].map { operation in
              { try await operation(limiter, room, context) }
            },
            leftOver: { limiter.running + limiter.waiting }
          )
        }
      }
    }
  }

  @Test(arguments: LimiterOperation.besideRelease.fewUnlessSearching { $0 == .tryAcquire })
  fileprivate func `a limiter keeps its promises whatever two tasks do as a permit comes back`(
    first: LimiterOperation
  ) throws {
    for second in LimiterOperation.besideRelease where second.rawValue >= first.rawValue {
      try explore("\(first)-\(second)-release", tasks: 3, preemptions: 1) { context in
        let room = Room(most: 1, context)
        let limiter = ConcurrencyLimiter(
          concurrency: 1,
          order: .priority(agingAfter: .seconds(1)),
          clock: ChosenClock(context: context)
        )
        room.enter()
        let token = limiter.tryAcquire()?.detach()
        var operations: [Subject.Operation] = [first, second].map { operation in
          { try await operation(limiter, room, context) }
        }
        operations.append {
          room.leave()
          token?.release()
        }
        return Subject(
          operations: operations,
          leftOver: { limiter.running + limiter.waiting }
        )
      }
    }
  }

  @Test(arguments: 0...2)
  func `the limiter in thirty lines keeps its promises, whoever is cancelled`(cancelled: Int) throws
  {
    try explore("small-\(cancelled)") { context in
      let (limiter, room) = (SmallLimiter(concurrency: 1), Room(most: 1, context))
      return Subject(
        operations: (0..<2).map { number in
          {
            let task = Task(executorPreference: context.executor) {
              try await limiter.run { await room.visit() }
            }
            if number < cancelled { task.cancel() }
            if case .failure(let error) = await task.result, !(number < cancelled) { throw error }
          }
        },
        leftOver: {
          let (free, waiting) = limiter.counts
          return 1 - free + waiting + max(0, 2 - cancelled - room.ended)
        }
      )
    }
  }

  @Test(arguments: SequenceOperation.allCases.fewUnlessSearching { $0 == .fail || $0 == .forEach })
  fileprivate func `work on a sequence keeps the promises of its limiter, alone and beside another`(
    operation: SequenceOperation
  ) throws {
    // Two tasks, or two children, take many more steps: at most one pre-emption of those.
    for (elements, others, preemptions) in [(1, 0, 2), (1, 1, 1), (2, 0, 1)] {
      try explore("\(operation)-\(elements)-\(others)", tasks: 1 + others, preemptions: preemptions)
      {
        context in
        let room = Room(most: elements, context)
        let limiter = ConcurrencyLimiter(
          concurrency: elements,
          clock: ChosenClock(context: context)
        )
        let work: Subject.Operation = {
          try await operation(Array(1...elements), limiter, room, context)
        }
        let visit: Subject.Operation = { try await limiter.run { await room.visit() } }
        return Subject(
          operations: [work] + Array(repeating: visit, count: others),
          leftOver: { limiter.running + limiter.waiting }
        )
      }
    }
  }

  @Test func `a permit that two tasks release comes back once`() throws {
    try explore("release-release") { context in
      let limiter = ConcurrencyLimiter(concurrency: 2, clock: ChosenClock(context: context))
      let keeper = Keeper(limiter.tryAcquire())
      return Subject(
        operations: [{ keeper.release() }, { keeper.release() }],
        leftOver: { limiter.running }
      )
    }
  }

  @Test(arguments: [false, true])
  func `a task that is cancelled before its time is over is not told that it is`(
    isInstant: Bool
  ) throws {
    try explore("cancelled-deadline-\(isInstant)", tasks: 1) { context in
      let (never, signal) = Condition.makeCondition()
      let clock = ChosenClock(context: context, event: never)
      let limiter = ConcurrencyLimiter(concurrency: 1, clock: clock)
      let token = limiter.tryAcquire()?.detach()
      return Subject(
        operations: [
          {
            defer { signal.signal() }
            let task = Task(executorPreference: context.executor) {
              let deadline = clock.now.advanced(by: .seconds(1))
              let permit =
                if isInstant {
                  try await limiter.acquire(waitingUntil: deadline, clock: clock)
                } else {
                  try await limiter.acquire(waitingAtMost: .seconds(1), clock: clock)
                }
              permit.release()
            }
            task.cancel()
            if case .failure(let error) = await task.result, error is WaitTimedOut {
              context.note(.requirement, "cancelled, and told that the time is over")
            }
            token?.release()
          }
        ],
        leftOver: { limiter.running + limiter.waiting }
      )
    }
  }

  @Test func `a task that waits until an instant is admitted or told that it is over`() throws {
    try explore("until") { context in
      let (room, clock) = (Room(most: 1, context), ChosenClock(context: context))
      let limiter = ConcurrencyLimiter(concurrency: 1, clock: clock)
      let deadline = clock.now.advanced(by: .seconds(1))
      return Subject(
        operations: [
          {
            let permit = try await limiter.acquire(waitingUntil: deadline, clock: clock)
            defer { permit.release() }
            await room.visit()
          },
          { try await limiter.run { await room.visit() } },
        ],
        leftOver: { limiter.running + limiter.waiting }
      )
    }
  }

  @Test func `a task that is first by its priority waits for nobody behind it`() throws {
    try explore("priorities-weights") { context in
      let room = Room(most: 3, context)
      let limiter = ConcurrencyLimiter(
        concurrency: 3,
        order: .priority(agingAfter: .seconds(1)),
        clock: ChosenClock(context: context)
      )
      room.enter(2)
      let token = limiter.tryAcquire(weight: 2)?.detach()
      @Sendable func run(_ weight: Int, at priority: TaskPriority) async throws {
        try await Task(executorPreference: context.executor, priority: priority) {
          try await limiter.run(weight: weight) { await room.visit(weight) }
        }
        .value
      }
      return Subject(
        operations: [
          { try await run(2, at: .low) },
          {
            // The permits that the heavy one needs come back only after this one has run.
            try await run(1, at: .high)
            room.leave(2)
            token?.release()
          },
        ],
        leftOver: { limiter.running + limiter.waiting }
      )
    }
  }

  @Test(arguments: PoolOperation.allCases)
  fileprivate func `a pool keeps its promises whatever two tasks do`(
    first: PoolOperation
  ) throws {
    for second in PoolOperation.allCases where second.rawValue >= first.rawValue {
      try explore("\(first)-\(second)") { context in
        let pool = AsyncPool(maxElements: 1, minElements: 1, clock: ChosenClock(context: context)) {
          Room(most: 1, context)
        }
        return Subject(
          operations: [first, second].map { operation in { try await operation(pool, context) } },
          leftOver: { pool.lent + pool.waiting }
        )
      }
    }
  }

  @Test(arguments: QueueOperation.allCases)
  fileprivate func `a FIFO queue keeps its promises whatever two tasks do`(
    first: QueueOperation
  ) throws {
    for second in QueueOperation.allCases where second.rawValue >= first.rawValue {
      try explore("fifo-\(first)-\(second)") { context in
        let room = Room(most: 1, context)
        let queue = FIFOQueue(executor: context.executor)
        return Self.subject([first, second], room, context) { body in
          queue.enqueue(body)
        } wait: { body in
          try await queue.enqueueAndWait(body)
        } uncancellably: { body in
          await queue.enqueueAndWaitUncancellably(body)
        } leftOver: {
          (queue.isRunning ? 1 : 0) + queue.waiting
        }
      }
    }
  }

  @Test(
    arguments: QueueOperation.allCases.fewUnlessSearching { $0 == .enqueueAndWaitUncancellably }
  )
  fileprivate func `an actor queue keeps its promises whatever two tasks do`(
    first: QueueOperation
  ) throws {
    for second in QueueOperation.allCases where second.rawValue >= first.rawValue {
      try explore("actor-\(first)-\(second)") { context in
        let (place, room) = (Place(), Room(most: 2, context))
        let queue = ActorQueue<Place>(executor: context.executor)
        queue.adoptExecutionContext(of: place)
        return Self.subject([first, second], room, context) { body in
          queue.enqueue { _ in await body() }
        } wait: { body in
          try await queue.enqueueAndWait { _ in await body() }
        } uncancellably: { body in
          await queue.enqueueAndWaitUncancellably { _ in await body() }
        } leftOver: {
          withExtendedLifetime(place) { (queue.isStarting ? 1 : 0) + queue.waiting }
        }
      }
    }
  }

  @Test(arguments: [false, true])
  func `bodies start in the order in which tasks of other priorities enqueue them`(
    onActor: Bool
  ) throws {
    try explore("priorities-\(onActor)", tasks: 1, preemptions: 1) { context in
      let (place, journal) = (Place(), Journal())
      let (fifo, actor) = (
        FIFOQueue(executor: context.executor), ActorQueue<Place>(executor: context.executor)
      )
      actor.adoptExecutionContext(of: place)
      @Sendable func enqueue(_ name: String, at priority: TaskPriority) async {
        await Task(executorPreference: context.executor, priority: priority) {
          if onActor {
            actor.enqueue { _ in journal.note(name) }
          } else {
            fifo.enqueue { journal.note(name) }
          }
        }
        .value
      }
      return Subject(
        operations: [
          {
            await enqueue("1", at: .low)
            await enqueue("2", at: .high)
            try await Task(executorPreference: context.executor, priority: .background) {
              if onActor {
                try await actor.enqueueAndWait { _ in journal.note("3") }
              } else {
                try await fifo.enqueueAndWait { journal.note("3") }
              }
            }
            .value
          }
        ],
        leftOver: {
          withExtendedLifetime(place) {
            journal.entries == ["1", "2", "3"] ? fifo.waiting + actor.waiting : 1
          }
        }
      )
    }
  }

  private static func subject(
    _ operations: [QueueOperation],
    _ room: Room,
    _ context: ScenarioContext,
    enqueue: @escaping @Sendable (@escaping @Sendable () async -> Void) -> Void,
    wait: @escaping @Sendable (@escaping @Sendable () async -> Void) async throws -> Void,
    uncancellably: @escaping @Sendable (@escaping @Sendable () async -> Void) async -> Void,
    leftOver: @escaping @Sendable () -> Int
  ) -> Subject {
    let mustRun = operations.count { $0 != .cancelled }
    let body: @Sendable () async -> Void = { await room.visit() }
    return Subject(
      operations: operations.map { operation in
        {
          switch operation {
          case .enqueue: enqueue(body)
          case .enqueueAndWait: try await wait(body)
          case .enqueueAndWaitUncancellably: await uncancellably(body)
          case .cancelled:
            let task = Task(executorPreference: context.executor) { try? await wait(body) }
            task.cancel()
            await task.value
          }
        }
      },
      leftOver: {
        let ran = (mustRun...operations.count).contains(room.ended)
        return leftOver() + (ran ? 0 : 1)
      }
    )
  }
}
