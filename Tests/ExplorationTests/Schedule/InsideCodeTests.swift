import Basics
import ExplorableSynchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.watched, .serialized) struct `Inside synchronous code` {
  final class Shared: Sendable {
    let count = Atomic<Int>(0)
  }

  /// Two tasks that count in an atomic; `add` is the way they do it.
  private func counting(_ add: @escaping @Sendable (borrowing Atomic<Int>) -> Void) -> Scenario {
    var scenario = Scenario("counting", tasks: 2) { context in
      let shared = Shared()
      return ScenarioInstance(
        body: { task in
          context.report(.arrived, of: task)
          add(shared.count)
          context.report(.admitted, of: task)
          context.report(.finished, of: task)
        },
        permitsInUse: { 2 - shared.count.load(ordering: .relaxed) }
      )
    }
    scenario.inside = true
    return scenario
  }

  @Test(arguments: [(0, 1, 0), (1, 3, 1), (2, 7, 3), (nil, 10, 6)] as [(Int?, Int, Int)])
  func `an update between another's load and store is lost`(
    bound: Int?,
    schedules: Int,
    failed: Int
  ) throws {
    let verdict = try Explorer(preemptions: bound)(
      counting {
        let seen = $0.load(ordering: .relaxed)
        $0.store(seen + 1, ordering: .relaxed)
      }
    )
    #expect(verdict.coverage == .exhaustive)
    #expect((verdict.schedules, verdict.failed) == (schedules, failed))
  }

  @Test(arguments: [0, 1, 2, nil] as [Int?])
  func `an update in one step is not lost`(bound: Int?) throws {
    let verdict = try Explorer(preemptions: bound)(counting { $0.add(1, ordering: .relaxed) })
    #expect(verdict.coverage == .exhaustive)
    #expect(verdict.found == nil)
  }

  @Test(arguments: [Explorer.Strategy.random, .pct(depth: 2)])
  func `strategies at random stop inside code too`(strategy: Explorer.Strategy) throws {
    let exploration = Explorer(strategy: strategy, schedules: 500, stopsAtViolation: true)
    let verdict = try exploration(
      counting {
        let seen = $0.load(ordering: .relaxed)
        $0.store(seen + 1, ordering: .relaxed)
      }
    )
    #expect(verdict.found?.violation.kind == .permitLeak)
  }

  /// How a semaphore locks.
  enum Locking: String, CaseIterable {
    /// Count and line behind one lock; effects after it is released.
    case one
    /// A lock for the count, another for the line.
    case two
    /// One lock, held while waiters are resumed.
    case heldWhileResuming
  }

  /// A counting semaphore that keeps its promises but for its locks.
  final class Line: Sendable {
    struct Waiter {
      var task: Int
      var continuation: UnsafeContinuation<Bool, Never>
    }

    struct State {
      var free = 1
      var line: [Waiter] = []
      var leftEarly: Set<Int> = []

      mutating func join(_ waiter: Waiter) -> Bool? {
        if leftEarly.remove(waiter.task) != nil { return false }
        line.append(waiter)
        return nil
      }

      mutating func leave(_ task: Int) -> Waiter? {
        if let index = line.firstIndex(where: { $0.task == task }) { return line.remove(at: index) }
        leftEarly.insert(task)
        return nil
      }
    }

    private let locking: Locking
    private let state = Mutex(State())
    private let line = Mutex(State())

    init(_ locking: Locking) { self.locking = locking }

    var permitsInUse: Int { state.withLock { 1 - $0.free } }

    func run(_ task: Int, _ body: () async throws -> Void) async throws {
      if locking == .two, takeIfFree() {
      } else if await !admitted(task) {
        throw CancellationError()
      }
      defer { release() }
      try await body()
    }

    private func takeIfFree() -> Bool {
      state.withLock {
        if $0.free == 0 { return false }
        $0.free = 0
        return true
      }
    }

    private func admitted(_ task: Int) async -> Bool {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { continuation in
          let waiter = Waiter(task: task, continuation: continuation)
          let answer =
            locking == .two
            ? line.withLock { $0.join(waiter) }
            : state.withLock {
              if $0.free > 0 {
                $0.free = 0
                return true
              }
              return $0.join(waiter)
            }
          if let answer { continuation.resume(returning: answer) }
        }
      } onCancel: {
        let waiter =
          locking == .two ? line.withLock { $0.leave(task) } : state.withLock { $0.leave(task) }
        waiter?.continuation.resume(returning: false)
      }
    }

    private func release() {
      switch locking {
      case .one:
        let next = state.withLock { state -> Waiter? in
          if state.line.isEmpty {
            state.free = 1
            return nil
          }
          return state.line.removeFirst()
        }
        next?.continuation.resume(returning: true)
      case .two:
        let next = line.withLock { $0.line.isEmpty ? nil : $0.line.removeFirst() }
        if let next {
          next.continuation.resume(returning: true)
        } else {
          state.withLock { $0.free = 1 }
        }
      case .heldWhileResuming:
        state.withLock { state in
          if state.line.isEmpty {
            state.free = 1
          } else {
            state.line.removeFirst().continuation.resume(returning: true)
          }
        }
      }
    }
  }

  private func line(_ locking: Locking, tasks: Int = 2, cancellable: Bool) -> Scenario {
    var scenario = Scenario.visits(
      "line-\(locking)",
      tasks: tasks,
      limit: 1,
      cancellable: cancellable,
      promises: .init(),
      make: { _, _ in Line(locking) },
      permitsInUse: { $0.permitsInUse },
      enter: { try await $0.run($1, $2) }
    )
    scenario.inside = true
    return scenario
  }

  @Test(arguments: [(2, false), (2, true), (3, false)].fewUnlessSearching { $0.0 == 2 })
  func `one lock keeps count and line together`(tasks: Int, cancellable: Bool) throws {
    let verdict = try Explorer(preemptions: 2)(line(.one, tasks: tasks, cancellable: cancellable))
    #expect(verdict.found == nil)
    #expect(verdict.coverage == .exhaustive)
  }

  @Test(.search, arguments: [Locking.one, .heldWhileResuming])
  func `who is blocked in the runtime is certain also while others take every processor`(
    locking: Locking
  ) throws {
    func counts() throws -> [Int] {
      let verdict = try Explorer(preemptions: 0)(line(locking, cancellable: true))
      return [verdict.schedules, verdict.steps, verdict.failed, verdict.givenUp]
    }
    let alone = try counts()
    let isOver = Shared()
    // They allocate, as code does that shares the allocator's locks with what is explored.
    let others = (0..<(9 * Processors.allowed)).map { _ in
      OSThread {
        while isOver.count.load(ordering: .relaxed) == 0 {
          withExtendedLifetime((0..<50).map { [UInt8](repeating: 1, count: 2_000 + $0) }) {}
        }
      }
    }
    let busy = Result { try counts() }
    isOver.count.store(1, ordering: .relaxed)
    for other in others { other.join() }
    #expect(try busy.get() == alone)
  }

  /// Small enough to look at every schedule by itself: with any number of pre-emptions, or with few.
  private var smallCases: [(scenario: Scenario, most: Int?)] {
    let looksThenWrites: @Sendable (borrowing Atomic<Int>) -> Void = {
      let seen = $0.load(ordering: .relaxed)
      $0.store(seen + 1, ordering: .relaxed)
    }
    return [
      (counting(looksThenWrites), nil), (counting { $0.add(1, ordering: .relaxed) }, nil),
      (line(.one, cancellable: false), nil), (line(.two, cancellable: false), nil),
      (line(.heldWhileResuming, cancellable: false), nil), (line(.one, cancellable: true), 1),
    ]
  }

  @Test(arguments: [0, 1, 2, nil] as [Int?])
  func `the reduced search sees what the unreduced one sees, whatever the bound`(bound: Int?) {
    for (scenario, most) in smallCases {
      if let most, bound.map({ $0 > most }) ?? true { continue }
      let reduced = Summary(of: scenario, reduction: .full, preemptions: bound)
      let unreduced = Summary(of: scenario, reduction: .none, preemptions: bound)
      print(
        "\(scenario.name), pre-emptions \(bound.map(String.init) ?? "any"):",
        "\(reduced.schedules) schedules reduced, \(unreduced.schedules) unreduced"
      )
      #expect(reduced.violations == unreduced.violations)
      #expect(reduced.clean == unreduced.clean)
      #expect(reduced.schedules <= unreduced.schedules)
    }
  }

  @Test func `a limiter with a lock for its count and one for its line loses a wake-up`() throws {
    let scenario = line(.two, cancellable: false)
    let verdict = try Explorer(preemptions: 2)(scenario)
    let found = try #require(verdict.found)
    #expect(found.violation.kind == .lostWakeUp)
    let minimum = try Minimum(of: found, in: scenario)
    #expect(minimum.isMinimal)
    #expect(minimum.violation.kind == .lostWakeUp)
  }

  @Test func `resuming under a lock that the cancellation handler takes is a deadlock`() throws {
    let scenario = line(.heldWhileResuming, cancellable: true)
    let verdict = try Explorer(preemptions: 2, stopsAtViolation: true)(scenario)
    let found = try #require(verdict.found)
    #expect(found.violation.kind == .deadlock)
    let minimum = try Minimum(of: found, in: scenario)
    #expect(minimum.violation.kind == .deadlock)
  }

  @Test func `a thread that parks goes on when it is woken, and never without`() throws {
    for wakes in [true, false] {
      var scenario = Scenario("parking", tasks: 1) { context in
        ScenarioInstance(body: { task in
          context.report(.arrived, of: task)
          let parker = Parker()
          let sleeper = ExplorableSynchronization.Thread {
            parker.park()
            parker.park()
          }
          parker.unpark()
          if wakes { parker.unpark() }
          sleeper.join()
          context.report(.admitted, of: task)
          context.report(.finished, of: task)
        })
      }
      scenario.inside = true
      let verdict = try Explorer()(scenario)
      // Two wake-ups may come before the thread first parks, and then count as one.
      #expect(verdict.failures[.deadlock] == verdict.failed)
      #expect((verdict.failed < verdict.schedules) == wakes)
      #expect(verdict.failed > 0)
    }
  }

  @Test func `threads that are no tasks are agents`() throws {
    var scenario = Scenario("threads", tasks: 1) { context in
      let count = Shared()
      return ScenarioInstance(
        body: { task in
          context.report(.arrived, of: task)
          let threads = (0..<2).map { _ in
            ExplorableSynchronization.Thread {
              let seen = count.count.load(ordering: .relaxed)
              count.count.store(seen + 1, ordering: .relaxed)
            }
          }
          for thread in threads { thread.join() }
          context.report(.admitted, of: task)
          context.report(.finished, of: task)
        },
        permitsInUse: { 2 - count.count.load(ordering: .relaxed) }
      )
    }
    scenario.inside = true
    let verdict = try Explorer()(scenario)
    #expect(verdict.coverage == .exhaustive)
    #expect(Set(verdict.failures.keys) == [.permitLeak])
    #expect(verdict.failed < verdict.schedules)
  }

  @Test func `a loop that waits for what nobody writes is a livelock`() throws {
    let verdict = try Explorer(stopsAtViolation: true)(
      counting { while $0.load(ordering: .relaxed) == 0 {} }
    )
    #expect(verdict.found?.violation.kind == .livelock)
  }

  @Test func `what is not explored is the real thing`() {
    let mutex = Mutex(1)
    mutex.withLock { $0 += 1 }
    #expect(mutex.withLock { _ in mutex.withLockIfAvailable { $0 } } == nil)
    #expect(mutex.withLockIfAvailable { $0 } == 2)
    let atomic = Atomic<UInt8>(250)
    #expect(atomic.wrappingAdd(10, ordering: .relaxed).newValue == 4)
    #expect(atomic.bitwiseOr(3, ordering: .relaxed).newValue == 7)
    #expect(atomic.max(9, ordering: .relaxed) == (7, 9))
    #expect(atomic.compareExchange(expected: 9, desired: 1, ordering: .relaxed) == (true, 9))
    #expect(atomic.exchange(5, ordering: .relaxed) == 1)
    let parker = Parker()
    parker.unpark()
    parker.unpark()
    parker.park()
    let flag = Atomic(false)
    #expect(flag.logicalOr(true, ordering: .relaxed) == (false, true))
  }
}
