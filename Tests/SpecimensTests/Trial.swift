import Synchronization
import TestSupport

/// A limiter's `run`, wrong or right: what a trial sends tasks through.
typealias Admission = @Sendable (_ body: @Sendable () async throws -> Void) async throws -> Void

/// One limiter and the tasks a test sends through it, one job at a time.
///
/// Tasks run in the order in which they became ready, so a script of a test is one interleaving, and
/// the same for the limiter that is wrong and the one that is right.
final class Trial: Sendable {
  struct Outcome: Equatable {
    /// In the order of admission.
    var admitted: [Int]
    /// The most that ran at once.
    var peak: Int
    /// The tasks that have not ended, though nothing can run any more.
    var stuck: Set<Int>
  }

  struct Failure: Error {}

  private struct State {
    var admitted: [Int] = []
    var started: Set<Int> = []
    var ended: Set<Int> = []
    var gates: [Int: AsyncStream<Void>.Continuation] = [:]
  }

  let executor = HandDrivenExecutor()
  private let peak = PeakCount()
  private let state = Mutex(State())

  /// Sends a task on its way; its body passes at once.
  @discardableResult
  func start(_ number: Int, failing: Bool = false, _ admission: @escaping Admission) -> Task<
    Void, Never
  > {
    send(number, through: admission) {
      await Task.yield()
      if failing { throw Failure() }
    }
  }

  /// Sends a task on its way whose body stays until it is released.
  @discardableResult
  func startStaying(_ number: Int, _ admission: @escaping Admission) -> Task<Void, Never> {
    let (gate, opener) = AsyncStream<Void>.makeStream()
    state.withLock { $0.gates[number] = opener }
    return send(number, through: admission) { for await _ in gate {} }
  }

  /// Lets the body of a staying task go on, when its turn to run comes.
  func release(_ number: Int) { state.withLock { $0.gates[number] }?.finish() }

  /// Runs until nothing can run any more.
  func run() { executor.runAll() }

  var outcome: Outcome {
    state.withLock { state in
      Outcome(
        admitted: state.admitted,
        peak: peak.highest,
        stuck: state.started.subtracting(state.ended)
      )
    }
  }

  private func send(
    _ number: Int,
    through admission: @escaping Admission,
    body: @escaping @Sendable () async throws -> Void
  ) -> Task<Void, Never> {
    state.withLock { _ = $0.started.insert(number) }
    return Task(executorPreference: executor) { [self] in
      // How a task ends is of no interest here, only that it does.
      try? await admission { [self] in
        state.withLock { $0.admitted.append(number) }
        peak.enter()
        defer { peak.leave() }
        try await body()
      }
      state.withLock { _ = $0.ended.insert(number) }
    }
  }
}
