internal import Basics
internal import Synchronization

/// What a learner mends in the exercise on operations: a queue whose limit counts downloads.
package protocol LearnerDownloader: AnyObject, Sendable {
  /// Makes a downloader of at most `limit` files at once.
  init(limit: Int)

  /// Returns when all the files have been fetched, each as often as it stands in the list.
  func download(_ files: [Int], _ fetch: @escaping @Sendable (Int) async -> Void) async
}

/// A server that is none: it counts, and holds its answers back until so many ask at once.
final class FakeServer: Sendable {
  struct Counts {
    var begun = 0
    var ended = 0
    /// The most at once.
    var peak = 0
    /// How often each file was fetched.
    var fetches: [Int: Int] = [:]
    /// How many were asked for by a task that was cancelled then.
    var cancelled = 0
  }

  private struct State {
    var counts = Counts()
    var waiting: [CheckedContinuation<Void, Never>] = []
    /// No answer before so many have asked.
    var together: Int
  }

  private let state: Mutex<State>

  /// How long a transfer takes.
  private let moments: Int

  /// No answer before `together` have asked.
  init(together: Int = 1, moments: Int = 20) {
    state = Mutex(State(together: together))
    self.moments = moments
  }

  /// Answers whoever has asked, and from now on each at once.
  func answerAll() {
    let answered = state.withLock { state in
      state.together = 0
      defer { state.waiting = [] }
      return state.waiting
    }
    for waiter in answered { waiter.resume() }
  }

  var counts: Counts { state.withLock { $0.counts } }

  func fetch(_ file: Int) async {
    if Task.isCancelled { state.withLock { $0.counts.cancelled += 1 } }
    await withCheckedContinuation { continuation in
      let answered = state.withLock { state in
        state.counts.begun += 1
        state.counts.fetches[file, default: 0] += 1
        state.counts.peak = max(state.counts.peak, state.counts.begun - state.counts.ended)
        state.waiting.append(continuation)
        guard state.counts.begun >= state.together else {
          return [CheckedContinuation<Void, Never>]()
        }
        defer { state.waiting = [] }
        return state.waiting
      }
      for waiter in answered { waiter.resume() }
    }
    // A transfer takes a moment, in which others can be seen that should have waited. Not `Task.sleep`, which
    // ends late where other code keeps the pool.
    for _ in 0..<moments { await Moment.pass() }
    state.withLock {
      $0.counts.ended += 1
      if Task.isCancelled { $0.counts.cancelled += 1 }
    }
  }
}
