package import Foundation

/// A server and a client for it: what downloads images by their names, `image-17`.
package struct ImageSource: Sendable {
  package let server: ImageServer
  private let client: HTTPClient

  /// The client opens at most so many connections.
  package init(_ server: ImageServer, connections: Int) {
    self.server = server
    // This server is as slow as it is asked to be: ten minutes without a byte may be what a run wants.
    client = HTTPClient(connections: connections, stallAfter: .seconds(600))
  }

  package static func name(ofImage number: Int) -> String { "image-\(number)" }

  /// Downloads an image.
  ///
  /// - Throws: `CancellationError` if the task is cancelled; as `HTTPClient`.
  package func image(
    _ number: Int,
    latency: Duration? = nil,
    fails: Bool = false
  ) async throws -> Data {
    let (url, request) = server.request(image: number, latency: latency, fails: fails)
    do {
      return try await client.data(from: url)
    } catch {
      // Here and not in a cancellation handler: those inside the client run first, and the permit would be
      // with the next request before the server knew.
      if error is CancellationError { server.withdraw(request) }
      throw error
    }
  }
}
