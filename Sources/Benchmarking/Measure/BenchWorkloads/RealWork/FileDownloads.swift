internal import Basics
internal import Foundation
package import Mechanisms
internal import RealWork

/// A list of files, all asked for at once and downloaded through the mechanism.
package struct FileDownloads: PairedWorkload {
  package let id = "files"
  package let question = "How long does a list of files take to download, and is every byte there?"
  package let guests = [URLSessionMechanism.id]
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    (limits ?? scale.pick(short: [4], standard: [4], full: [1, 4, 16])).map { limit in
      Cell(
        id,
        limit: limit,
        tasks: scale.pick(short: 8, standard: 8, full: 128),
        loop: .closed,
        arrivals: "together",
        serviceKind: ServiceKind.copy.rawValue
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.mayCarryRequests(cell)
  }

  /// A round is a whole list of files.
  package let share = 0.75

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let list = Double(cell.tasks ?? 0) * 22e-3 / Double(min(cell.limit ?? 1, 4))
    return 0.05 + list * Double(scale.rounds + 1)
  }

  package func runner(_ trial: Trial) async throws -> Runner {
    let requests = trial.cell.tasks ?? 16
    var settings = ImageServer.Settings()
    settings.seed = trial.request.seed
    settings.sizes = 65_536...262_144
    settings.bandwidth = 16 << 20
    let folder = try ScratchFolder("bench")
    let server = try await ImageServer(settings)
    let transfers = Transfers(connections: trial.connections)
    let mechanism = trial.makeMechanism()
    return .bursts(of: requests, trial) {
      let log = StampLog(capacity: requests)
      let file: @Sendable (Int) -> URL = {
        URL(fileURLWithPath: folder.path, isDirectory: true).appendingPathComponent("\($0)")
      }
      var burst = await RequestBurst(requests, log: log) { number in
        let task = SimulatedTask(number: number, service: 1, kind: .copy)
        try await mechanism.value(of: task, tracer: log, world: EmptyWorld()) {
          try await transfers.download(server.request(image: number).url, to: file(number))
        }
      }
      for number in 1...requests {
        if FileManager.default.contents(atPath: file(number).path) != server.image(number) {
          burst.violations.append("file \(number) is not what was served")
        }
        try? FileManager.default.removeItem(at: file(number))
      }
      burst.violations += log.violations(limit: trial.promisedLimit, expected: requests)
      return burst
    } end: { report in
      await server.stop()
      report.check(server.counts, limit: trial.promisedRequests)
      report.checkPermits(mechanism)
      withExtendedLifetime(folder) {}
    }
  }
}
