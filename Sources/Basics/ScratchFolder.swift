internal import Glibc
internal import Synchronization

// A folder for what a process keeps on disk while it lives, and no longer.
//
// Removing it where it is no longer needed is not enough: a terminal that is closed, a `kill`, a crash end
// the process elsewhere, and megabytes stay behind. So there are two further ways. Code that handles signals
// calls `removeAll()` before the process goes. And each folder is locked (`flock`) by the process that made
// it: the lock goes with the process, however it ends, and the next folder that anybody makes takes those
// with it that nobody has locked.

/// A folder in the system's place for temporary files, removed with this object.
package final class ScratchFolder: Sendable {
  /// The system does not give one.
  package struct Unavailable: Error, CustomStringConvertible {
    package let path: String
    package let code: Int32

    package var description: String {
      "no folder can be made at \(path): \(String(cString: strerror(code))). Free some space there, or "
        + "name another folder in TMPDIR"
    }
  }

  package let path: String
  /// Open for as long as the folder is in use: the lock is on it.
  private let descriptor: Int32

  private static let inUse = Mutex<Set<String>>([])

  /// Makes a folder whose name begins with `prefix`, and removes those of processes that have ended.
  ///
  /// - Throws: `Unavailable`.
  package init(_ prefix: String) throws(Unavailable) {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    Self.removeLeft(prefix, in: parent)
    while true {
      let number = UInt64.random(in: .min ... .max)
      let path = "\(parent)/\(prefix)-\(String(number, radix: 36))"
      guard mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw Unavailable(path: path, code: errno)
      }
      guard let descriptor = Self.locked(path) else {
        // Another process has taken it, a moment old and not locked, for one that was left.
        if access(path, F_OK) != 0 { continue }
        let code = errno
        rmdir(path)
        throw Unavailable(path: path, code: code)
      }
      self.path = path
      self.descriptor = descriptor
      break
    }
    Self.inUse.withLock { _ = $0.insert(path) }
  }

  deinit {
    Self.remove(path)
    Self.inUse.withLock { _ = $0.remove(path) }
    close(descriptor)
  }

  /// Removes all folders of this process, which is about to end.
  package static func removeAll() {
    for path in inUse.withLock({ $0 }) {
      // Under another name first, so that those who still write in it make no new files there.
      let gone = path + "-gone"
      remove(rename(path, gone) == 0 ? gone : path)
    }
  }

  /// The folder, open and locked; nil if it is not there or another process has it locked.
  private static func locked(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    if flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0,
      status.st_nlink > 0
    {
      return descriptor
    }
    close(descriptor)
    return nil
  }

  private static func removeLeft(_ prefix: String, in parent: String) {
    for name in entries(of: parent) where name.hasPrefix(prefix + "-") {
      let path = "\(parent)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_uid == geteuid(), let left = locked(path) else {
        continue
      }
      remove(path)
      close(left)
    }
  }

  /// Removes a folder and all that is in it; follows no link out of it.
  private static func remove(_ path: String) {
    for name in entries(of: path) {
      let entry = "\(path)/\(name)"
      var status = stat()
      guard lstat(entry, &status) == 0 else { continue }
      if status.st_mode & S_IFMT == S_IFDIR { remove(entry) } else { unlink(entry) }
    }
    rmdir(path)
  }

  private static func entries(of path: String) -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
    return names
  }
}
