import LessonBook
import Limiters
import TestSupport
import Testing

@testable import Grading

@Suite(.watched, .serialized, .long) struct `Grading of real work` {
  private func failed(_ book: GradeBook) async -> GradeItem? {
    var items: [GradeItem] = []
    let terms = GradeBook.Terms(
      seed: 1,
      sharesPool: true,
      processorTime: processorAtRest,
      sleeps: threadsAtRest
    )
    _ = await book.grade(terms) { items.append($0) }
    return items.first { !$0.passed }
  }

  // MARK: The cache

  /// Keeps each fetch, a task that belongs to nobody. `F` says what is forgotten when one fails.
  private actor Cache<F: Forgetting>: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: Fetches = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      do {
        return try await task.value
      } catch {
        F.forget(name, task, &fetches)
        throw error
      }
    }
  }

  private actor ForgetfulCache: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var images: [String: [UInt8]] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      if let image = images[name] { return image }
      let image = try await fetch(name)
      images[name] = image
      return image
    }
  }

  /// Says nothing of a fetch that fails.
  private actor SilentCache: LearnerImageCache {
    private let cache: Cache<ItsOwn>

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) {
      cache = Cache(fetch: fetch)
    }

    func image(_ name: String) async throws -> [UInt8] { (try? await cache.image(name)) ?? [] }
  }

  private actor HarshCache: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let task = fetches[name] ?? Task { [fetch] in try await fetch(name) }
      fetches[name] = task
      do {
        return try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        }
      } catch {
        if fetches[name] == task { fetches[name] = nil }
        throw error
      }
    }
  }

  /// The last who leaves has the fetch cancelled. What ends then may be another's fetch by now.
  private actor LastOneOut: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var images: [String: [UInt8]] = [:]
    private var fetches: [String: (task: Task<[UInt8], any Error>, waiting: Int)] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      if let image = images[name] { return image }
      var shared = fetches[name] ?? (Task { [fetch] in try await fetch(name) }, 0)
      shared.waiting += 1
      fetches[name] = shared
      let task = shared.task
      do {
        let image = try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          Task { await self.leave(name) }
        }
        images[name] = image
        return image
      } catch {
        fetches[name] = nil
        throw error
      }
    }

    private func leave(_ name: String) {
      fetches[name]?.waiting -= 1
      guard fetches[name]?.waiting == 0 else { return }
      fetches[name]?.task.cancel()
      fetches[name] = nil
    }
  }

  @Test func `a cache that fetches each image once passes, also on a real server`() async {
    let refused = await failed(Grader.imageCache(Cache<ItsOwn>.self))
    #expect(refused == nil, "\(refused.map { "\($0)" } ?? "")")
  }

  @Test func `caches that are wrong in one way fail at what they are wrong in`() async {
    #expect(await failed(Grader.imageCache(ForgetfulCache.self))?.name == "once")
    #expect(await failed(Grader.imageCache(Cache<Nothing>.self))?.name == "failures")
    #expect(await failed(Grader.imageCache(SilentCache.self))?.name == "failures")
    #expect(await failed(Grader.imageCache(Cache<Newest>.self))?.name == "again")
    // The first question in which others ask meanwhile.
    let everything = await failed(Grader.imageCache(Cache<Everything>.self))?.name
    #expect(everything == "failures_of_its_own")
    #expect(await failed(Grader.imageCache(HarshCache.self))?.name == "cancellation")
    let last = await failed(Grader.imageCache(LastOneOut.self))?.name
    // What the last one does as it leaves comes to the fetch of the next who asks.
    #expect(last == "failed_for_nobody", "\(last ?? "nothing")")
  }

  // MARK: The pool

  /// A solution: a broken connection is discarded, and its question asked again.
  private final class Surviving: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      while true {
        let lease = try await pool.lease()
        do {
          return try await lease.element.answer(to: question)
        } catch is ConnectionBroken {
          lease.discard()
        }
      }
    }
  }

  private final class Keeping: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      try await pool.withElement { try await $0.answer(to: question) }
    }
  }

  private final class Wasteful: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      do {
        return try await pool.withElement(onError: .discard) { try await $0.answer(to: question) }
      } catch is ConnectionBroken {
        return try await answer(to: question)
      }
    }
  }

  /// Has one connection, whatever it may have.
  private final class Single: LearnerConnections {
    private let pool: Surviving

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = Surviving(limit: 1, open: open)
    }

    func answer(to question: Int) async throws -> Int { try await pool.answer(to: question) }
  }

  /// Has two connections at most.
  private final class Couple: LearnerConnections {
    private let pool: Surviving

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = Surviving(limit: min(limit, 2), open: open)
    }

    func answer(to question: Int) async throws -> Int { try await pool.answer(to: question) }
  }

  /// Asks once more, and keeps what breaks then.
  private final class OnceMore: LearnerConnections {
    private let pool: AsyncPool<any LearnerConnection>

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = AsyncPool(maxElements: limit) { try await open() }
    }

    func answer(to question: Int) async throws -> Int {
      let lease = try await pool.lease()
      do {
        return try await lease.element.answer(to: question)
      } catch is ConnectionBroken {
        lease.discard()
      }
      return try await pool.withElement { try await $0.answer(to: question) }
    }
  }

  /// Made by hand, with a line of waiters. `F` says what is wrong with it.
  private actor HandMade<F: PoolFlaw>: LearnerConnections {
    private let limit: Int
    private let open: @Sendable () async throws -> any LearnerConnection
    private var idle: [any LearnerConnection] = []
    private var opened = 0
    private var line: [Signal] = []

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      self.limit = limit
      self.open = open
    }

    func answer(to question: Int) async throws -> Int {
      while true {
        let connection = try await take()
        do {
          let answer = try await connection.answer(to: question)
          giveBack(connection)
          return answer
        } catch is ConnectionBroken {
          opened -= 1
          giveBack(nil)
        } catch {
          giveBack(connection)
          throw error
        }
      }
    }

    private func take() async throws -> any LearnerConnection {
      while idle.isEmpty, opened == limit {
        let (condition, signal) = Condition.makeCondition()
        line.append(signal)
        if F.losesTurns {
          try await condition.wait()
        } else {
          try await condition.waitUncancellably()
        }
      }
      if let connection = idle.popLast() { return connection }
      opened += 1
      do {
        return try await open()
      } catch {
        if !F.countsFailedOpenings {
          opened -= 1
          giveBack(nil)
        }
        throw error
      }
    }

    private func giveBack(_ connection: (any LearnerConnection)?) {
      if let connection { idle.append(connection) }
      if !line.isEmpty { line.removeFirst().signal() }
    }
  }

  /// Tells nobody that a connection cannot be opened.
  private final class Silent: LearnerConnections {
    private let pool: Surviving

    init(limit: Int, open: @escaping @Sendable () async throws -> any LearnerConnection) {
      pool = Surviving(limit: limit) {
        while true {
          if let connection = try? await open() { return connection }
        }
      }
    }

    func answer(to question: Int) async throws -> Int { try await pool.answer(to: question) }
  }

  @Test func `a pool that replaces a broken connection passes, also on SQLite`() async {
    let item = await failed(Grader.connections(Surviving.self))
    #expect(item == nil, "\(item as Any)")
    let handMade = await failed(Grader.connections(HandMade<Sound>.self))
    #expect(handMade == nil, "\(handMade as Any)")
  }

  @Test func `pools that are wrong in one way fail at what they are wrong in`() async {
    #expect(await failed(Grader.connections(Keeping.self))?.name == "broken")
    #expect(await failed(Grader.connections(Wasteful.self))?.name == "errors")
    #expect(
      await failed(Grader.connections(HandMade<CountsFailedOpenings>.self))?.name == "unopened"
    )
    #expect(await failed(Grader.connections(Single.self))?.name == "together")
    #expect(await failed(Grader.connections(Couple.self))?.name == "together")
    #expect(await failed(Grader.connections(OnceMore.self))?.name == "broken_twice")
    #expect(await failed(Grader.connections(HandMade<LosesTurns>.self))?.name == "line")
    #expect(await failed(Grader.connections(Silent.self))?.name == "unopened")
  }
}

