import Limiters
import Synchronization
import Testing

/// Counts the objects of this type that are alive.
final class Tracked: Sendable {
  final class Census: Sendable {
    private let count = Atomic(0)
    var living: Int { count.load(ordering: .acquiring) }
    fileprivate func change(by delta: Int) { count.add(delta, ordering: .acquiringAndReleasing) }
  }

  private let census: Census

  init(in census: Census) {
    self.census = census
    census.change(by: 1)
  }

  deinit { census.change(by: -1) }
}

struct Failure: Error, Equatable {}

/// Runs each job inside of what enqueues it.
final class AtOnceExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    job.runSynchronously(on: asUnownedTaskExecutor())
  }
}

/// What a process that was expected to stop said.
func message(of result: ExitTest.Result?) -> String {
  String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
}

/// A clock that stands still until a test moves it.
final class HandClock: Clock {
  struct Instant: InstantProtocol {
    var time: Duration
    func advanced(by duration: Duration) -> Self { Self(time: time + duration) }
    func duration(to other: Self) -> Duration { other.time - time }
    static func < (one: Self, other: Self) -> Bool { one.time < other.time }
  }

  private struct State {
    var now = Instant(time: .zero)
    var sleepers: [(until: Instant, id: Int, signal: Signal)] = []
    var made = 0
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .zero }
  /// How many tasks sleep.
  var sleeping: Int { state.withLock { $0.sleepers.count } }

  func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.until <= state.now }
      state.sleepers.removeAll { $0.until <= state.now }
      return due.map(\.signal)
    }
    for signal in due { signal.signal() }
  }

  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let (condition, signal) = Condition.makeCondition()
    let id: Int? = state.withLock { state in
      guard deadline > state.now else { return nil }
      state.made += 1
      state.sleepers.append((deadline, state.made, signal))
      return state.made
    }
    guard let id else { return }
    defer { state.withLock { $0.sleepers.removeAll { $0.id == id } } }
    try await condition.wait()
  }
}
