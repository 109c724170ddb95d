import Basics
import Foundation
import Glibc
import Synchronization

/// A program of this build, run as a script runs it: no terminal, its output caught.
package struct BuiltProgram: Sendable {
  package struct Result: Sendable, Equatable {
    package var standardOutput: String
    package var standardError: String
    package var status: ExitStatus
  }

  package let path: String

  /// The program of an executable target on which the test target depends.
  package init(_ name: String) throws {
    path = try builtExecutable(name)
  }

  /// A program of the system, such as a shell that drives one of ours.
  package init(path: String) { self.path = path }

  /// Runs the program to its end; after `deadline` it is killed, and the call throws.
  ///
  /// `environment` is the whole of it, by default a plain one without the tester's settings. The
  /// program runs in `folder`, by default where the tests do.
  package func run(
    _ arguments: [String],
    standardInput: String = "",
    environment: [String: String] = plainEnvironment,
    folder: String? = nil,
    deadline: Duration = .seconds(300)
  ) async throws -> Result {
    let path = path
    return try await onOwnThread {
      try Self.runBlocking(
        path,
        arguments,
        standardInput: Array(standardInput.utf8),
        environment: environment,
        folder: folder,
        deadline: deadline
      )
    }
  }

  private static func runBlocking(
    _ path: String,
    _ arguments: [String],
    standardInput: [UInt8],
    environment: [String: String],
    folder: String?,
    deadline: Duration
  ) throws -> Result {
    var patience = Patience(deadline)
    signal(SIGPIPE, SIG_IGN)
    let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
    let child = try spawn(
      path,
      arguments,
      environment: environment,
      folder: folder,
      files: [input.readEnd, output.writeEnd, errors.writeEnd]
    )
    var reaped = false
    defer {
      if !reaped {
        kill(child, SIGKILL)
        waitpid(child, nil, 0)
      }
    }
    input.closeReadEnd()
    output.closeWriteEnd()
    errors.closeWriteEnd()

    _ = fcntl(input.writeEnd, F_SETFL, O_NONBLOCK)
    var unsent = standardInput[...]
    var caught: [[UInt8]] = [[], []]
    if unsent.isEmpty { input.closeWriteEnd() }
    while output.readEnd >= 0 || errors.readEnd >= 0 {
      // `poll` passes over negative descriptors: those closed already.
      var waiting = [
        pollfd(fd: output.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: errors.readEnd, events: Int16(POLLIN), revents: 0),
        pollfd(fd: input.writeEnd, events: Int16(POLLOUT), revents: 0),
      ]
      if patience.isOver() {
        throw TestSupportError(
          "\(path) \(arguments) did not end within \(deadline). "
            + "So far: \(String(decoding: caught[0] + caught[1], as: UTF8.self))"
        )
      }
      guard patience.wait(for: &waiting) else { continue }
      for (index, pipe) in [output, errors].enumerated() where waiting[index].revents != 0 {
        pipe.readOnce(into: &caught[index])
      }
      if waiting[2].revents != 0 {
        let sent = unsent.withUnsafeBytes { write(input.writeEnd, $0.baseAddress, $0.count) }
        if sent > 0 { unsent = unsent.dropFirst(sent) }
        // A program need not read all its input, or any.
        if unsent.isEmpty || sent < 0 && errno != EAGAIN { input.closeWriteEnd() }
      }
    }
    let status = try awaitExit(of: child, path, while: &patience)
    reaped = true
    return Result(
      standardOutput: String(decoding: caught[0], as: UTF8.self),
      standardError: String(decoding: caught[1], as: UTF8.self),
      status: status
    )
  }

  /// Both ends of a pipe, closed at the latest with the last reference; -1 once closed.
  private final class Pipe {
    private(set) var readEnd: Int32 = -1
    private(set) var writeEnd: Int32 = -1

    init() throws {
      var ends: [Int32] = [0, 0]
      try descriptors.withLock { _ in
        guard pipe(&ends) == 0 else { throw TestSupportError.system("no pipe can be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      }
      (readEnd, writeEnd) = (ends[0], ends[1])
    }

    deinit {
      closeReadEnd()
      closeWriteEnd()
    }

    func closeReadEnd() {
      if readEnd >= 0 { close(readEnd) }
      readEnd = -1
    }

    func closeWriteEnd() {
      if writeEnd >= 0 { close(writeEnd) }
      writeEnd = -1
    }

    /// Takes what there is; closes at the end of it.
    func readOnce(into bytes: inout [UInt8]) {
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = read(readEnd, &buffer, buffer.count)
      if count > 0 {
        bytes += buffer[..<count]
      } else if count == 0 || errno != EINTR {
        closeReadEnd()
      }
    }
  }
}

/// What programs under test find in their environment unless a test says otherwise: a known locale,
/// no colours from the tester's settings, no history of the tester's.
package let plainEnvironment: [String: String] = [
  "PATH": "/usr/bin:/bin",
  "HOME": "/nonexistent",
  "LANG": "C.UTF-8",
  "LD_LIBRARY_PATH": ProcessInfo.processInfo.environment["LD_LIBRARY_PATH"] ?? "",
  // Narrows the pool of the tests, and is to narrow that of the programs too.
  "LD_PRELOAD": ProcessInfo.processInfo.environment["LD_PRELOAD"] ?? "",
]