private typealias Fetches = [String: Task<[UInt8], any Error>]

/// What a cache forgets when a fetch fails.
private protocol Forgetting {
  static func forget(_ name: String, _ failed: Task<[UInt8], any Error>, _ fetches: inout Fetches)
}

/// Right: the fetch that failed, unless a newer one is kept by now.
private enum ItsOwn: Forgetting {
  static func forget(_ name: String, _ failed: Task<[UInt8], any Error>, _ fetches: inout Fetches) {
    if fetches[name] == failed { fetches[name] = nil }
  }
}

/// Wrong: every later caller gets the error again.
private enum Nothing: Forgetting {
  static func forget(_: String, _: Task<[UInt8], any Error>, _: inout Fetches) {}
}

/// Wrong: also a newer fetch of the same image.
private enum Newest: Forgetting {
  static func forget(_ name: String, _: Task<[UInt8], any Error>, _ fetches: inout Fetches) {
    fetches[name] = nil
  }
}

/// Wrong: the other images too.
private enum Everything: Forgetting {
  static func forget(_ name: String, _ failed: Task<[UInt8], any Error>, _ fetches: inout Fetches) {
    if fetches[name] == failed { fetches.removeAll() }
  }
}

private protocol PoolFlaw {
  /// A waiter that is cancelled stays in the line, and is given another's turn.
  static var losesTurns: Bool { get }
  /// A connection that could not be opened counts for ever.
  static var countsFailedOpenings: Bool { get }
}

extension PoolFlaw {
  static var losesTurns: Bool { false }
  static var countsFailedOpenings: Bool { false }
}

private enum Sound: PoolFlaw {}

private enum LosesTurns: PoolFlaw {
  static var losesTurns: Bool { true }
}

private enum CountsFailedOpenings: PoolFlaw {
  static var countsFailedOpenings: Bool { true }
}
