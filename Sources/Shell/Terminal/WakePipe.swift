import Glibc

/// Wakes a thread that waits in `poll`, from another thread or from a signal handler.
struct WakePipe: Sendable {
  let readEnd: Int32
  let writeEnd: Int32

  init() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else {
      fatalError(
        "no pipe can be made: \(String(cString: strerror(errno))). "
          + "Too many files are open; close some, or raise 'ulimit -n'."
      )
    }
    readEnd = ends[0]
    writeEnd = ends[1]
    for end in ends {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  /// A full pipe is as good as a written one: the reader has yet to wake.
  func wake() {
    send(0)
  }

  func send(_ byte: UInt8) {
    var byte = byte
    while Glibc.write(writeEnd, &byte, 1) < 0, errno == EINTR {}
  }

  /// Takes what was sent, without waiting.
  func drain() -> [UInt8] {
    var taken: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64)
    while true {
      let count = read(readEnd, &buffer, buffer.count)
      if count > 0 {
        taken += buffer[..<count]
      } else if count == 0 || errno != EINTR {
        return taken
      }
    }
  }

  /// Waits until something was sent, and takes it.
  func wait() -> [UInt8] {
    var descriptor = pollfd(fd: readEnd, events: Int16(POLLIN), revents: 0)
    while poll(&descriptor, 1, -1) < 0, errno == EINTR {}
    return drain()
  }
}
