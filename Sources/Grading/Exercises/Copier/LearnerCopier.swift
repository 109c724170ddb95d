/// What a learner mends in the exercise on two limits: copies that need a permit of each.
package protocol LearnerCopier: Sendable {
  /// Makes a copier of at most so many connections and so many open files.
  init(connections: Int, files: Int)

  /// Runs `copy` with a connection and a file.
  func download(_ copy: () async throws -> Void) async throws

  /// Runs `copy` with a connection and a file.
  func upload(_ copy: () async throws -> Void) async throws
}

/// Where two tasks meet: the first waits for the second.
actor Meeting {
  private var first: CheckedContinuation<Void, Never>?

  func come() async {
    guard let waiting = first else {
      return await withCheckedContinuation { first = $0 }
    }
    first = nil
    waiting.resume()
  }
}
