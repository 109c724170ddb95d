internal import Foundation
internal import Limiters
internal import Mechanisms
internal import RealWork

/// Files that are downloaded through the mechanism, with their progress in bytes.
final class FileWorkplace: Workplace {
  private let setup: WorkplaceSetup
  private let server: ImageServer
  private let transfers: Transfers
  private let folder: URL

  init(_ setup: WorkplaceSetup) async throws {
    self.setup = setup
    var settings = ImageServer.Settings()
    settings.seed = setup.seed
    settings.capacity = setup.serverCapacity
    settings.sizes = 65_536...262_144
    settings.bandwidth = 4 << 20
    server = try await ImageServer(settings)
    // This server is as slow as it is asked to be: ten minutes without a byte may be what a run wants.
    transfers = Transfers(connections: 1_000, stallAfter: .seconds(600))
    folder = setup.folder.appendingPathComponent("files")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func carry(_ task: SimulatedTask) async {
    let visit = Visit(task, tracer: setup.tracer, world: setup.world) { [self] report in
      let (url, request) = server.request(
        image: task.item,
        latency: .nanoseconds(task.service),
        fails: task.fails
      )
      let reported = Lock(UInt8(0))
      do {
        try await transfers.download(url, to: folder.appendingPathComponent("\(task.number)")) {
          // As simulated downloads do: a report for each piece would be too many.
          let percent = $0.percent
          let share = SimulatedTask.progressReports.last { $0 <= percent } ?? 0
          let isNews = reported.withLock { reported in
            defer { reported = max(reported, share) }
            return share > reported
          }
          if isNews { report(share) }
        }
      } catch {
        if error is CancellationError {
          server.withdraw(request)
          throw error
        }
        throw WorkFailure(error)
      }
    }
    await setup.mechanism.carry(visit)
  }

  func close() async -> [WorkFigure: Int] {
    await server.stop()
    let counts = server.counts
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    // Beside a partial file there is a note of where it came from.
    let partial = files.count { $0.hasSuffix(".partial") }
    let whole = files.filter { !$0.contains(".partial") }
    let bytes = whole.map { name in
      let path = folder.appendingPathComponent(name).path
      return (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int) ?? 0
    }
    var figures: [WorkFigure: Int] = [
      .peakRequests: counts.peakServing,
      .peakConnections: counts.peakConnections,
      .bytesServed: counts.bytes,
      .bytesKept: bytes.reduce(0, +),
      .filesKept: whole.count,
      .partialFiles: partial,
    ]
    figures[.requestsRefused] = setup.serverCapacity.map { _ in counts.refused }
    return figures
  }
}
