import Basics
import ExplorableLimiters
import LessonBook
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercises on real work that are right but for one case.
@Suite(.watched, .serialized) struct `Real work in one case` {
  private func expect(
    _ book: GradeBook,
    _ name: String,
    refusedSaying part: String? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    let terms = GradeBook.Terms(seed: 1, executor: racetrack, sharesPool: true)
    let questions = book.questions.filter { $0.name == name }
    #expect(questions.count == 1, "no question is called \(name)", sourceLocation: location)
    for question in questions {
      let item = await onOwnThread { question.ask(terms) }
      #expect(item.passed == (part == nil), "\(item)", sourceLocation: location)
      if let part {
        #expect(item.sentence.contains(part), "\(item)", sourceLocation: location)
      }
    }
  }

  // MARK: Caches

  private enum KnowsByLastPart: CacheFlaw {
    static func key(_ name: String) -> String { String(name.split(separator: "/").last ?? "") }
  }

  private enum RoomForAThousand: CacheFlaw {
    static let room = 1_000
  }

  @Test func `caches are refused that mix up images or have no room for them`() async {
    func cache<F: CacheFlaw>(_ flaw: F.Type) -> GradeBook { Grader.imageCache(FlawedCache<F>.self) }
    await expect(
      cache(KnowsByLastPart.self),
      "many",
      refusedSaying: "who asked for 'a/logo' got 'logo'"
    )
    await expect(
      cache(RoomForAThousand.self),
      "many",
      refusedSaying: "was fetched 3 times. An image that is there is not fetched again"
    )
    await expect(cache(SoundCaching.self), "many")
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
