internal import Foundation
internal import Mechanisms
internal import RealWork

/// An image cache, whose misses go through the mechanism to a server of the run's own.
final class ImageWorkplace: Workplace {
  private let source: ImageSource
  private let disk: DiskStore
  private let cache: ImageCache
  private let fetches: FetchLog
  private let isBounded: Bool

  init(_ setup: WorkplaceSetup) async throws {
    var settings = ImageServer.Settings()
    settings.seed = setup.seed
    settings.capacity = setup.serverCapacity
    let server = try await ImageServer(settings)
    // As many connections as may be needed: it is the mechanism that limits, not the client.
    let source = ImageSource(server, connections: 1_000)
    let fetches = FetchLog(setup.tracer)
    self.source = source
    self.fetches = fetches
    isBounded = setup.serverCapacity != nil
    disk = try DiskStore(folder: setup.folder.appendingPathComponent("images"))
    cache = ImageCache(memoryBytes: 64 << 20, disk: disk) { name in
      guard let fetch = fetches.underWay(name) else { throw CancellationError() }
      let task = fetch.task
      return try await setup.mechanism.value(
        of: task,
        tracer: fetch,
        world: setup.world,
        hasArrived: true
      ) {
        try await WorkFailure.telling {
          try await source.image(
            task.item,
            latency: .nanoseconds(task.service),
            fails: task.fails
          )
        }
      }
    }
  }

  func carry(_ task: SimulatedTask) async {
    let name = "\(task.item)"
    fetches.arrive(task)
    do {
      _ = try await cache.image(name) { [fetches] in fetches.note($0, for: task, name) }
      fetches.leave(task, name, .finished)
    } catch is CancellationError {
      fetches.leave(task, name, nil)
    } catch {
      let failure = WorkFailure(error)
      if !task.fails { fetches.note(failure, of: task) }
      fetches.leave(task, name, .failed)
    }
  }

  func close() async -> [WorkFigure: Int] {
    await source.server.stop()
    let counts = source.server.counts
    let kept = await disk.contents
    var figures = fetches.counts
    if isBounded { figures[.requestsRefused] = counts.refused }
    return figures.merging([
      .imagesServed: counts.transfers.count,
      .mostTransfers: counts.transfers.values.max() ?? 0,
      .peakRequests: counts.peakServing,
      .peakConnections: counts.peakConnections,
      .bytesServed: counts.bytes,
      .bytesKept: kept.bytes,
      .filesKept: kept.images,
      .partialFiles: kept.partial,
    ]) { $1 }
  }
}
