internal import Glibc
internal import Synchronization

/// A command of the system's shell that reads what we write.
///
/// It shares our terminal and our process group, so that a pager has its keys and Ctrl-C and Ctrl-Z are for both.
/// Started and waited for on the calling thread, which may block: the threads of the pool may all be held.
package final class PipedProgram: Sendable {
  package enum Ending: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
  }

  package struct CannotStart: Error, CustomStringConvertible {
    package var description: String
  }

  /// Where it reads from: what is written here.
  package let input: Int32
  private let process: pid_t
  private let isOpen = Mutex(true)

  /// - Throws: `CannotStart`.
  package init(_ command: String) throws(CannotStart) {
    // Then a write to a program that has ended fails, instead of ending this process.
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    guard pipe(&ends) == 0 else { throw Self.failure(errno) }
    // While it had our end of the pipe open too, it would never see that nothing more is written.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(ends[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // A signal that we ignore would be ignored there too.
    var (all, none) = (sigset_t(), sigset_t())
    sigfillset(&all)
    sigemptyset(&none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(
      &attributes,
      Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK)
    )
    var process: pid_t = 0
    let words: [String] = ["sh", "-c", command]
    var arguments = words.map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    let code = posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environ)
    guard code == 0 else {
      close(ends[1])
      throw Self.failure(code)
    }
    self.process = process
    input = ends[1]
  }

  private static func failure(_ code: Int32) -> CannotStart {
    CannotStart(description: "cannot start /bin/sh: \(String(cString: strerror(code)))")
  }

  /// Says that nothing more is written, and waits for its end.
  package func end() -> Ending? {
    let isFirst = isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
    guard isFirst else { return nil }
    close(input)
    var status: Int32 = 0
    while waitpid(process, &status, 0) < 0 {
      guard errno == EINTR else { return nil }
    }
    let signal = status & 0x7F
    return signal == 0 ? .exited(status >> 8 & 0xFF) : .killed(signal: signal)
  }

  deinit { _ = end() }
}
