package import Foundation
internal import Limiters

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

// A file over HTTP, with its progress in bytes.
//
// The bytes go to `NAME.partial` as they come, and the file gets its name when the last is there. A
// transfer that is cut off, by an error, a cancellation or a suspension, leaves the partial file where it
// is. The next one asks the server for the rest only (`Range`); a server that cannot do that sends all, and
// the file begins anew.
//
// `URLSession` calls its delegate on a queue of its own, one call after the other: the writes block that
// queue and no thread that tasks run on.

/// Downloads files.
package final class Transfers: Sendable {
  /// How far a file has come, in bytes.
  package struct Progress: Hashable, Sendable {
    package let received: Int
    package let expected: Int

    /// Whole percent; of an empty file, all.
    package var percent: UInt8 {
      expected > 0 ? UInt8(clamping: received * 100 / expected) : 100
    }
  }

  private let session: URLSession
  private let inbox = Inbox()

  /// Opens at most so many connections to one server.
  package init(connections: Int) {
    let configuration = URLSessionConfiguration.ephemeral
    // The minute of the default is short for a server that shares a busy machine with its clients.
    configuration.timeoutIntervalForRequest = 600
    configuration.httpMaximumConnectionsPerHost = connections
    configuration.urlCache = nil
    session = URLSession(configuration: configuration, delegate: inbox, delegateQueue: nil)
  }

  deinit { session.invalidateAndCancel() }

  /// Downloads what is at an address into a file, from where it was cut off if it was.
  ///
  /// - Throws: `CancellationError` once the request of a cancelled task has ended; `BadStatus`; what
  ///   `URLSession` and the file system throw.
  package func download(
    _ url: URL,
    to file: URL,
    progress: @escaping @Sendable (Progress) -> Void = { _ in }
  ) async throws {
    let partial = file.appendingPathExtension("partial")
    var request = URLRequest(url: url)
    let there = Inbox.size(of: partial)
    if there > 0 { request.setValue("bytes=\(there)-", forHTTPHeaderField: "Range") }
    let task = session.dataTask(with: request)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        inbox.expect(task, Inbox.Transfer(partial, progress, continuation))
        task.resume()
      }
    } onCancel: {
      task.cancel()
    }
    try Inbox.complete(partial, as: file)
  }
}

/// Where what the session receives goes.
private final class Inbox: NSObject, URLSessionDataDelegate {
  struct Transfer: Sendable {
    let partial: URL
    let progress: @Sendable (Transfers.Progress) -> Void
    let continuation: CheckedContinuation<Void, any Error>
    var file: FileHandle?
    var received = 0
    var expected = 0
    var failure: (any Error)?

    init(
      _ partial: URL,
      _ progress: @escaping @Sendable (Transfers.Progress) -> Void,
      _ continuation: CheckedContinuation<Void, any Error>
    ) {
      self.partial = partial
      self.progress = progress
      self.continuation = continuation
    }
  }

  private let transfers = Lock<[Int: Transfer]>([:])

  func expect(_ task: URLSessionTask, _ transfer: Transfer) {
    transfers.withLock { $0[task.taskIdentifier] = transfer }
  }

  func urlSession(
    _ session: URLSession,
    dataTask: URLSessionDataTask,
    didReceive response: URLResponse,
    completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
  ) {
    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
    update(dataTask) { transfer in
      guard [200, 206].contains(status) else {
        throw HTTPClient.BadStatus(status: status, url: response.url ?? transfer.partial)
      }
      let file = try Self.open(transfer.partial, emptied: status == 200)
      transfer.file = file
      transfer.received = Int(try file.seekToEnd())
      transfer.expected = transfer.received + Int(response.expectedContentLength)
    }
    completionHandler(.allow)
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let progress = update(dataTask) { transfer in
      try transfer.file?.write(contentsOf: data)
      transfer.received += data.count
    }
    if let transfer = progress, transfer.failure == nil {
      transfer.progress(.init(received: transfer.received, expected: transfer.expected))
    }
  }

  func urlSession(
    _ session: URLSession,
    task: URLSessionTask,
    didCompleteWithError error: (any Error)?
  ) {
    guard let transfer = transfers.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else {
      return
    }
    try? transfer.file?.close()
    switch transfer.failure ?? error {
    case let error as URLError where error.code == .cancelled:
      transfer.continuation.resume(throwing: CancellationError())
    case let error?: transfer.continuation.resume(throwing: error)
    case nil: transfer.continuation.resume()
    }
  }

  /// Changes a transfer; one that cannot go on is cancelled, and ends with the error.
  @discardableResult
  private func update(
    _ task: URLSessionTask,
    _ change: (inout Transfer) throws -> Void
  ) -> Transfer? {
    guard var transfer = transfers.withLock({ $0[task.taskIdentifier] }) else { return nil }
    do {
      if transfer.failure == nil { try change(&transfer) }
    } catch {
      transfer.failure = error
      task.cancel()
    }
    // Nobody else changes it meanwhile: the session makes one call after the other.
    transfers.withLock { [transfer] in $0[task.taskIdentifier] = transfer }
    return transfer
  }

  static func size(of file: URL) -> Int {
    let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
    return (attributes?[.size] as? NSNumber)?.intValue ?? 0
  }

  /// Gives a file that is all there its name.
  static func complete(_ partial: URL, as file: URL) throws {
    if FileManager.default.fileExists(atPath: file.path) {
      try FileManager.default.removeItem(at: file)
    }
    try FileManager.default.moveItem(at: partial, to: file)
  }

  private static func open(_ file: URL, emptied: Bool) throws -> FileHandle {
    if emptied || !FileManager.default.fileExists(atPath: file.path) {
      guard FileManager.default.createFile(atPath: file.path, contents: nil) else {
        throw CocoaError(.fileWriteUnknown)
      }
    }
    return try FileHandle(forWritingTo: file)
  }
}
