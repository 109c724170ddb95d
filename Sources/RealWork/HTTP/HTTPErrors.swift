package import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// What can go wrong on the way, and whether another attempt may end better.
//
// A client that asks four times for a page that is not there, or for a file that the full disk cannot take,
// makes every failure four times as slow and helps nobody. A client that gives up at the first 503 fails
// where a second later all would have been well. So every error of this room says of itself whether it may
// pass; of those that come from the system, `isWorthRetrying(_:)` knows.

/// An error that says whether the same request may succeed if it is made again.
package protocol PassingError: Error {
  /// Whether another attempt may end better.
  var mayPass: Bool { get }
  /// How long the server asks its clients to wait before they come again; nil if it does not say.
  var pauseAskedFor: Duration? { get }
}

extension PassingError {
  package var pauseAskedFor: Duration? { nil }
}

/// The server answered with something other than what was asked for.
package struct BadStatus: PassingError, Hashable, CustomStringConvertible {
  package let status: Int
  package let url: URL
  package let pauseAskedFor: Duration?

  package init(status: Int, url: URL, pauseAskedFor: Duration? = nil) {
    self.status = status
    self.url = url
    self.pauseAskedFor = pauseAskedFor
  }

  /// Too many requests, a time-out, or trouble behind the server; all else is said of the request itself.
  package var mayPass: Bool { [408, 425, 429, 500, 502, 503, 504].contains(status) }

  package var description: String { "\(url.path): the server answered with status \(status)" }
}

/// The answer is not what its own header says, or not what was asked for.
package struct BadAnswer: PassingError, Hashable, CustomStringConvertible {
  package enum Fault: Hashable, Sendable {
    /// The body had fewer bytes, or more, than its header had said.
    case length(received: Int, expected: Int)
    /// The connection ended before the body did.
    case cutOff(received: Int, expected: Int?)
    /// A part of the file that was not asked for, or none that can be told.
    case range(String, askedFrom: Int)
    /// The rest of another version of the file than the one that has come so far.
    case otherVersion
    /// The bytes are compressed, though the client had asked for the file as it is.
    case encoding(String)
  }

  package let fault: Fault
  package let url: URL

  package init(_ fault: Fault, _ url: URL) {
    self.fault = fault
    self.url = url
  }

  package var mayPass: Bool {
    switch fault {
    case .length, .cutOff, .range, .otherVersion: true
    case .encoding: false
    }
  }

  package var description: String {
    let words =
      switch fault {
      case .length(let received, let expected):
        "\(received) bytes came of the \(expected) that the server had announced"
      case .cutOff(let received, let expected):
        "the connection ended after \(received)\(expected.map { " of \($0)" } ?? "") bytes"
      case .range(let range, let start):
        "the part from byte \(start) on was asked for, and the server sent '\(range)'"
      case .otherVersion:
        "the file has changed on the server since its first part came; it has to be downloaded anew"
      case .encoding(let name):
        "the server sent it encoded as '\(name)', though the file as it is was asked for"
      }
    return "\(url.path): \(words)"
  }
}

/// Whether the same request may succeed if it is made again: not when the fault is the request's own, the
/// disk's, or a cancellation.
package func isWorthRetrying(_ error: any Error) -> Bool {
  switch error {
  case let error as any PassingError: error.mayPass
  case let error as URLError: passing.contains(error.code)
  default: false
  }
}

/// Of what `URLSession` throws: the network's failures, which come and go.
private let passing: Set<URLError.Code> = [
  .timedOut, .cannotFindHost, .cannotConnectToHost, .networkConnectionLost, .dnsLookupFailed,
  .notConnectedToInternet, .badServerResponse, .cannotParseResponse,
  // On Linux: a connection that was reset, or closed before an answer or in the middle of one.
  .unknown,
]
