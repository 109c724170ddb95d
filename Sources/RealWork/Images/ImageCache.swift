package import Foundation
internal import Limiters

// Images from memory, or else from disk, or else from the network.
//
// What is limited is the network, and nothing else: a hit in memory that had to wait for a permit would
// make the cache as slow as what it saves. So the limiter stands around the closure that downloads, where
// the cache is made:
//
//     let limiter = ConcurrencyLimiter(concurrency: 4)
//     let cache = ImageCache(memoryBytes: 64 << 20, disk: store) { url in
//       try await limiter.run { try await client.data(from: url) }
//     }
//
// Looking on disk, downloading and keeping are one flight (see `Flights`) for all who ask for the image
// meanwhile: it is downloaded once, and cancelling one of them does not cancel the others. When all have
// been cancelled, so is the download; that takes it out of the limiter's line, or ends its request, and
// the permit and the connection are free.
//
// The permit is given back when the bytes are there: writing them to disk takes no permit. The image is
// in memory before its flight ends, so there is no moment at which it is neither on its way nor there.
//
// Nobody gets an image that could not be kept on disk: those who asked for it get the error, others are not
// concerned, and who asks again has it downloaded again. An app may rather show it; then ignore what `keep`
// throws.

/// Images by name, each downloaded once.
package final class ImageCache: Sendable {
  /// Where an image came from, or for what it is waited.
  package enum Answer: String, Hashable, Sendable {
    case memory
    case disk
    /// It is on its way already, for another who asked.
    case joined
    /// It has to be downloaded.
    case network
  }

  private let memory: Lock<MemoryStore>
  private let disk: DiskStore
  private let download: @Sendable (String) async throws -> Data
  private let flights = Flights<String, Data>()

  /// Makes a cache that keeps up to `memoryBytes` of images in memory and all on disk.
  ///
  /// `download` brings an image from the network: the place for a limiter.
  package init(
    memoryBytes: Int,
    disk: DiskStore,
    download: @escaping @Sendable (String) async throws -> Data
  ) {
    memory = Lock(MemoryStore(mostBytes: memoryBytes))
    self.disk = disk
    self.download = download
  }

  /// Finds the image of that name; `note` is told, as soon as it is known, where it comes from.
  ///
  /// - Returns: The image.
  /// - Throws: `CancellationError` as soon as the task is cancelled; what the download or the disk throws.
  package func image(
    _ name: String,
    noting note: @escaping @Sendable (Answer) -> Void = { _ in }
  ) async throws -> Data {
    if let image = memory.withLock({ $0.image(name) }) {
      note(.memory)
      return image
    }
    func join() { note(.joined) }
    return try await flights.value(for: name, onJoining: join) { [self] in
      // The flight that brought it may have ended a moment ago.
      if let image = memory.withLock({ $0.image(name) }) {
        note(.memory)
        return image
      }
      if let image = await disk.image(name) {
        note(.disk)
        memory.withLock { $0.keep(image, as: name) }
        return image
      }
      note(.network)
      let image = try await download(name)
      try await disk.keep(image, as: name)
      memory.withLock { $0.keep(image, as: name) }
      return image
    }
  }
}
