internal import Foundation
internal import Glibc

/// Standard output and standard error, by the system's own call.
///
/// `FileHandle.write(_:)` traps on Linux where something cannot be written: on a full disk, to a terminal
/// that was closed, to a reader that has left. What was measured must outlive all of them.
/// SIGPIPE must be ignored, or else a reader that leaves ends the process.
package struct OutputDescriptor: Hashable, Sendable {
  package enum Failure: Error, Equatable, CustomStringConvertible {
    /// Nobody reads any more: the other end of the pipe is closed, or the terminal is gone.
    case closed
    /// The disk, or the quota on it, is full.
    case full
    /// Anything else, as the system names it.
    case failed(errno: Int32)

    package var description: String {
      switch self {
      case .closed: "nobody is reading the output any more"
      case .full: "the disk is full: the output is cut short"
      case .failed(let code): "the output cannot be written: \(String(cString: strerror(code)))"
      }
    }
  }

  package static let standardOutput = OutputDescriptor(fileDescriptor: STDOUT_FILENO)
  package static let standardError = OutputDescriptor(fileDescriptor: STDERR_FILENO)

  private let fileDescriptor: Int32

  /// Returns once the system has taken all of `text`, however many calls that needs.
  package func write(_ text: String) throws(Failure) {
    let bytes = Array(text.utf8)
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(fileDescriptor, buffer.baseAddress.map { $0 + written }, buffer.count - written)
      }
      if count >= 0 {
        written += count
        continue
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: waitUntilWritable()
      case EPIPE, EIO: throw .closed
      case ENOSPC, EDQUOT: throw .full
      case let code: throw .failed(errno: code)
      }
    }
  }

  /// Another process may have made our end non-blocking: the flag belongs to the open file, which is shared.
  private func waitUntilWritable() {
    var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&descriptor, 1, -1)
  }
}
