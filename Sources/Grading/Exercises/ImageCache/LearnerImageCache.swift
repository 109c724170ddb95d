internal import Synchronization

/// What a learner writes in the exercise on the image cache: each image is fetched once.
package protocol LearnerImageCache: Sendable {
  /// Makes a cache that has nothing yet; `fetch` brings an image from the network.
  init(fetch: @escaping @Sendable (String) async throws -> [UInt8])

  /// The image of that name.
  func image(_ name: String) async throws -> [UInt8]
}

/// A network that is none: an image is its name, and a fetch takes a step.
final class FakeNetwork: Sendable {
  struct Offline: Error {}

  private let fetches = Mutex<[String: Int]>([:])
  private let failures: Int
  private let failure: any Error
  private let onFetch: @Sendable () -> Void

  /// The first fetches fail with that error, so many of each image; each calls `onFetch` when it begins.
  init(
    failures: Int = 0,
    failure: any Error = Offline(),
    onFetch: @escaping @Sendable () -> Void = {}
  ) {
    self.failures = failures
    self.failure = failure
    self.onFetch = onFetch
  }

  func count(_ name: String) -> Int { fetches.withLock { $0[name, default: 0] } }

  func fetch(_ name: String) async throws -> [UInt8] {
    let count = fetches.withLock { fetches in
      fetches[name, default: 0] += 1
      return fetches[name, default: 0]
    }
    onFetch()
    await Task.yield()
    try Task.checkCancellation()
    if count <= failures { throw failure }
    return Array(name.utf8)
  }
}
