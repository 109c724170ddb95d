import Grading
import Limiters
import TestSupport
import Testing

/// Answers that keep something for each urgency that is one for all.
@Suite(.watched, .serialized) struct `Answers that have one thing for each urgency` {
  /// One of each kind for urgent tasks, and one for the others.
  private struct ByUrgency<Value: Sendable>: Sendable {
    private let normal: Value
    private let urgent: Value

    init(_ make: () -> Value) { (normal, urgent) = (make(), make()) }

    var mine: Value { Task.currentPriority > .medium ? urgent : normal }
  }

  private final class TwoLimits: LearnerDownloader {
    private let limiters: ByUrgency<ConcurrencyLimiter>

    init(limit: Int) { limiters = ByUrgency { ConcurrencyLimiter(concurrency: limit) } }

    func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async {
      let limiter = limiters.mine
      await withTaskGroup { group in
        for file in files {
          group.addTask {
            await limiter.runUncancellably { await Task { await fetch(file) }.value }
          }
        }
      }
    }
  }

  @Test func `a downloader is refused`() async {
    await expect(
      Grader.downloader(TwoLimits.self),
      "limit_of_two",
      refusedSaying: "ran at once. The limit is the downloader's"
    )
  }

  private actor TwoTurns: LearnerAccount {
    private var balance: Int
    private let bank: Bank
    private let turns = ByUrgency { ConcurrencyLimiter(concurrency: 1) }

    init(balance: Int, bank: Bank) {
      self.balance = balance
      self.bank = bank
    }

    func withdraw(_ amount: Int) async -> Bool {
      await turns.mine.runUncancellably {
        guard balance >= amount else { return false }
        await bank.approve()
        balance -= amount
        return true
      }
    }
  }

  @Test func `an account is refused`() async {
    await expect(
      Grader.account(TwoTurns.self),
      "come_and_go",
      refusedSaying: "were paid from 100"
    )
  }

  private final class TwoOfEach: LearnerCopier {
    private let limits: ByUrgency<(connections: ConcurrencyLimiter, files: ConcurrencyLimiter)>

    init(connections: Int, files: Int) {
      limits = ByUrgency {
        (ConcurrencyLimiter(concurrency: connections), ConcurrencyLimiter(concurrency: files))
      }
    }

    func download(_ copy: () async throws -> Void) async throws {
      let limits = limits.mine
      try await limits.connections.run { try await limits.files.run(copy) }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test func `a copier is refused`() async {
    await expect(Grader.copier(TwoOfEach.self), "no_ring", refusedSaying: "ran at once, limit 1")
  }

  private actor TwoFetches: LearnerImageCache {
    private let fetch: @Sendable (String) async throws -> [UInt8]
    private var fetches: [String: Task<[UInt8], any Error>] = [:]

    init(fetch: @escaping @Sendable (String) async throws -> [UInt8]) { self.fetch = fetch }

    func image(_ name: String) async throws -> [UInt8] {
      let key = (Task.currentPriority > .medium ? "urgent " : "") + name
      let task = fetches[key] ?? Task { [fetch] in try await fetch(name) }
      fetches[key] = task
      return try await task.value
    }
  }

  @Test func `a cache is refused`() async {
    await expect(
      Grader.imageCache(TwoFetches.self),
      "once",
      refusedSaying: "it was fetched 2 times"
    )
  }
}
