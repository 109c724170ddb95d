internal import Basics
internal import Dispatch
internal import Foundation
internal import LessonBook
internal import Limiters

/// What a learner mends in the exercise on GCD: files that are downloaded so many at once, by calls that block.
package protocol LearnerBatch: Sendable {
  /// Makes a batch of at most `limit` downloads at once.
  init(limit: Int)

  /// Begins to download the files, each with one call of `fetch`, which blocks its thread; returns at once.
  ///
  /// - Parameters:
  ///   - files: the numbers of the files; one that stands there twice is downloaded twice.
  ///   - fetch: downloads one.
  ///   - whenAll: to be called once all have come.
  func download(
    _ files: [Int],
    _ fetch: @escaping @Sendable (Int) -> Void,
    whenAll: @escaping @Sendable () -> Void
  )
}

/// What one batch of downloads has done.
final class BatchWatch: Sendable {
  private struct State {
    var running = 0
    var peak = 0
    var fetched: [Int: Int] = [:]
    /// How many had ended when `whenAll` was called, each time it was.
    var endedAtCall: [Int] = []
    var ended = 0
    var begun = 0
  }

  private let state = Lock(State())

  /// - Returns: how many had begun before.
  @discardableResult
  func begin(_ file: Int) -> Int {
    state.withLock { state in
      defer { state.begun += 1 }
      state.running += 1
      state.peak = max(state.peak, state.running)
      state.fetched[file, default: 0] += 1
      return state.begun
    }
  }

  func end() {
    state.withLock {
      $0.running -= 1
      $0.ended += 1
    }
  }

  func allHaveCome() { state.withLock { $0.endedAtCall.append($0.ended) } }

  var begun: Int { state.withLock { $0.begun } }
  var ended: Int { state.withLock { $0.ended } }
  var running: Int { state.withLock { $0.running } }
  var peak: Int { state.withLock { $0.peak } }
  var isOver: Bool { state.withLock { !$0.endedAtCall.isEmpty } }

  func count(of file: Int) -> Int { state.withLock { $0.fetched[file, default: 0] } }

  /// What is wrong with a batch of `files` that is over; nil if nothing is.
  func fault(_ files: [Int], limit: Int) -> String? {
    state.withLock { state in
      if state.peak > limit { return "\(state.peak) ran at once" }
      // Before the files are counted, some of which had not been begun then.
      if let ended = state.endedAtCall.first, ended < files.count {
        return "'whenAll' was called when \(ended) of \(files.count) had come"
      }
      let wanted = Dictionary(files.map { ($0, 1) }, uniquingKeysWith: +)
      if let file = files.first(where: { state.fetched[$0] != wanted[$0] }) {
        return "file \(file) was fetched \(Grader.howOften(state.fetched[file, default: 0]))"
          + (wanted[file] == 1 ? "" : ", and stands in the list \(wanted[file, default: 0]) times")
      }
      if state.fetched.count != wanted.count { return "a file was fetched that is in no list" }
      if state.endedAtCall.count > 1 {
        return "'whenAll' was called \(state.endedAtCall.count) times"
      }
      return nil
    }
  }
}
