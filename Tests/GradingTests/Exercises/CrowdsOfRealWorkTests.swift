import ExplorableLimiters
import ExplorableSynchronization
import TestSupport
import Testing

@testable import Grading

/// Answers to the exercises on real work that are right for the first hundred, and for small images.
@Suite(.watched, .serialized) struct `Real work in crowds` {
  /// Asks on the pool, where the tasks of an answer are too: what looks whether they get on waits for its turn there.
  private func expect(
    _ book: GradeBook,
    _ name: String,
    refusedSaying part: String? = nil,
    _ location: SourceLocation = #_sourceLocation
  ) async {
    await GradingTests.expect(book, name, refusedSaying: part, executor: nil, location)
  }

  // MARK: Caches

  /// What is wrong with a cache when many ask.
  protocol CrowdFlaw: SendableMetatype {
    /// Whether an image is fetched for who is the so manieth that asks for it.
    static func begins(_ asked: Int) -> Bool
    /// Whether an image of so many bytes is kept.
    static func keeps(_ bytes: Int) -> Bool
    /// How many images may be on their way.
    static var room: Int { get }
    /// How many failures are forgotten by the one who began the fetch.
    static var forgotten: Int { get }
  }

  private actor Crowded<F: CrowdFlaw>: LearnerImageCache {
    private struct Full: Error {}

    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]
    private var asked: [String: Int] = [:]
    private var underWay = 0
    private var failed = 0

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      asked[name, default: 0] += 1
      if F.begins(asked[name, default: 0]) { fetches[name] = nil }
      if fetches[name] == nil, underWay >= F.room { throw Full() }
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      underWay += 1
      defer { underWay -= 1 }
      do {
        let image = try await task.value
        if !F.keeps(image.count) { fetches[name] = nil }
        return image
      } catch {
        failed += 1
        if failed > F.forgotten || fetches[name] == task { fetches[name] = nil }
        throw error
      }
    }
  }

  enum NoFlaw: CrowdFlaw {}

  enum JoinsAThousand: CrowdFlaw {
    static func begins(_ asked: Int) -> Bool { asked.isMultiple(of: 1_000) }
  }

  enum KeepsSmallOnes: CrowdFlaw {
    static func keeps(_ bytes: Int) -> Bool { bytes < 1_000_000 }
  }

  enum RoomForAHundred: CrowdFlaw {
    static let room = 100
  }

  /// From the ninth failure on, whoever is told takes away what another has begun.
  enum ForgetsAnothers: CrowdFlaw {
    static let forgotten = 8
  }

  @Test func `caches that are right for a few, or for small images, are refused`() async {
    func cache<F: CrowdFlaw>(_ flaw: F.Type) -> GradeBook { Grader.imageCache(Crowded<F>.self) }
    await expect(
      cache(JoinsAThousand.self),
      "crowd",
      refusedSaying: "is not fetched again, however many ask and leave"
    )
    await expect(cache(KeepsSmallOnes.self), "large", refusedSaying: "however large it is")
    await expect(cache(RoomForAHundred.self), "under_way", refusedSaying: "tasks got no image")
    await expect(
      cache(ForgetsAnothers.self),
      "failure_for_thousands",
      refusedSaying: "only if it is still the one that is kept"
    )
    for name in ["crowd", "large", "under_way", "failure_for_thousands"] {
      await expect(cache(NoFlaw.self), name)
    }
  }

  /// Keeps an image for half a second.
  private actor ForHalfASecond: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches:
      [String: (task: Task<[UInt8], any Error>, begun: ContinuousClock.Instant)] =
        [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      if let begun = fetches[name]?.begun, .now - begun > .milliseconds(500) { fetches[name] = nil }
      let kept = fetches[name] ?? (Task { [fetch] in try await fetch(name) }, .now)
      fetches[name] = kept
      return try await kept.task.value
    }
  }

  @Test(.long) func `a cache that keeps an image for half a second is refused`() async {
    await expect(
      Grader.imageCache(ForHalfASecond.self),
      "quiet",
      refusedSaying: "that had been there for more than a second was fetched again"
    )
    await expect(Grader.imageCache(Crowded<NoFlaw>.self), "quiet")
  }

  // MARK: Connections

  /// What is wrong with a pool when much has happened.
  protocol PoolFlaw: SendableMetatype {
    static func most(_ limit: Int) -> Int
    /// Whether a question is asked again after so many breakages.
    static func asksAgain(_ broken: Int) -> Bool
    /// Whether a connection is kept after so many questions and errors.
    static func keeps(_ questions: Int) -> Bool
    static var room: Int { get }
  }

  private final class Worn<F: PoolFlaw>: LearnerConnections {
    private struct Full: Error {}

    private let pool: AsyncPool<any LearnerConnection>
    private let counts = Mutex((inside: 0, broken: 0, questions: 0))

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: F.most(limit)) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      let hasRoom = counts.withLock { counts in
        counts.inside += 1
        return counts.inside <= F.room
      }
      defer { counts.withLock { $0.inside -= 1 } }
      guard hasRoom else { throw Full() }
      while true {
        let lease = try await pool.lease()
        let number = counts.withLock { counts in
          counts.questions += 1
          return counts.questions
        }
        do {
          let answer = try await lease.element.answer(to: question)
          if !F.keeps(number) { lease.discard() }
          return answer
        } catch is ConnectionBroken {
          lease.discard()
          let broken = counts.withLock { counts in
            counts.broken += 1
            return counts.broken
          }
          if !F.asksAgain(broken) { throw ConnectionBroken() }
        }
      }
    }
  }

  enum NoWear: PoolFlaw {}

  enum SixtyFourAtMost: PoolFlaw {
    static func most(_ limit: Int) -> Int { min(limit, 64) }
  }

  enum ThirtyTwoBreakages: PoolFlaw {
    static func asksAgain(_ broken: Int) -> Bool { broken <= 32 }
  }

  enum GivenUpAfterAThousand: PoolFlaw {
    static func keeps(_ questions: Int) -> Bool { !questions.isMultiple(of: 1_000) }
  }

  enum AThousandInLine: PoolFlaw {
    static let room = 1_000
  }

  @Test(.long)
  func `pools that are right for the first questions, or for a short line, are refused`()
    async
  {
    func pool<F: PoolFlaw>(_ flaw: F.Type) -> GradeBook { Grader.connections(Worn<F>.self) }
    await expect(
      pool(SixtyFourAtMost.self),
      "limits",
      refusedSaying: "at a limit of 1100 no more than 64 are answered at once"
    )
    await expect(
      pool(ThirtyTwoBreakages.self),
      "many_breakages",
      refusedSaying: "Ask again, however many break"
    )
    await expect(
      pool(GivenUpAfterAThousand.self),
      "many_questions",
      refusedSaying: "a good one was given up"
    )
    await expect(
      pool(AThousandInLine.self),
      "long_line",
      refusedSaying: "Let anybody wait, however many do"
    )
    for name in ["limits", "many_breakages", "many_questions", "long_line", "cancelled_opening"] {
      await expect(pool(NoWear.self), name)
    }
  }

  /// A line of its own, whose waiters are resumed under its lock or behind it.
  private final class OwnLine<L: Leaving>: LearnerConnections {
    private struct State {
      var free: [any LearnerConnection] = []
      var places: Int
      var line: [Int: CheckedContinuation<Void, any Error>] = [:]
      var left: Set<Int> = []
      var count = 0
    }

    private let open: @Sendable () async throws -> any LearnerConnection
    private let state: Mutex<State>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      state = Mutex(State(places: limit))
      self.open = open
    }

    private func enter() async throws {
      let number = state.withLock { state in
        state.count += 1
        return state.count
      }
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation {
          (continuation: CheckedContinuation<Void, any Error>) in
          // Resumed once: here, or by who takes it out of the line.
          let isCancelled = state.withLock { state -> Bool? in
            if state.left.remove(number) != nil { return true }
            if state.places > 0 {
              state.places -= 1
              return false
            }
            state.line[number] = continuation
            return nil
          }
          switch isCancelled {
          case true: continuation.resume(throwing: CancellationError())
          case false: continuation.resume()
          case nil: break
          }
        }
      } onCancel: {
        let mine = state.withLock { state -> CheckedContinuation<Void, any Error>? in
          if let mine = state.line.removeValue(forKey: number) { return .some(mine) }
          state.left.insert(number)
          return nil
        }
        mine?.resume(throwing: CancellationError())
      }
    }

    private func leave() {
      let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
        guard let first = state.line.keys.min(), let next = state.line.removeValue(forKey: first)
        else {
          state.places += 1
          return nil
        }
        if !L.resumesUnderLock { return .some(next) }
        next.resume()
        return nil
      }
      next?.resume()
    }

    func answer(to question: Int) async throws -> Int {
      try await enter()
      defer { leave() }
      while true {
        let kept = state.withLock { $0.free.popLast() }
        let connection = if let kept { kept } else { try await open() }
        do {
          let answer = try await connection.answer(to: question)
          state.withLock { $0.free.append(connection) }
          return answer
        } catch is ConnectionBroken {
        } catch {
          state.withLock { $0.free.append(connection) }
          throw error
        }
      }
    }
  }

  protocol Leaving: SendableMetatype {
    static var resumesUnderLock: Bool { get }
  }

  enum UnderTheLock: Leaving {
    static let resumesUnderLock = true
  }

  enum BehindTheLock: Leaving {
    static let resumesUnderLock = false
  }

  @Test func `who resumes under the lock that a cancellation handler takes is told so`() async {
    await expect(
      Grader.connections(OwnLine<UnderTheLock>.self),
      "cancelled_in_line",
      refusedSaying: "Decide under the lock, and resume when it is free"
    )
    await expect(Grader.connections(OwnLine<BehindTheLock>.self), "cancelled_in_line")
  }

  /// Who leaves gives its place back and wakes one who waits: whoever comes between has the place too.
  private actor Counting: LearnerConnections {
    private let limit: Int
    private let open: @Sendable () async throws -> any LearnerConnection
    private var free: [any LearnerConnection] = []
    private var taken = 0
    private var line: [CheckedContinuation<Void, Never>] = []

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      self.limit = limit
      self.open = open
    }

    func answer(to question: Int) async throws -> Int {
      if taken >= limit { await withCheckedContinuation { line.append($0) } }
      taken += 1
      defer {
        taken -= 1
        if !line.isEmpty { line.removeFirst().resume() }
      }
      let connection = if let last = free.popLast() { last } else { try await open() }
      defer { free.append(connection) }
      return try await connection.answer(to: question)
    }
  }

  @Test func `who takes the place of one who was woken is refused`() async {
    await expect(
      Grader.connections(Counting.self),
      "newcomer",
      refusedSaying: "who comes took the place of who had waited for it"
    )
    await expect(Grader.connections(OwnLine<BehindTheLock>.self), "newcomer")
  }
}

extension `Real work in crowds`.CrowdFlaw {
  static func begins(_ asked: Int) -> Bool { false }
  static func keeps(_ bytes: Int) -> Bool { true }
  static var room: Int { .max }
  static var forgotten: Int { .max }
}

extension `Real work in crowds`.PoolFlaw {
  static func most(_ limit: Int) -> Int { limit }
  static func asksAgain(_ broken: Int) -> Bool { true }
  static func keeps(_ questions: Int) -> Bool { true }
  static var room: Int { .max }
}
