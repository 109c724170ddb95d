internal import Foundation
package import Mechanisms
internal import RealWork
internal import Workloads

/// A list of files, all asked for at once and downloaded through the mechanism.
package struct FileDownloads: BenchWorkload {
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
        tasks: scale == .ci ? 8 : scale.pick(short: 16, standard: 16, full: 128),
        loop: .closed,
        arrivals: "together",
        serviceKind: ServiceKind.copy.rawValue
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.mayCarryRequests(cell)
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let round = Double(cell.tasks ?? 0) * 12e-3 / Double(min(cell.limit ?? 1, 8))
    return 0.1 + 2 * max(round, Double(scale.budget) / 1e9)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    await withTrialFolder(&report) { folder, report in
      try await measure(trial, folder, into: &report)
    }
  }

  private func measure(_ trial: Trial, _ folder: URL, into report: inout TrialReport) async throws {
    let rounds = RequestRounds(requests: trial.cell.tasks ?? 32)
    var settings = ImageServer.Settings()
    settings.seed = trial.request.seed
    settings.sizes = 65_536...262_144
    settings.bandwidth = 16 << 20
    let server = try await ImageServer(settings)
    let transfers = Transfers(connections: trial.connections)
    let mechanism = trial.makeMechanism()
    let log = StampLog(capacity: rounds.capacity)
    let sent = await rounds.measure(budget: trial.request.budget, into: &report) { number in
      let task = SimulatedTask(number: number, service: 1, kind: .copy)
      try await mechanism.value(of: task, tracer: log, world: EmptyWorld()) {
        let file = folder.appendingPathComponent("\(number)")
        try await transfers.download(server.request(image: number).url, to: file)
      }
    }
    await server.stop()

    let statistics = VisitStatistics(log.visits())
    report.serviceKind = ServiceKind.copy.rawValue
    report.add(.waiting, of: statistics.waits, inFull: false)
    report.add(.service, of: statistics.services, inFull: false)
    report.check(log, mechanism, limit: trial.promisedLimit, expected: sent)
    report.check(server.counts, limit: trial.promisedRequests)
    for number in 1...sent {
      let file = folder.appendingPathComponent("\(number)").path
      if FileManager.default.contents(atPath: file) != server.image(number) {
        report.violations.append("file \(number) is not what was served")
      }
    }
  }
}
