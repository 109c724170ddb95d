import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// What is found in code that knows nothing of an exploration.
@Suite(.inTurn, .watched) struct `Unchanged code, explored` {
  /// Reads and writes under a lock, with the lock released in between, or not.
  protocol Counter: Sendable {
    func read() -> Int
    func write(_ value: Int)
    func add()
  }

  final class WithNSLock: Counter, @unchecked Sendable {
    private let lock = NSLock()
    private var value = 0

    func read() -> Int {
      lock.lock()
      defer { lock.unlock() }
      return value
    }

    func write(_ new: Int) { lock.withLock { value = new } }

    func add() { lock.withLock { value += 1 } }
  }

  final class WithMutex: Counter {
    private let value = Mutex(0)

    func read() -> Int { value.withLock { $0 } }

    func write(_ new: Int) { value.withLock { $0 = new } }

    func add() { value.withLock { $0 += 1 } }
  }

  final class WithAtomic: Counter {
    private let value = Atomic(0)

    func read() -> Int { value.load(ordering: .acquiring) }

    func write(_ new: Int) { value.store(new, ordering: .releasing) }

    func add() { value.add(1, ordering: .relaxed) }
  }

  static let counters: [@Sendable () -> any Counter] = [
    { WithNSLock() }, { WithMutex() }, { WithAtomic() },
  ]

  @Test(arguments: counters.indices)
  func `an update is lost between a read and a write, and none in one operation`(kind: Int) throws {
    let make = Self.counters[kind]
    let failure = try failure("lost update") {
      let counter = make()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { counter.write(counter.read() + 1) } }
      }
      try require(counter.read() == 2, "an update is lost")
    }
    guard case .requirement = failure.kind else { throw failure }
    let verdict = try explore("kept update") {
      let counter = make()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { counter.add() } }
      }
      try require(counter.read() == 2, "an update is lost")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }
}

/// What a failing exploration throws.
func failure(
  _ name: String,
  preemptions: Int? = 2,
  races: Bool = true,
  replaying schedule: String? = nil,
  _ body: @escaping @Sendable () async throws -> Void
) throws -> ExplorationFailure {
  let verdict: ExplorationVerdict
  do throws(ExplorationFailure) {
    verdict = try explore(
      name,
      preemptions: preemptions,
      races: races,
      replaying: schedule,
      body
    )
  } catch {
    return error
  }
  throw Passed(verdict: verdict)
}

struct Passed: Error { var verdict: ExplorationVerdict }
