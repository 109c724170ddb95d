import Basics
import Foundation
import Glibc
import Synchronization

/// How a program ended.
package enum ExitStatus: Sendable, Equatable {
  case exited(Int32)
  case signalled(Int32)

  /// From what `waitpid` reports.
  init(waitStatus status: Int32) {
    let signal = status & 0x7F
    self = signal == 0 ? .exited(status >> 8 & 0xFF) : .signalled(signal)
  }
}

package struct TestSupportError: Error, CustomStringConvertible {
  package var description: String

  init(_ description: String) { self.description = description }

  static func system(_ doing: String, _ code: Int32 = errno) -> TestSupportError {
    TestSupportError("\(doing): \(String(cString: strerror(code)))")
  }
}

/// Programs of this build, which lie beside the test bundle.
package func builtExecutable(_ name: String) throws -> String {
  let running = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
  let folder = (running as NSString).deletingLastPathComponent
  let path = "\(folder)/\(name)"
  guard access(path, X_OK) == 0 else {
    throw TestSupportError("\(path) is not built: let the test target depend on '\(name)'")
  }
  return path
}

/// Held while a descriptor is made but not yet marked as ours alone, and while a program is started:
/// a program that another test starts in between would inherit it, and keep a pipe or terminal open.
let descriptors = Mutex(())

/// Starts a program with `files` as its first descriptors.
///
/// `terminal` is the path of a terminal that becomes its controlling terminal and its three standard
/// streams, in place of `files`.
func spawn(
  _ path: String,
  _ arguments: [String],
  environment: [String: String],
  folder: String? = nil,
  files: [Int32] = [],
  terminal: String? = nil
) throws -> pid_t {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  if let terminal {
    // The leader of a new session gets the first terminal it opens as its own.
    posix_spawn_file_actions_addopen(&actions, 0, terminal, O_RDWR, 0)
    posix_spawn_file_actions_adddup2(&actions, 0, 1)
    posix_spawn_file_actions_adddup2(&actions, 0, 2)
  } else {
    for (target, file) in files.enumerated() {
      posix_spawn_file_actions_adddup2(&actions, file, Int32(target))
    }
  }

  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  // Signals as a person's shell would hand them on, whatever the test runner does with its own.
  var none = sigset_t()
  sigemptyset(&none)
  posix_spawnattr_setsigmask(&attributes, &none)
  var all = sigset_t()
  sigfillset(&all)
  posix_spawnattr_setsigdefault(&attributes, &all)
  var flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF
  // POSIX_SPAWN_SETSID, which the C library hides without its GNU extensions.
  if terminal != nil { flags |= 0x80 }
  posix_spawnattr_setflags(&attributes, Int16(flags))

  // `env` changes the folder, which `posix_spawn` cannot without GNU extensions.
  let command = folder.map { ["/usr/bin/env", "--chdir=\($0)", path] } ?? [path]
  var argv: [UnsafeMutablePointer<CChar>?] = (command + arguments).map { strdup($0) } + [nil]
  var envp: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
  defer {
    for string in argv + envp { free(string) }
  }
  var child: pid_t = 0
  let code = descriptors.withLock { _ in
    posix_spawn(&child, command[0], &actions, &attributes, &argv, &envp)
  }
  guard code == 0 else { throw TestSupportError.system("\(path) cannot be started", code) }
  return child
}

/// Waits for a child to end, and buries it.
func awaitExit(
  of child: pid_t,
  _ name: String,
  while patience: inout Patience
) throws -> ExitStatus {
  var status: Int32 = 0
  while true {
    switch waitpid(child, &status, WNOHANG) {
    case child: return ExitStatus(waitStatus: status)
    case -1 where errno != EINTR: throw TestSupportError.system("\(name) cannot be waited for")
    default: break
    }
    if patience.isOver() { throw TestSupportError("\(name) did not end in time") }
    // There is no descriptor to poll for a child's end without Linux's own calls.
    poll(nil, 0, 1)
  }
}
