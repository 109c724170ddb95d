import ExplorableLimiters
import ExplorableSynchronization
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercise on databases that mend the connection which broke, and lose another by it.
@Suite(.watched) struct `Pools of connections` {
  protocol Flaw: SendableMetatype {
    /// Whether an error of a question that was asked again costs its connection.
    static var givesUpTheSecond: Bool { get }
    /// Whether those that lie idle go with one that broke.
    static var givesUpIdleOnes: Bool { get }
  }

  private final class Leasing<F: Flaw>: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      var isAgain = false
      while true {
        let lease = try await pool.lease()
        do {
          return try await lease.element.answer(to: question)
        } catch is ConnectionBroken {
          lease.discard()
          isAgain = true
          guard F.givesUpIdleOnes else { continue }
          for _ in 0..<pool.idle { try await pool.lease().discard() }
        } catch {
          if isAgain, F.givesUpTheSecond { lease.discard() }
          throw error
        }
      }
    }
  }

  enum Right: Flaw {}

  enum SecondGoesToo: Flaw {
    static let givesUpTheSecond = true
  }

  enum IdleOnesGoToo: Flaw {
    static let givesUpIdleOnes = true
  }

  /// A line for each connection: who asks stands in one, whatever is free.
  private final class Lines: LearnerConnections {
    private let pools: [AsyncPool<any LearnerConnection>]
    private let next = Mutex(0)

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pools = (0..<limit).map { _ in AsyncPool(maxElements: 1) { try await open() } }
    }

    func answer(to question: Int) async throws -> Int {
      let turn = next.withLock { next in
        next += 1
        return next
      }
      while true {
        let lease = try await pools[turn % pools.count].lease()
        do {
          return try await lease.element.answer(to: question)
        } catch is ConnectionBroken {
          lease.discard()
        }
      }
    }
  }

  @Test func `that give up a good one with one that broke are refused`() async {
    await expect(
      Grader.connections(Leasing<SecondGoesToo>.self),
      "error_after_break",
      refusedSaying: "also where another broke before"
    )
    await expect(
      Grader.connections(Leasing<IdleOnesGoToo>.self),
      "idle_stay",
      refusedSaying: "good ones were given up with it"
    )
  }

  @Test func `in which one waits for a connection though another is free are refused`() async {
    await expect(
      Grader.connections(Lines.self),
      "any_free",
      refusedSaying: "although one connection was free"
    )
  }

  @Test(arguments: ["error_after_break", "idle_stay", "any_free"])
  func `that keep all good ones pass`(_ name: String) async {
    await expect(Grader.connections(Leasing<Right>.self), name)
  }
}

extension `Pools of connections`.Flaw {
  static var givesUpTheSecond: Bool { false }
  static var givesUpIdleOnes: Bool { false }
}
