package import Foundation
internal import Limiters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// A file over HTTP, with its progress in bytes.
//
// The bytes go to `NAME.partial` as they come, and the file gets its name when the last is there. A
// transfer that is cut off, by an error, a cancellation, a suspension or the end of the process, leaves the
// partial file where it is, with a note of where it came from. The next one asks the server for the rest of
// that version (`Resumption`); a server that has another one, or cannot send parts, sends all, and the file
// begins anew.
//
// What is promised: a file that has its name is what the server sent, all of it and one version of it; it
// replaces an older one in one step. However the process ends, what is left can be gone on with, or is
// begun anew by itself. Two downloads of one file, also in two processes, take turns.
//
// What a production system would add: a checksum that comes another way than the bytes (a digest in a
// manifest), since the bytes can be wrong on the way and HTTP will not tell; a way to go on in the
// background when the app is not there (on Apple's systems, `URLSessionDownloadTask`); a limit on how much
// disk the partial files may take, and an age at which they go.
//
// `URLSession` calls its delegate on a queue of its own, one call after the other: all that the file needs
// is done on that queue, and blocks no thread that tasks run on.

/// Downloads files.
package final class Transfers: Sendable {
  /// How far a file has come, in bytes.
  package struct Progress: Hashable, Sendable {
    package let received: Int
    /// The length of the whole; nil if the server does not say.
    package let expected: Int?

    /// Whole percent, 0 while the length is not known; of an empty file, all.
    package var percent: UInt8 {
      guard let expected else { return 0 }
      return expected > 0 ? UInt8(clamping: received * 100 / expected) : 100
    }
  }

  private let session: URLSession
  private let inbox = Inbox()

  /// Opens at most so many connections to one server.
  ///
  /// A transfer to which no byte has come for `stallAfter` fails with `URLError.timedOut`, so that a server
  /// that says nothing does not keep a permit.
  package init(connections: Int, stallAfter: Duration = .seconds(30)) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.timeoutIntervalForRequest = stallAfter / .seconds(1)
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.urlCache = nil
    session = URLSession(configuration: configuration, delegate: inbox, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// Downloads what is at an address into a file, from where it was cut off if it was.
  ///
  /// While another download of the same file goes on, here or in another process, this one waits.
  ///
  /// - Throws: `CancellationError` once the request of a cancelled task has ended; `BadStatus`,
  ///   `BadAnswer`, `FileError`; what `URLSession` throws.
  package func download(
    _ url: URL,
    to file: URL,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let desk = Desk(url, file, progress)
    while try await !onQueue({ try desk.open() }) {
      // The lock of a file tells nobody that it is free, and the system's call that waits for it cannot be
      // cancelled. Whoever has the lock keeps it for as long as a download takes.
      try await Task.sleep(for: .milliseconds(20))
    }
    do {
      // Once more, if what was there turned out to be of no use.
      if try await !ask(desk), try await !ask(desk) {
        preconditionFailure("there was nothing left to be discarded at \(file.path)")
      }
      try await onQueue { try desk.complete() }
    } catch {
      try await onQueue { desk.leave() }
      throw error
    }
  }

  /// Makes one request, and waits for its end.
  ///
  /// - Returns: Whether the file is all there. If not, what was there was of no use, and is gone.
  private func ask(_ desk: Desk) async throws -> Bool {
    try Task.checkCancellation()
    let task = session.dataTask(with: try await onQueue { desk.request() })
    let (hasEnded, end) = Condition.makeCondition()
    inbox.expect(task, desk, end)
    task.resume()
    do {
      try await hasEnded.wait()
    } catch {
      // Not in a cancellation handler: see `HTTPClient.data(from:)`.
      task.cancel()
      try await hasEnded.waitUncancellably()
      throw error
    }
    return try await onQueue { try desk.result() }
  }

  /// Does something on the session's queue, where blocking harms nobody.
  private func onQueue<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      session.delegateQueue.addOperation { continuation.resume(with: Result(catching: work)) }
    }
  }
}

/// One download: its file, and how its present request goes.
///
/// Unchecked, because the compiler does not know of queues: `Transfers` and `Inbox` call everything here on
/// the session's queue, which makes one call after the other. Only `deinit` comes when nobody is left who could.
private final class Desk: @unchecked Sendable {
  private let url: URL
  private let file: URL
  private let progress: @Sendable (Transfers.Progress) -> Void
  private var partial: PartialFile?
  private var resumption: Resumption
  private var redirections = 0
  /// Whether the bytes that come belong into the file.
  private var isReceiving = false
  private var expected: Int?
  private var outcome: Result<Bool, any Error>?

  init(_ url: URL, _ file: URL, _ progress: @escaping @Sendable (Transfers.Progress) -> Void) {
    self.url = url
    self.file = file
    self.progress = progress
    resumption = Resumption(url: url.absoluteString, there: 0, from: nil)
  }

  deinit { partial?.close() }

  /// Whether nobody else downloads this file.
  func open() throws -> Bool {
    partial = try PartialFile.open(for: file)
    return partial != nil
  }

