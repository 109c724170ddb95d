import Exploration
import Limiters
import RealWork
import Synchronization
import TestSupport
import Testing

@Suite(.inTurn, .watched) struct `Work that many ask for` {
  /// Counts how many run at once.
  final class Work: Sendable {
    private let counts = Mutex((now: 0, most: 0))

    var most: Int { counts.withLock { $0.most } }

    /// Work that is given up ends with an error, as a download does.
    func run() async throws -> Int {
      counts.withLock { counts in
        counts.now += 1
        counts.most = max(counts.most, counts.now)
      }
      await Task.yield()
      counts.withLock { $0.now -= 1 }
      try Task.checkCancellation()
      return 4
    }
  }

  @Test func `two who ask for the same never have it done twice at once`() throws {
    let verdict = try explore("two ask") {
      let flights = Flights<String, Int>()
      let work = Work()
      async let one = flights.value(for: "logo") { try await work.run() }
      async let two = flights.value(for: "logo") { try await work.run() }
      try require(try await one + two == 8, "the wrong value")
      try require(work.most == 1, "done twice at once")
    }
    #expect(verdict.schedules > 1)
  }

  /// Whoever asks after the cancelled one has left begins anew, beside the work that is being given up.
  @Test(.long) func `one of two is cancelled at any moment, and the other gets the value`() throws {
    let verdict = try explore("one is cancelled") {
      let flights = Flights<String, Int>()
      let work = Work()
      let one = Task { try await flights.value(for: "logo") { try await work.run() } }
      let two = Task { try await flights.value(for: "logo") { try await work.run() } }
      // By a task of its own: before the first asks, while its work is under way, or after that.
      let canceller = Task { one.cancel() }
      let value = try? await two.value
      try require(value == 4, "the other got \(value.map(String.init) ?? "an error")")
      _ = await (one.result, canceller.value)
      try require(work.most <= 2, "done three times at once")
    }
    #expect(verdict.schedules > 1)
  }

  @Test func `is done anew for who asks after it has ended`() async throws {
    let flights = Flights<String, Int>()
    let done = Atomic(0)
    for number in 1...3 {
      let value = try await flights.value(
        for: "logo",
        onJoining: { Issue.record("nothing is under way") },
        { done.add(1, ordering: .relaxed).newValue }
      )
      #expect(value == number)
    }
  }

  /// Work that takes no notice of its cancellation, until it is let go.
  private final class Deaf: Sendable {
    let hasBegun = Atomic(false)
    private let mayEnd: Condition
    private let end: Signal

    init() { (mayEnd, end) = Condition.makeCondition() }

    func letGo() { end.signal() }

    func run(_ value: Int) async throws -> Int {
      hasBegun.store(true, ordering: .releasing)
      try await mayEnd.waitUncancellably()
      return value
    }
  }

  private final class Token: Sendable {}

  /// Begins work and gives it up; what it returns says whether nothing is left of that work.
  private func giveUp(
    _ work: Deaf,
    _ flights: Flights<String, Int>
  ) async throws -> @Sendable () -> Bool {
    let token = Token()
    let task = Task {
      try await flights.value(for: "logo") { [token] in
        defer { withExtendedLifetime(token) {} }
        return try await work.run(1)
      }
    }
    try #require(await comes { work.hasBegun.load(ordering: .acquiring) })
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    return { [weak token] in token == nil }
  }

  @Test func `that is given up is joined by nobody, and takes nothing away when it ends`()
    async throws
  {
    let flights = Flights<String, Int>()
    let (old, new) = (Deaf(), Deaf())
    let isGone = try await giveUp(old, flights)
    let second = Task { try await flights.value(for: "logo") { try await new.run(2) } }
    try #require(
      await comes { new.hasBegun.load(ordering: .acquiring) },
      "it joined what was given up"
    )
    old.letGo()
    try #require(await comes { isGone() })
    let hasJoined = Atomic(false)
    let third = Task {
      try await flights.value(
        for: "logo",
        onJoining: { hasJoined.store(true, ordering: .releasing) },
        { 3 }
      )
    }
    #expect(await comes { hasJoined.load(ordering: .acquiring) }, "it began the work once more")
    new.letGo()
    #expect(try await second.value == 2)
    #expect(try await third.value == 2)
  }

  @Test func `of a task that was cancelled before is not begun`() async {
    let work = Work()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await Flights<String, Int>().value(for: "logo") { try await work.run() }
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(work.most == 0)
  }
}
