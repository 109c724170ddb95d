import Basics
import ExplorableLimiters
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercises on real work that are right but for one case.
@Suite(.watched, .serialized) struct `Real work in one case` {
  // MARK: Caches

  private enum KnowsByLastPart: CacheFlaw {
    static func key(_ name: String) -> String { String(name.split(separator: "/").last ?? "") }
  }

  private enum RoomForAThousand: CacheFlaw {
    static let room = 1_000
  }

  @Test(.long) func `caches are refused that mix up images or have no room for them`() async {
    func cache<F: CacheFlaw>(_ flaw: F.Type) -> GradeBook { Grader.imageCache(FlawedCache<F>.self) }
    await expect(
      cache(KnowsByLastPart.self),
      "many",
      refusedSaying: "who asked for 'a/logo' got 'logo'"
    )
    await expect(
      cache(RoomForAThousand.self),
      "many",
      refusedSaying: "was fetched 2 times. An image that is there is not fetched again"
    )
    await expect(cache(SoundCaching.self), "many")
  }

  /// Where three or more wait, it is worth another try.
  private actor TriesAgainForMany: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]
    private var waiting: [String: Int] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    private func isCrowded(_ name: String) -> Bool { waiting[name, default: 0] >= 3 }

    func image(_ name: String) async throws -> [UInt8] {
      let task =
        fetches[name]
        ?? Task { [fetch] in
          do { return try await fetch(name) } catch {
            if self.isCrowded(name) { return try await fetch(name) }
            throw error
          }
        }
      fetches[name] = task
      waiting[name, default: 0] += 1
      defer { waiting[name, default: 0] -= 1 }
      do { return try await task.value } catch {
        if fetches[name] == task { fetches[name] = nil }
        throw error
      }
    }
  }

  /// Keeps the last error, of whichever image.
  private actor OneErrorForAll: LearnerImageCache {
    private struct Failed: Error {}

    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]
    private var last: any Error = Failed()

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    private func note(_ error: any Error) { last = error }

    func image(_ name: String) async throws -> [UInt8] {
      let task =
        fetches[name]
        ?? Task { [fetch] in
          do { return try await fetch(name) } catch {
            self.note(error)
            throw Failed()
          }
        }
      fetches[name] = task
      do { return try await task.value } catch {
        if fetches[name] == task { fetches[name] = nil }
        throw last
      }
    }
  }

  /// Forgets a failed fetch when only two still wait for it.
  private actor ForgetsLate: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]
    private var waiting: [String: Int] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      waiting[name, default: 0] += 1
      do {
        let image = try await task.value
        waiting[name, default: 0] -= 1
        return image
      } catch {
        if waiting[name, default: 0] <= 2, fetches[name] == task { fetches[name] = nil }
        waiting[name, default: 0] -= 1
        throw error
      }
    }
  }

  @Test(.long) func `caches are refused that tell some of many of a failure, or of another's`()
    async
  {
    await expect(
      Grader.imageCache(TriesAgainForMany.self),
      "failure_for_all",
      refusedSaying: "of the six were told of the failure"
    )
    await expect(
      Grader.imageCache(OneErrorForAll.self),
      "failure_for_all",
      refusedSaying: "was told that the fetch of"
    )
    await expect(
      Grader.imageCache(ForgetsLate.self),
      "failure_for_all",
      refusedSaying: "a task that asked after the failure got the old error"
    )
    await expect(Grader.imageCache(FlawedCache<SoundCaching>.self), "failure_for_all")
  }

  // MARK: Connections

  /// What is done when a connection has broken or none could be opened.
  protocol Mending: SendableMetatype {
    /// Nil to ask again.
    static func whenCancelled() throws -> Int?
    /// Whether a connection that broke is given up by a task that was cancelled.
    static var discardsWhenCancelled: Bool { get }
    static var opensAgain: Bool { get }
  }

  private final class Mended<M: Mending>: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) {
        while true {
          do { return try await open() } catch is ConnectionBroken where M.opensAgain {}
        }
      }
    }

    func answer(to question: Int) async throws -> Int {
      while true {
        let lease = try await pool.lease()
        do {
          return try await lease.element.answer(to: question)
        } catch is ConnectionBroken {
          if !Task.isCancelled || M.discardsWhenCancelled { lease.discard() }
          if Task.isCancelled, let answer = try M.whenCancelled() { return answer }
        }
      }
    }
  }

  /// Right.
  enum AsksAgain: Mending {}

  /// Right too.
  enum TellsThatItBroke: Mending {
    static func whenCancelled() throws -> Int? { throw ConnectionBroken() }
  }

  enum MakesUpAnAnswer: Mending {
    static func whenCancelled() throws -> Int? { 0 }
  }

  enum LeavesItThere: Mending {
    static func whenCancelled() throws -> Int? { throw CancellationError() }
    static let discardsWhenCancelled = false
  }

  enum OpensAgain: Mending {
    static let opensAgain = true
  }

  @Test func `pools are refused that make up an answer, lend what broke or hide what did not open`()
    async
  {
    func pool<M: Mending>(_ mending: M.Type) -> GradeBook { Grader.connections(Mended<M>.self) }
    await expect(
      pool(MakesUpAnAnswer.self),
      "cancelled_broken",
      refusedSaying: "who was cancelled was told 0, which no connection has answered"
    )
    await expect(
      pool(LeavesItThere.self),
      "cancelled_broken",
      refusedSaying: "the connection that had broken was used again"
    )
    await expect(
      pool(OpensAgain.self),
      "broken_opening",
      refusedSaying: "'open' threw, and its task was not told"
    )
    for name in ["cancelled_broken", "broken_opening"] {
      await expect(pool(AsksAgain.self), name)
      await expect(pool(TellsThatItBroke.self), name)
    }
  }
}

extension `Real work in one case`.Mending {
  static func whenCancelled() throws -> Int? { nil }
  static var discardsWhenCancelled: Bool { true }
  static var opensAgain: Bool { false }
}
