import Basics
import Foundation
import Glibc
import Limiters
import RealWork
import Synchronization

/// Asks an image cache for images over HTTP, one answer in ten being a failure, cancels 1,000 of those who
/// ask at random, and says what is left of them: descriptors are counted in a process of its own, where
/// nobody else opens any.
///
/// `fetch-storm CANCELLATIONS SEED`
@main
enum FetchStorm {
  static func main() async throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3, let cancellations = Int(arguments[1]),
      let seed = UInt64(arguments[2])
    else { exit(2) }
    // Opens what a process opens once, no matter how many storms follow.
    _ = try await storm(cancelling: 5, seed: seed)
    // The client closes its connections on a thread of its own, a moment after it has let go of them.
    var before = descriptors
    await comeToRest {
      defer { before = descriptors }
      return descriptors == before
    }
    let told = try await storm(cancelling: cancellations, seed: seed)
    await comeToRest { descriptors <= before }
    let after = descriptors
    print("\(told) descriptors=\(after - before)")
  }

  /// Waits until something holds fifty times in a row, or for as long as only a loss explains.
  private static func comeToRest(_ rests: () -> Bool) async {
    var inARow = 0
    for _ in 0..<10_000 where inARow < 50 {
      await Moment.pass()
      inARow = rests() ? inARow + 1 : 0
    }
  }

  private struct Visit {
    let image: Int
    /// After how many milliseconds it is cancelled; nil for never.
    let patience: Int?
    /// Whether nobody else wants that image.
    let isAlone: Bool
  }

  /// The images that have been asked of the server.
  private final class Begun: Sendable {
    private let images = Mutex<Set<Int>>([])

    func contains(_ image: Int) -> Bool { images.withLock { $0.contains(image) } }

    func insert(_ image: Int) { _ = images.withLock { $0.insert(image) } }
  }

  private static var descriptors: Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? -1
  }

  private static func storm(cancelling cancellations: Int, seed: UInt64) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    let disk = try DiskStore(folder: folder)
    var settings = ImageServer.Settings()
    settings.sizes = 64...4_096
    settings.failPercent = 10
    settings.seed = seed
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: 8)
    let limiter = ConcurrencyLimiter(concurrency: 4)
    let begun = Begun()
    let cache = ImageCache(memoryBytes: 8_192, disk: disk) { name in
      let number = Int(name) ?? 0
      return try await limiter.run {
        begun.insert(number)
        return try await source.image(number, latency: .milliseconds(3))
      }
    }
    // A third is let alone. A third waits with others for an image, and is cancelled after some milliseconds. A
    // third is alone in waiting for an image, and is cancelled while it is being served.
    var generator = SplitMix64(seed: seed)
    let visits = (0..<cancellations * 3 / 2).map { number in
      Visit(
        image: number % 3 == 2 ? 1_000 + number : generator.next(below: 100),
        patience: number % 3 == 0 ? nil : generator.next(below: number % 3 == 1 ? 150 : 4),
        isAlone: number % 3 == 2
      )
    }
    let (cancelled, wrong) = await withTaskGroup(of: (Bool, Bool).self) { group in
      for visit in visits {
        group.addTask {
          let asked = Task { try await cache.image("\(visit.image)") }
          if let patience = visit.patience {
            while visit.isAlone, !begun.contains(visit.image) {
              await Moment.pass()
            }
            for _ in 0..<patience { await Moment.pass() }
            asked.cancel()
          }
          guard case .success(let image) = await asked.result else {
            return (visit.patience != nil, false)
          }
          return (visit.patience != nil, image != server.image(visit.image))
        }
      }
      var counts = (0, 0)
      for await (wasCancelled, isWrong) in group {
        if wasCancelled { counts.0 += 1 }
        if isWrong { counts.1 += 1 }
      }
      return counts
    }
    // Those who asked have gone; what was fetched for them is being ended.
    await comeToRest { limiter.running == 0 && server.counts.serving == 0 }
    await server.stop()
    let (counts, kept) = (server.counts, await disk.contents)
    return """
      cancelled=\(cancelled) given-up=\(counts.cancelled) failed=\(counts.failed) \
      wrong=\(wrong) peak=\(counts.peakServing) permits=\(limiter.running) \
      serving=\(counts.serving) connections=\(counts.openConnections) partial=\(kept.partial)
      """
  }
}
