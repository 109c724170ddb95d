internal import Basics
internal import Foundation
package import Mechanisms
internal import RealWork
internal import Synchronization
internal import Workloads

/// A screen of images, all asked for at once from a cache whose misses go through the mechanism.
package struct ImageCaching: BenchWorkload {
  package enum Images: String, Sendable {
    case distinct
    /// Four times as many requests as images.
    case repeated
  }

  private let images: Images
  /// Whether all images are on disk when they are asked for; memory is empty.
  private let isWarm: Bool

  package init(_ images: Images, isWarm: Bool = false) {
    self.images = images
    self.isWarm = isWarm
  }

  package var id: String { "image-cache-\(images.rawValue)\(isWarm ? "-warm" : "")" }
  package let guests = [URLSessionMechanism.id]
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package var question: String {
    let what =
      images == .distinct ? "a screen of different images" : "a screen on which images repeat"
    return isWarm
      ? "How long does \(what) take when all are on disk?"
      : "How long does \(what) take when all have to be fetched over HTTP, and is any fetched twice?"
  }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let own: [Int] =
      switch scale {
      case .ci: images == .repeated && !isWarm ? [4] : []
      case .quick: images == .distinct && !isWarm ? [4] : []
      case .standard: isWarm ? [4] : images == .distinct ? [1, 4] : [4]
      case .full: isWarm ? [4] : [1, 2, 4, 8, 16, 32]
      }
    let tasks =
      switch scale {
      case .ci, .quick: 16
      case .standard: 32
      case .full: 256
      }
    return (own.isEmpty ? [] : limits ?? own).map { limit in
      Cell(
        id,
        limit: limit,
        tasks: tasks,
        loop: .closed,
        arrivals: "together",
        serviceKind: ServiceKind.fetch.rawValue,
        serviceDistribution: "fixed",
        service: Self.latency
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.mayCarryRequests(cell)
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let fetches = Double(cell.tasks ?? 0) / (images == .repeated ? 4 : 1)
    let round = isWarm ? 0.02 : fetches * 4e-3 / Double(min(cell.limit ?? 1, 8))
    return 0.1 + 2 * max(round, Double(scale.budget) / 1e9)
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    await withTrialFolder(&report) { folder, report in
      try await measure(trial, folder, into: &report)
    }
  }

  private func measure(_ trial: Trial, _ folder: URL, into report: inout TrialReport) async throws {
    let rounds = RequestRounds(requests: trial.cell.tasks ?? 64)
    var settings = ImageServer.Settings()
    settings.seed = trial.request.seed
    settings.latency = .nanoseconds(Self.latency)
    let server = try await ImageServer(settings)
    let source = ImageSource(server, connections: trial.connections)
    let disk = try DiskStore(folder: folder)
    if isWarm {
      for image in 1...rounds.capacity {
        try await disk.keep(server.image(image), as: ImageSource.name(ofImage: image))
      }
    }
    let mechanism = trial.makeMechanism()
    // An image is fetched once, so its number will do for its fetch; who fetches it twice is found out.
    let log = StampLog(capacity: rounds.capacity)
    let numbers = Dictionary(
      uniqueKeysWithValues: (1...rounds.capacity).map { (ImageSource.name(ofImage: $0), $0) }
    )
    let cache = ImageCache(memoryBytes: 64 << 20, disk: disk) { name in
      let number = numbers[name] ?? 0
      let task = SimulatedTask(number: number, service: Self.latency, kind: .fetch)
      return try await mechanism.value(of: task, tracer: log, world: EmptyWorld()) {
        try await source.image(number)
      }
    }
    let asked = Mutex<Set<Int>>([])
    let seed = trial.request.seed
    let sent = await rounds.measure(budget: trial.request.budget, into: &report) { request in
      let image = image(request, of: rounds, seed)
      asked.withLock { _ = $0.insert(image) }
      _ = try await cache.image(ImageSource.name(ofImage: image))
    }
    await server.stop()

    let counts = server.counts
    let fetched = isWarm ? 0 : asked.withLock { $0.count }
    let statistics = VisitStatistics(log.visits())
    report.serviceKind = ServiceKind.fetch.rawValue
    report.add(.waiting, of: statistics.waits, inFull: false)
    report.add(.service, of: statistics.services, inFull: false)
    report.check(log, mechanism, limit: trial.promisedLimit, expected: fetched)
    report.check(counts, limit: trial.promisedRequests)
    let again = counts.transfers.values.reduce(0) { $0 + $1 - 1 }
    report.add(.duplicates, "total", Double(again), count: sent)
    if again > 0 { report.violations.append("\(again) images were fetched though they had been") }
    let kept = await disk.contents
    if kept.partial > 0 { report.violations.append("\(kept.partial) files are half-written") }
    if !isWarm, kept.bytes != counts.bytes {
      report.violations.append("\(counts.bytes) bytes were served and \(kept.bytes) are on disk")
    }
  }

  /// The image that a request is for: in every round others, numbered from 1.
  private func image(_ request: Int, of rounds: RequestRounds, _ seed: UInt64) -> Int {
    guard images == .repeated else { return request }
    let round = (request - 1) / rounds.requests
    var generator = SplitMix64(seed: seed, purpose: .item, number: request)
    return round * rounds.requests + 1 + generator.next(below: max(1, rounds.requests / 4))
  }

  /// Nanoseconds that the server takes before it answers.
  private static let latency: Int64 = 2_000_000
}
