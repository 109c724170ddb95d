package import Foundation
internal import Limiters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Downloads with `URLSession`, as an app does.
package final class HTTPClient: Sendable {
  private let session: URLSession

  /// Makes a client that opens at most so many connections to one server.
  ///
  /// A request to which no byte has come for `stallAfter` fails with `URLError.timedOut`, so that a server
  /// that says nothing does not keep a permit.
  package init(connections: Int, stallAfter: Duration = .seconds(30)) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = stallAfter / .seconds(1)
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
  ///   `BadStatus` if the answer is not 200; `BadAnswer` if its body is not what its header says; what
  ///   `URLSession` throws.
  package func data(from url: URL) async throws -> Data {
    let answer = Answer()
    var question = URLRequest(url: url)
    // Images are compressed already. Of bytes that are compressed once more, and were cut off before that, the
    // session would bring what it can make of them, and no error.
    question.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    let request = session.dataTask(with: question) { answer.come($0, $1, $2) }
    request.resume()
    do {
      try await answer.isThere.wait()
    } catch {
      request.cancel()
      try await answer.isThere.waitUncancellably()
      throw error
    }
    let (data, response) = try answer.value()
    guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
    guard response.statusCode == 200 else { throw BadStatus(response, url) }
    if let encoding = response.value(forHTTPHeaderField: "Content-Encoding")?.lowercased(),
      encoding != "identity"
    {
      throw BadAnswer(.encoding(encoding), url)
    }
    // Of a body in chunks the session believes these, whatever length stands beside them.
    if let expected = response.value(forHTTPHeaderField: "Content-Length").flatMap({ Int($0) }),
      expected != data.count
    {
      throw BadAnswer(.length(received: data.count, expected: expected), url)
    }
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
