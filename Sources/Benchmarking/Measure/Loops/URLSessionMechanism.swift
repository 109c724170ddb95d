internal import Mechanisms

/// No limiter: `URLSession` itself opens at most so many connections to the server, as its
/// `httpMaximumConnectionsPerHost` says.
struct URLSessionMechanism: RunMechanism {
  static let id = "url-session"

  static let profile = MechanismProfile(
    limit: .none,
    waiting: .none,
    order: .fifo,
    cancellation: .neverWaits,
    summary: "URLSession's own limit of connections, and no limiter",
    explanation: """
      The client is made with as many connections as the limit and given all requests at once: those \
      that find no connection wait inside it. It is measured where requests go over HTTP.
      """
  )

  init(_ setup: MechanismSetup) {}

  func run(_ body: () async throws -> Void) async throws { try await body() }
}

extension Trial {
  private var limitsConnections: Bool { request.mechanism == URLSessionMechanism.id }

  /// How many connections an HTTP client may open: as many as may be needed, where a mechanism limits.
  var connections: Int { limitsConnections ? limit : 1_000 }

  /// The number of requests promised to be on their way at once; nil for any.
  var promisedRequests: Int? { limitsConnections ? limit : promisedLimit }
}
