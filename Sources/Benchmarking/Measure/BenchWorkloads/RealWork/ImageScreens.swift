internal import Basics
internal import Foundation
internal import Mechanisms
internal import RealWork
internal import Synchronization

/// The images of one contestant: a server and a folder of its own, and screen after screen of images asked for all
/// at once.
///
/// In memory no screen finds anything. Where they are not to be found on disk either, every screen has other images,
/// and a new folder.
final class ImageScreens: Sendable {
  /// Images asked for by one screen.
  let requests: Int
  private let trial: Trial
  private let latency: Int64
  private let repeats: Bool
  private let server: ImageServer
  private let source: ImageSource
  private let folder: ScratchFolder
  private let mechanism: any Mechanism
  /// Where all images are kept, where they are on disk.
  private let warm: DiskStore?
  private let seen = Mutex(Seen())

  private struct Seen {
    var screens = 0
    var bytesKept = 0
  }

  init(_ trial: Trial, latency: Int64, repeats: Bool, isWarm: Bool) async throws {
    self.trial = trial
    self.latency = latency
    self.repeats = repeats
    requests = trial.cell.tasks ?? 32
    mechanism = trial.makeMechanism()
    folder = try ScratchFolder("bench")
    var settings = ImageServer.Settings()
    settings.seed = trial.request.seed
    settings.latency = .nanoseconds(latency)
    server = try await ImageServer(settings)
    source = ImageSource(server, connections: trial.connections)
    guard isWarm else {
      warm = nil
      return
    }
    let disk = try DiskStore(folder: Self.folder("all", in: folder))
    for image in 1...requests {
      try await disk.keep(server.image(image), as: ImageSource.name(ofImage: image))
    }
    warm = disk
  }

  /// Asks for the next screen.
  func next() async -> RequestBurst {
    let screen = seen.withLock { seen in
      defer { seen.screens += 1 }
      return seen.screens
    }
    let log = StampLog(capacity: requests)
    do {
      return try await ask(screen, log)
    } catch {
      return RequestBurst(failed: "the images cannot be kept: \(error)", log: log)
    }
  }

  private func ask(_ screen: Int, _ log: StampLog) async throws -> RequestBurst {
    let disk = try warm ?? DiskStore(folder: Self.folder("\(screen)", in: folder))
    let first = warm == nil ? screen * requests + 1 : 1
    let images = (0..<requests).map { first + image($0, on: screen) }
    // An image is fetched once, so its place will do for its fetch; who fetches it twice is found out.
    let places = Dictionary(
      uniqueKeysWithValues: Set(images).map { (ImageSource.name(ofImage: $0), $0 - first + 1) }
    )
    let (latency, mechanism, source) = (latency, mechanism, source)
    let cache = ImageCache(memoryBytes: 64 << 20, disk: disk) { name in
      let place = places[name] ?? 0
      let task = SimulatedTask(number: place, service: latency, kind: .fetch)
      return try await mechanism.value(of: task, tracer: log, world: EmptyWorld()) {
        try await source.image(first + place - 1)
      }
    }
    var burst = await RequestBurst(requests, log: log) { number in
      _ = try await cache.image(ImageSource.name(ofImage: images[number - 1]))
    }
    let fetched = warm == nil ? places.count : 0
    burst.violations += log.violations(limit: trial.promisedLimit, expected: fetched)
    if warm == nil {
      let kept = await disk.contents
      seen.withLock { $0.bytesKept += kept.bytes }
      if kept.partial > 0 { burst.violations.append("\(kept.partial) files are half-written") }
      try FileManager.default.removeItem(at: disk.folder)
    }
    return burst
  }

  /// Which of its images a screen asks for, counted from 0.
  private func image(_ place: Int, on screen: Int) -> Int {
    guard repeats else { return place }
    var generator = SplitMix64(
      seed: trial.request.seed,
      purpose: .item,
      number: screen * requests + place + 1
    )
    return generator.next(below: max(1, requests / 4))
  }

  /// Closes the server and says what it saw.
  func end(_ report: inout TrialReport) async {
    await server.stop()
    let (counts, seen) = (server.counts, seen.withLock { $0 })
    report.check(counts, limit: trial.promisedRequests)
    report.checkPermits(mechanism)
    let again = counts.transfers.values.reduce(0) { $0 + $1 - 1 }
    report.add(.duplicates, "total", Double(again), count: seen.screens * requests)
    if again > 0 { report.violations.append("\(again) images were fetched though they had been") }
    if warm == nil, seen.bytesKept != counts.bytes {
      report.violations.append("\(counts.bytes) bytes were served and \(seen.bytesKept) were kept")
    }
  }

  private static func folder(_ name: String, in folder: ScratchFolder) -> URL {
    URL(fileURLWithPath: folder.path, isDirectory: true)
      .appendingPathComponent(name, isDirectory: true)
  }
}
