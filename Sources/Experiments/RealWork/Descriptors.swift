internal import Foundation
internal import Glibc
internal import Mechanisms

// Sockets and files, of which a process may have only so many open.
//
// A server that can accept no connection is not refused one: its clients wait in the kernel's line until
// their time is over, minutes later. So what a run will need is counted before it begins.

/// The descriptors that real work needs, against those that this process may still open.
struct Descriptors: Error, CustomStringConvertible {
  let needed: Int
  let open: Int
  let most: Int

  /// As many as the system lets this process have, which is often more than it has been given.
  static func raiseLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// - Throws: The figures, if so many tasks at once would need more than there are.
  static func check(for kind: ServiceKind, atOnce: Int) throws {
    var bound = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &bound) == 0 else { return }
    let most = Int(clamping: bound.rlim_cur)
    let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    let needed =
      switch kind {
      // The file, its log and the log's index, for each reader and the writer.
      case .query: 3 * (atOnce + 1) + 4
      // Both ends of a connection, and the file with its note.
      case .copy: 4 * atOnce + 16
      default: 2 * atOnce + 16
      }
    if open + needed > most { throw Descriptors(needed: needed, open: open, most: most) }
  }

  var description: String {
    "it needs about \(needed) descriptors for files and connections, \(open) are open, and the process may "
      + "have \(most). Raise the limit ('ulimit -n'), or set a smaller limit of the mechanism"
  }
}
