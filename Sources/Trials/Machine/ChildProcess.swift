internal import Basics
internal import Foundation

/// A program run to its end, with everything it wrote.
///
/// Spawned by hand because a trial needs three things Foundation's `Process` does not give: a process
/// group of its own (Ctrl-C is for us, not for the trial), a lifeline (the child learns at once when we
/// are killed), and one thread that reads both pipes and keeps the deadline.
package struct ChildProcess: Sendable {
  package enum Status: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// Still running at its deadline, and then killed.
    case outOfTime
    /// Killed because the user asked to stop.
    case interrupted
  }

  package enum Failure: Error, CustomStringConvertible {
    case cannotStart(String, String)

    package var description: String {
      switch self {
      case .cannotStart(let path, let reason): "cannot start \(path): \(reason)"
      }
    }
  }

  package var status: Status
  package var output: String
  package var errors: String

  /// Runs `path` and waits for its end.
  ///
  /// The child is killed after `deadline` seconds, or once `isInterrupted`, asked ten times a second,
  /// is true.
  package static func run(
    _ path: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    deadline: Double,
    isInterrupted: () -> Bool = { false }
  ) throws(Failure) -> ChildProcess {
    guard let lifeline = Pipe(), let output = Pipe(), let errors = Pipe() else {
      throw .cannotStart(path, "no pipes: \(String(cString: strerror(errno)))")
    }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, lifeline.readEnd, 0)
    posix_spawn_file_actions_adddup2(&actions, output.writeEnd, 1)
    posix_spawn_file_actions_adddup2(&actions, errors.writeEnd, 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    posix_spawnattr_setpgroup(&attributes, 0)

    let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var argumentPointers: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
    argumentPointers.append(nil)
    var variablePointers: [UnsafeMutablePointer<CChar>?] = variables.map { strdup("\($0)=\($1)") }
    variablePointers.append(nil)
    defer { for pointer in argumentPointers + variablePointers { free(pointer) } }

    var child: pid_t = 0
    let failure = posix_spawn(
      &child,
      path,
      &actions,
      &attributes,
      argumentPointers,
      variablePointers
    )
    guard failure == 0 else { throw .cannotStart(path, String(cString: strerror(failure))) }
    lifeline.closeReadEnd()
    output.closeWriteEnd()
    errors.closeWriteEnd()

    var stop: Status?
    let collected = collect(
      output.readEnd,
      errors.readEnd,
      until: MachineClock.monotonic() + Int64(deadline * 1e9),
      isInterrupted: isInterrupted
    ) { reason in
      stop = reason
      kill(child, SIGKILL)
    }
    var waitStatus: Int32 = 0
    while waitpid(child, &waitStatus, 0) == -1, errno == EINTR {}
    let signal = waitStatus & 0x7F
    return ChildProcess(
      status: stop ?? (signal == 0 ? .exited((waitStatus >> 8) & 0xFF) : .killed(signal: signal)),
      output: String(decoding: collected.output, as: UTF8.self),
      errors: String(decoding: collected.errors, as: UTF8.self)
    )
  }

  /// Reads both pipes to their ends; calls `stop` once if the deadline passes or the user interrupts.
  private static func collect(
    _ output: Int32,
    _ errors: Int32,
    until end: Int64,
    isInterrupted: () -> Bool,
    stop: (Status) -> Void
  ) -> (output: [UInt8], errors: [UInt8]) {
    var collected: (output: [UInt8], errors: [UInt8]) = ([], [])
    var watched = [
      pollfd(fd: output, events: Int16(POLLIN), revents: 0),
      pollfd(fd: errors, events: Int16(POLLIN), revents: 0),
    ]
    var buffer = [UInt8](repeating: 0, count: 65_536)
    var isStopped = false
    while watched.contains(where: { $0.fd >= 0 }) {
      if !isStopped, isInterrupted() {
        stop(.interrupted)
        isStopped = true
      } else if !isStopped, MachineClock.monotonic() >= end {
        stop(.outOfTime)
        isStopped = true
      }
      guard poll(&watched, nfds_t(watched.count), 100) > 0 else { continue }
      for index in watched.indices where watched[index].fd >= 0 && watched[index].revents != 0 {
        let count = read(watched[index].fd, &buffer, buffer.count)
        if count > 0, index == 0 {
          collected.output += buffer[..<count]
        } else if count > 0 {
          collected.errors += buffer[..<count]
        } else if count == 0 || errno != EINTR {
          // A negative descriptor is one that poll passes over.
          watched[index].fd = -1
        }
      }
    }
    return collected
  }
}

/// Both ends of a pipe, closed when this goes away; children inherit only what is handed to them.
private final class Pipe {
  private(set) var readEnd: Int32
  private(set) var writeEnd: Int32

  init?() {
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { return nil }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
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
}

/// Ends this process when the one that spawned it goes away, however it goes.
///
/// Standard input is the read end of a pipe that nobody writes to. When its last writer is gone, the
/// kernel sends SIGIO to the owner of the read end, and SIGIO's default is to end the process. No
/// thread has to wait for it, so none is in the figures.
package enum Lifeline {
  package static func hold() {
    _ = fcntl(0, F_SETOWN, getpid())
    _ = fcntl(0, F_SETFL, fcntl(0, F_GETFL) | O_ASYNC)
    // It may have gone before the kernel was asked to tell.
    var watched = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    if poll(&watched, 1, 0) > 0 { _exit(1) }
  }
}
