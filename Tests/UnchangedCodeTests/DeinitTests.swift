import Dispatch
import Exploration
import Synchronization
import TestSupport
import Testing

/// What a `deinit` reads and writes, and what is called where something is let go of.
@Suite(.inTurn, .watched) struct `Races in what lets go of an object` {
  /// What nobody checks: the compiler takes its word that it is shared well.
  final class Plain: @unchecked Sendable {
    // Safe only where a test says so: that is what is tested.
    var count = 0
    var free = [1, 2]
    func giveBack(_ number: Int) { free.append(number) }
  }

  final class Counted: @unchecked Sendable {
    // Safe as far as the test has it so.
    let plain: Plain
    init(_ plain: Plain) { self.plain = plain }
    deinit { plain.count += 1 }
  }

  final class Lent: Sendable {
    let pool: Plain
    init(_ pool: Plain) { self.pool = pool }
    deinit { pool.giveBack(3) }
  }

  private func race(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> String {
    let failure = try failure(name, body)
    guard case .race = failure.kind else { throw failure }
    return failure.description
  }

  /// What the verdict of a search that found nothing says of them.
  private func doubt(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws -> String? {
    try explore(name, body).notCovered.first { $0.hasPrefix("whether a deinit races") }
  }

  @Test func `of two that count in a deinit the verdict says that they may race, and where`() throws
  {
    let counts = try doubt("count") {
      let plain = Plain()
      async let one: Void = { _ = Counted(plain) }()
      async let other: Void = { _ = Counted(plain) }()
      _ = await (one, other)
    }
    #expect(
      counts?.contains("writes at DeinitTests.swift:21 what another writes at DeinitTests.swift:21")
        ?? false,
      "\(counts ?? "")"
    )
    let gives = try doubt("give back") {
      let pool = Plain()
      async let one: Void = { _ = Lent(pool) }()
      async let other: Void = { _ = Lent(pool) }()
      _ = await (one, other)
    }
    #expect(gives?.contains("DeinitTests.swift:14") ?? false, "\(gives ?? "")")
  }

  @Test func `a deinit races with who looks meanwhile`() throws {
    _ = try race("look") {
      let plain = Plain()
      async let counted: Void = { _ = Counted(plain) }()
      async let seen = plain.count
      _ = await (counted, seen)
    }
  }

  @Test func `the end of a stream that is let go of races with another, and with who looks`() throws
  {
    @Sendable func first(_ plain: Plain) async {
      let stream = AsyncStream<Int> { continuation in
        continuation.onTermination = { _ in plain.count += 1 }
        continuation.yield(1)
      }
      for await _ in stream { break }
    }
    let ends = try doubt("two ends") {
      let plain = Plain()
      async let one: Void = first(plain)
      async let other: Void = first(plain)
      _ = await (one, other)
    }
    #expect(ends?.contains("DeinitTests.swift:82") ?? false, "\(ends ?? "")")
    _ = try race("an end, and a look") {
      let plain = Plain()
      async let one: Void = first(plain)
      await Task.yield()
      _ = plain.count
      await one
    }
  }

  /// Explores what is right: neither a failure, nor a doubt.
  private func none(
    _ name: String,
    _ body: @escaping @Sendable () async throws -> Void
  ) throws {
    let said = try doubt(name, body)
    #expect(said == nil)
  }

  @Test func `a deinit behind a lock, or behind all who used the object, accuses nobody`() throws {
    try none("behind a lock") {
      let count = Mutex(0)
      final class Locked: Sendable {
        let added: @Sendable () -> Void
        init(_ added: @escaping @Sendable () -> Void) { self.added = added }
        deinit { added() }
      }
      let counter = Plain()
      let add: @Sendable () -> Void = { count.withLock { _ in counter.count += 1 } }
      async let one: Void = { _ = Locked(add) }()
      async let other: Void = { _ = Locked(add) }()
      _ = await (one, other)
      try require(counter.count == 2, "\(counter.count)")
    }
    try none("behind all who used it") {
      let plain = Plain()
      let counted = Counted(plain)
      let one = Task { [counted] in _ = counted.plain }
      let other = Task { [counted] in _ = counted.plain }
      _ = await (one.value, other.value)
    }
  }

  // What an array, a dictionary or an `Any` holds is let go of inside the library.
  @Test func `who lets go of what a collection holds comes before who lets go of it last`() throws {
    final class Parent: @unchecked Sendable {
      // Safe: the count is written by who comes first, and read by who comes behind, ordered by the counts of
      // references alone.
      let plain: Plain
      let children: [Counted]
      init(_ plain: Plain, _ children: [Counted]) {
        self.plain = plain
        self.children = children
      }
      deinit { plain.count += 1 }
    }
    for pieces in 1...2 {
      try none("children, \(pieces)") {
        let plain = Plain()
        let children = (0..<pieces).map { _ in Counted(plain) }
        let parent = Parent(plain, children)
        let one = Task { [parent] in _ = parent.children.count }
        _ = consume parent
        // No child outlives its parent but here, and then by this task.
        await one.value
        withExtendedLifetime(children) {}
      }
    }
    try none("of any type") {
      let plain = Plain()
      let held: [any Sendable] = [Counted(plain)]
      let table: [String: any Sendable] = ["it": held[0]]
      let one = Task { [held] in _ = held.count }
      let other = Task { [table] in _ = table.count }
      _ = await (one.value, other.value)
    }
    try none("the last one changes it in place") {
      let plain = Plain()
      let one = Task { [list = [plain]] in list[0].count }
      let value = await one.value
      plain.count = value + 1
    }
  }

  @Test func `a list that is let go of comes before who changes what was in it alone`() throws {
    // Known to be one's own by its count alone: the other has let go of it inside the library.
    struct Items: @unchecked Sendable {
      var of: [Plain]
    }
    try none("own") {
      var mine = Plain()
      let list = Items(of: [mine])
      let other = Task { [list] in _ = list.of[0].count }
      let box = Mutex<Items?>(list)
      let one = Task {
        box.withLock { $0 = nil }
        await Task.yield()
      }
      if isKnownUniquelyReferenced(&mine) { mine.count += 1 }
      _ = await (one.value, other.value)
    }
  }
}
