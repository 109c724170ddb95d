package import Foundation
internal import Limiters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Downloads with `URLSession`, as an app does.
package final class HTTPClient: Sendable {
  /// The server answered with something other than what was asked for.
  package struct BadStatus: Error, Hashable, CustomStringConvertible {
    package let status: Int
    package let url: URL

    package var description: String { "\(url.path): the server answered with status \(status)" }
  }

  private let session: URLSession

  /// Makes a client that opens at most so many connections to one server.
  package init(connections: Int) {
    let configuration = URLSessionConfiguration.ephemeral
    // The minute of the default is short for a server that shares a busy machine with its clients.
    configuration.timeoutIntervalForRequest = 600
    configuration.httpMaximumConnectionsPerHost = connections
    // What is cached, and how, is the business of `ImageCache`.
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.invalidateAndCancel() }

  /// The body of the answer.
  ///
  /// Not by `URLSession.data(from:)`, which can hang a task that is cancelled (swift-corelibs-foundation,
  /// Swift 6.3): its cancellation handler waits for the session's queue, and on that queue it resumes the
  /// task, which waits until the handler has ended. Here the request is cancelled outside any handler.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, which ends the request and its connection;
  ///   `BadStatus` if the answer is not 200; what `URLSession` throws.
  package func data(from url: URL) async throws -> Data {
    let answer = Answer()
    let request = session.dataTask(with: url) { answer.come($0, $1, $2) }
    request.resume()
    do {
      try await answer.isThere.wait()
    } catch {
      request.cancel()
      try await answer.isThere.waitUncancellably()
      throw error
    }
    let (data, response) = try answer.value()
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    guard status == 200 else { throw BadStatus(status: status, url: url) }
    return data
  }

  /// What a request brings, once.
  private final class Answer: Sendable {
    let isThere: Condition
    private let signal: Signal
    private let result = Lock<Result<(Data, URLResponse?), any Error>?>(nil)

    init() { (isThere, signal) = Condition.makeCondition() }

    func come(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
      result.withLock { $0 = error.map { .failure($0) } ?? .success((data ?? Data(), response)) }
      signal.signal()
    }

    func value() throws -> (Data, URLResponse?) {
      guard let result = result.withLock({ $0 }) else {
        preconditionFailure("an answer was signalled before it was there")
      }
      return try result.get()
    }
  }
}
