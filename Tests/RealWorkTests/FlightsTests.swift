import Exploration
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
  @Test func `one of two is cancelled at any moment, and the other gets the value`() throws {
    let verdict = try explore("one is cancelled") {
      let flights = Flights<String, Int>()
      let work = Work()
      let one = Task { try await flights.value(for: "logo") { try await work.run() } }
      let two = Task { try await flights.value(for: "logo") { try await work.run() } }
      one.cancel()
      let value = try? await two.value
      try require(value == 4, "the other got \(value.map(String.init) ?? "an error")")
      _ = await one.result
      try require(work.most <= 2, "done three times at once")
    }
    #expect(verdict.schedules > 1)
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
