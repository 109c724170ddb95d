import ExplorableLimiters
import ExplorableSynchronization
import Grading
import TestSupport
import Testing

/// Copiers that are right until one of the two limits has more room than the other, or one copy throws.
@Suite(.watched, .serialized) struct `Copiers of two limits that differ` {
  /// What of the two a copier gives back while a cancelled copy goes on.
  fileprivate protocol Early: SendableMetatype {
    static var isFile: Bool { get }
    /// Whether it gives it back only to somebody who waits.
    static var onlyToWaiters: Bool { get }
  }

  private enum TheFile: Early {
    static let isFile = true
  }

  private enum TheConnection: Early {
    static let isFile = false
  }

  private enum TheFileToAWaiter: Early {
    static let isFile = true
    static let onlyToWaiters = true
  }

  private final class GivesBackEarly<E: Early>: LearnerCopier {
    private let connections: ConcurrencyLimiter
    private let files: ConcurrencyLimiter

    init(connections: Int, files: Int) {
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
    }

    func download(_ copy: () async throws -> Void) async throws {
      let (kept, early) = E.isFile ? (connections, files) : (files, connections)
      try await kept.run {
        let token = try await early.acquire().detach()
        let isMine = Mutex(true)
        let giveBack: @Sendable () -> Void = {
          let mine = isMine.withLock { isMine in
            defer { isMine = false }
            return isMine
          }
          if mine { token.release() }
        }
        defer { giveBack() }
        try await withTaskCancellationHandler {
          try await copy()
        } onCancel: {
          if !E.onlyToWaiters || early.waiting > 0 { giveBack() }
        }
      }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test(.long)
  func `that give one of the two back while a cancelled copy goes on are refused`() async {
    await expect(
      Grader.copier(GivesBackEarly<TheFile>.self),
      "cancelled_copying",
      refusedSaying: "2 connections and 1 file: wrong in at least one schedule: 2 copied at once"
    )
    await expect(
      Grader.copier(GivesBackEarly<TheConnection>.self),
      "cancelled_copying",
      refusedSaying: "1 connection and 2 files: wrong in at least one schedule: 2 copied at once"
    )
    await expect(
      Grader.copier(GivesBackEarly<TheFileToAWaiter>.self),
      "cancelled_copying",
      refusedSaying: "an upload waits while a download copies"
    )
  }

  /// Who is cancelled as it waits for a file copies without one.
  private final class CopiesWithoutFile: LearnerCopier {
    private let connections: ConcurrencyLimiter
    private let files: ConcurrencyLimiter

    init(connections: Int, files: Int) {
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
    }

    func download(_ copy: () async throws -> Void) async throws {
      try await connections.run {
        let file: PermitToken?
        do { file = try await files.acquire().detach() } catch { file = nil }
        defer { file?.release() }
        try await copy()
      }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test(.long) func `that copy without a file where the wait was cancelled are refused`() async {
    await expect(
      Grader.copier(CopiesWithoutFile.self),
      "cancelled_copying",
      refusedSaying: "2 copied at once, and one may"
    )
  }

  /// What is wrong with a copier that takes connections first.
  fileprivate protocol Lapse: SendableMetatype {
    /// Whether who is cancelled as it gets its connection copies without a file.
    static var copiesWhenCancelled: Bool { get }
    /// Whether copies that a copy starts need nothing.
    static var isFreeInside: Bool { get }
    /// Whether uploads take files first where there are many.
    static var turnsWhereMany: Bool { get }
  }

  /// Whether the task is in a copy.
  private enum Copying {
    @TaskLocal static var isInside = false
  }

  fileprivate final class Lapsing<L: Lapse>: LearnerCopier {
    private let connections: ConcurrencyLimiter
    private let files: ConcurrencyLimiter
    private let areMany: Bool

    init(connections: Int, files: Int) {
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
      areMany = min(connections, files) >= 8
    }

    func download(_ copy: () async throws -> Void) async throws {
      if L.isFreeInside, Copying.isInside { return try await copy() }
      try await connections.run {
        if L.copiesWhenCancelled, Task.isCancelled { return try await copy() }
        try await files.run { try await Copying.$isInside.withValue(true) { try await copy() } }
      }
    }

    func upload(_ copy: () async throws -> Void) async throws {
      guard L.turnsWhereMany, areMany else { return try await download(copy) }
      try await files.run { try await connections.run { try await copy() } }
    }
  }

  private enum None: Lapse {}

  private enum CopiesWhenCancelled: Lapse {
    static let copiesWhenCancelled = true
  }

  private enum FreeInside: Lapse {
    static let isFreeInside = true
  }

  private enum TurnsWhereMany: Lapse {
    static let turnsWhereMany = true
  }

  @Test(.long)
  func `that are wrong between two permits, inside a copy or where there are many are refused`()
    async
  {
    await expect(
      Grader.copier(Lapsing<CopiesWhenCancelled>.self),
      "cancelled_between",
      refusedSaying: "who is cancelled copies with both permits or not at all"
    )
    await expect(
      Grader.copier(Lapsing<FreeInside>.self),
      "inside",
      refusedSaying: "needs a connection and a file of its own"
    )
    await expect(
      Grader.copier(Lapsing<TurnsWhereMany>.self),
      "no_ring_of_many",
      refusedSaying: "however many there are"
    )
    for name in ["cancelled_between", "inside", "no_ring_of_many"] {
      await expect(Grader.copier(Lapsing<None>.self), name)
    }
  }

  /// Takes files first when a copy has thrown, or never.
  private class InOrder: LearnerCopier, @unchecked Sendable {
    // Safe: what changes is atomic.
    private let connections: ConcurrencyLimiter
    private let files: ConcurrencyLimiter
    private let hasThrown = Atomic(false)

    required init(connections: Int, files: Int) {
      self.connections = ConcurrencyLimiter(concurrency: connections)
      self.files = ConcurrencyLimiter(concurrency: files)
    }

    var changes: Bool { false }

    func download(_ copy: () async throws -> Void) async throws {
      let isFilesFirst = changes && hasThrown.load(ordering: .sequentiallyConsistent)
      let (first, second) = isFilesFirst ? (files, connections) : (connections, files)
      do {
        try await first.run { try await second.run { try await copy() } }
      } catch {
        if !(error is CancellationError) {
          hasThrown.store(true, ordering: .sequentiallyConsistent)
        }
        throw error
      }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  private final class InAnotherOrderAfterAnError: InOrder, @unchecked Sendable {
    // Safe: it has nothing of its own.
    override var changes: Bool { true }
  }

  private final class OneAtATime: LearnerCopier {
    private let one = ConcurrencyLimiter(concurrency: 1)

    init(connections: Int, files: Int) {}

    func download(_ copy: () async throws -> Void) async throws {
      try await one.run { try await copy() }
    }

    func upload(_ copy: () async throws -> Void) async throws { try await download(copy) }
  }

  @Test func `that copy one at a time are told that two may, and not of a deadlock alone`() async {
    for name in ["both", "alike"] {
      await expect(
        Grader.copier(OneAtATime.self),
        name,
        refusedSaying: "look for what lets in one at a time"
      )
    }
  }

  @Test func `that take the two in another order after an error are refused`() async {
    await expect(
      Grader.copier(InAnotherOrderAfterAnError.self),
      "same_order_after",
      refusedSaying: "nothing can run any more"
    )
    for name in ["same_order_after", "cancelled_copying"] {
      await expect(Grader.copier(InOrder.self), name)
    }
  }
}

extension `Copiers of two limits that differ`.Early {
  static var onlyToWaiters: Bool { false }
}

extension `Copiers of two limits that differ`.Lapse {
  static var copiesWhenCancelled: Bool { false }
  static var isFreeInside: Bool { false }
  static var turnsWhereMany: Bool { false }
}