  func request() -> URLRequest {
    resumption = Resumption(
      url: url.absoluteString,
      there: partial?.size ?? 0,
      from: partial?.origin
    )
    redirections = 0
    isReceiving = false
    outcome = nil
    return asked(URLRequest(url: url))
  }

  /// Where the server says that the file is, unless it has said so ten times.
  func redirected(to request: URLRequest) -> URLRequest? {
    redirections += 1
    return redirections <= 10 ? asked(request) : nil
  }

  private func asked(_ request: URLRequest) -> URLRequest {
    var request = request
    // Compressed bytes have other lengths than those of the file.
    request.setValue("identity", forHTTPHeaderField: "Accept-Encoding")
    if let fields = resumption.fields {
      request.setValue(fields.range, forHTTPHeaderField: "Range")
      request.setValue(fields.ifRange, forHTTPHeaderField: "If-Range")
    }
    return request
  }

  /// Acts on the head of the answer; returns whether its body is wanted.
  func answered(_ response: URLResponse) -> Bool {
    guard let response = response as? HTTPURLResponse else {
      return fail(URLError(.badServerResponse))
    }
    do {
      switch resumption.verdict(on: AnswerHead(response)) {
      case .beginAnew(let origin):
        try partial?.begin(from: origin)
        expected = origin.length
        isReceiving = true
      case .goOn(let origin):
        expected = origin.length
        isReceiving = true
      case .isComplete:
        expected = partial?.size
        outcome = .success(true)
      case .discard:
        partial?.discard()
        outcome = .success(false)
      case .refuse(let refusal, let keeping):
        if !keeping { partial?.discard() }
        switch refusal {
        case .status: throw BadStatus(response, url)
        case .fault(let fault): throw BadAnswer(fault, url)
        }
      }
    } catch {
      return fail(error)
    }
    return isReceiving
  }

  /// Writes what came; returns whether more is wanted.
  func received(_ data: Data) -> Bool {
    guard isReceiving, let there = partial?.size else { return false }
    do {
      if let expected, there + data.count > expected {
        throw BadAnswer(.length(received: there + data.count, expected: expected), url)
      }
      try partial?.append(data)
    } catch {
      return fail(error)
    }
    progress(.init(received: there + data.count, expected: expected))
    return true
  }

  /// The request is over; `error` is what the session says of it.
  func ended(_ error: (any Error)?) {
    // What was found here comes before what the session says of a request that was cancelled for it.
    guard outcome == nil else { return }
    let received = partial?.size ?? 0
    if let error {
      // Of a connection that ends early the session says no more than that something was wrong.
      let isCut = isReceiving && (error as? URLError)?.code == .unknown
      outcome = .failure(
        isCut ? BadAnswer(.cutOff(received: received, expected: expected), url) : error
      )
    } else if let expected, expected != received {
      outcome = .failure(BadAnswer(.length(received: received, expected: expected), url))
    } else {
      outcome = .success(true)
    }
  }

  func result() throws -> Bool {
    guard let outcome else { preconditionFailure("a request had ended without a result") }
    return try outcome.get()
  }

  func complete() throws {
    try partial?.complete()
    close()
  }

  /// Leaves the file to the next download, or to none if nobody could go on with it.
  func leave() {
    if partial?.isOfUse == false { partial?.remove() }
    close()
  }

  private func close() {
    partial?.close()
    partial = nil
  }

  private func fail(_ error: any Error) -> Bool {
    isReceiving = false
    outcome = .failure(error)
    return false
  }
}

extension AnswerHead {
  fileprivate init(_ response: HTTPURLResponse) {
    func field(_ name: String) -> String? { response.value(forHTTPHeaderField: name) }
    self.init(
      status: response.statusCode,
      contentRange: field("Content-Range"),
      contentLength: field("Content-Length").flatMap { Int($0) },
      contentEncoding: field("Content-Encoding"),
      tag: field("ETag"),
      lastModified: field("Last-Modified"),
      date: field("Date")
    )
  }
}

extension BadStatus {
  init(_ response: HTTPURLResponse, _ url: URL) {
    self.init(
      status: response.statusCode,
      url: url,
      pauseAskedFor: retryAfter(response.value(forHTTPHeaderField: "Retry-After"))
    )
  }
}

/// Brings what the session receives to the download that it is for.
private final class Inbox: NSObject, URLSessionDataDelegate {
  private let desks = Lock<[Int: (desk: Desk, end: Signal)]>([:])

  func expect(_ task: URLSessionTask, _ desk: Desk, _ end: Signal) {
    desks.withLock { $0[task.taskIdentifier] = (desk, end) }
  }

  private func desk(_ task: URLSessionTask) -> Desk? {
    desks.withLock { $0[task.taskIdentifier]?.desk }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse,
    newRequest request: URLRequest,
    completionHandler: @escaping (URLRequest?) -> Void
  ) {
    completionHandler(desk(task)?.redirected(to: request))
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    if desk(dataTask)?.answered(response) != true { dataTask.cancel() }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    if desk(dataTask)?.received(data) != true { dataTask.cancel() }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didCompleteWithError error: (any Error)?
  ) {
    guard let entry = desks.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    entry.desk.ended(error)
    entry.end.signal()
  }
}
