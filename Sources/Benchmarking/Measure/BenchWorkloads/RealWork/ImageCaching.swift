package import Mechanisms

/// A screen of images, all asked for at once from a cache whose misses go through the mechanism.
package struct ImageCaching: PairedWorkload {
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
      case .standard: [4]
      case .full: isWarm ? [4] : [1, 2, 4, 8, 16, 32]
      }
    let tasks =
      switch scale {
      case .ci, .quick: images == .distinct ? 8 : 16
      case .standard: images == .distinct ? 12 : 32
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

  /// A round is a whole screen of requests.
  ///
  /// Where images repeat, few are fetched, and where they are on disk none: no limiter makes a difference that more
  /// blocks would show.
  package var share: Double { isWarm ? 0.5 : images == .distinct ? 0.75 : 0.375 }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let fetches = Double(cell.tasks ?? 0) / (images == .repeated ? 4 : 1)
    let screen = fetches * (isWarm ? 1e-3 : cell.limit == 1 ? 4.6e-3 : 2.7e-3)
    return 0.05 + screen * Double(scale.rounds + 1)
  }

  package func runner(_ trial: Trial) async throws -> Runner {
    let screens = try await ImageScreens(
      trial,
      latency: Self.latency,
      repeats: images == .repeated,
      isWarm: isWarm
    )
    return .bursts(of: screens.requests, trial) {
      await screens.next()
    } end: { report in
      await screens.end(&report)
    }
  }

  /// Nanoseconds that the server takes before it answers.
  private static let latency: Int64 = 2_000_000
}
