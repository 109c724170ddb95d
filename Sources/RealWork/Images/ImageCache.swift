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
//
// What is promised:
// - While somebody waits for an image, it is looked for, downloaded and kept once, in one process. Whoever
//   is cancelled goes at once, and alone.
// - An image from disk is byte for byte what was kept, as far as 64 bits of checksum can tell, or is fetched
//   again. A process that ends in the middle of a write leaves no image that is half there, and the next to
//   open the folder removes what it left (`DiskStore`).
// - Several processes may use one folder. Each downloads for itself: two may fetch the same image, and the
//   last to finish replaces the file in one step.
// - Memory holds up to `memoryBytes` of images, beside those under way; what was not asked for longest goes.
//
// What is not:
// - A limit on disk, or an age: no whole image is removed, but one that takes the place of a broken one in the moment
//   in which that is, which is fetched again. The server is not asked whether it has
//   another version, so a name has to mean one image for ever.
// - Another try: a failed download is an error to all who wait for it, and the next who asks begins anew.
// - Speed on disk: one thread reads and writes, one file after the other, and nothing waits for the disk to
//   have the bytes. After a power failure an image may be gone.
// - Urgency: a download runs at the priority of the task that asked first, whoever joins it.
// - Pictures: these are bytes; that they can be decoded nobody looks at.
//
// What a production system would use instead: an image pipeline, as Nuke or Kingfisher, over `URLCache`,
// which does as HTTP says (`Cache-Control`, `ETag`): an old image is asked for again and, unchanged, not
// sent. It limits the disk by bytes and age, keeps images decoded and no larger than they are shown, by
// address and size, lets memory go when the system asks, shows first what is on the screen, and tries again
// with a pause (`retrying`, as for downloads). Against forgers, rather than faults, it would compare a
// cryptographic digest. On a server it would put a proxy or a content network in front.

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
  /// - Throws: `CancellationError` as soon as the task is cancelled, unless the image is in memory; what the download
  ///   or the disk throws.
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
