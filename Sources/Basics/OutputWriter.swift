internal import Glibc

/// Writes whole texts to a file descriptor.
///
/// `print` cannot say that the reader of a pipe has gone or that a disk is full, and `FileHandle` traps on
/// Linux where it cannot write. This can, so that a closed pipe ends a program quietly and a full disk is
/// reported instead of cutting a file short.
/// SIGPIPE must be ignored: otherwise a closed pipe ends the process.
package struct OutputWriter: Hashable, Sendable {
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

  package static let standardOutput = OutputWriter(fileDescriptor: STDOUT_FILENO)
  package static let standardError = OutputWriter(fileDescriptor: STDERR_FILENO)

  package let fileDescriptor: Int32

  package init(fileDescriptor: Int32) {
    self.fileDescriptor = fileDescriptor
  }

  /// Returns once the system has taken all of `text`, however many calls that needs.
  package func write(_ text: String) throws(Failure) {
    try write(bytes: Array(text.utf8))
  }

  package func write(bytes: [UInt8]) throws(Failure) {
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

  /// Another process may have made our end non-blocking: the flag belongs to the open file, which is
  /// shared, and not to the descriptor.
  private func waitUntilWritable() {
    var descriptor = pollfd(fd: fileDescriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&descriptor, 1, -1)
  }
}
