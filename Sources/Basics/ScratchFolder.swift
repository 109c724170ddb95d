internal import Glibc
internal import Synchronization

// A folder for what a process keeps on disk while it lives, and no longer.
//
// Removing it where it is no longer needed is not enough: a terminal that is closed, a `kill`, a crash end
// the process elsewhere, and megabytes stay behind. So there are two further ways. Code that handles signals
// calls `removeAll()` before the process goes. And each folder has a file in it by which it is known as one of
// ours, which the process that made it has locked (`flock`): the lock goes with the process, however it ends,
// and whoever makes the next folder of the same prefix removes those that nobody has locked. A folder without that
// file is somebody else's, whatever its name is, and stays.

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
  /// The mark, open for as long as the folder is in use: the lock is on it.
  private let descriptor: Int32

  private struct InUse {
    var paths: Set<String> = []
    /// Whether the process is about to end.
    var isEnding = false
  }

  private static let inUse = Mutex(InUse())

  /// The file by which a folder is known as one of ours.
  private static let mark = ".scratch-folder"

  /// Makes a folder whose name begins with `prefix`, and removes those of processes that have ended.
  ///
  /// - Throws: `Unavailable`.
  package init(_ prefix: String) throws(Unavailable) {
    let parent = Self.parent
    Self.removeLeft(prefix, in: parent)
    (path, descriptor) = try Self.inUse.withLock { inUse throws(Unavailable) in
      // A process that ends waits for the folder that is being made, and no further one is made then.
      if inUse.isEnding { throw Unavailable(path: parent, code: ECANCELED) }
      let made = try Self.make(prefix, in: parent)
      inUse.paths.insert(made.path)
      return made
    }
  }

  private static func make(_ prefix: String, in parent: String) throws(Unavailable) -> (
    path: String, descriptor: Int32
  ) {
    while true {
      let number = UInt64.random(in: .min ... .max)
      let path = "\(parent)/\(prefix)-\(String(number, radix: 36))"
      guard mkdir(path, 0o700) == 0 else {
        if errno == EEXIST { continue }
        throw Unavailable(path: path, code: errno)
      }
      let mark = "\(path)/\(Self.mark)"
      let descriptor = open(mark, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else {
        let code = errno
        rmdir(path)
        throw Unavailable(path: path, code: code)
      }
      if Self.lock(descriptor) { return (path, descriptor) }
      // Another process has taken it, a moment old and not locked, for one that was left.
      close(descriptor)
    }
  }

  deinit {
    Self.remove(path)
    Self.inUse.withLock { _ = $0.paths.remove(path) }
    close(descriptor)
  }

  /// Removes all folders of this process, which is about to end; none can be made from here on.
  package static func removeAll() {
    let paths = inUse.withLock { inUse in
      inUse.isEnding = true
      return inUse.paths
    }
    for path in paths {
      // Under another name first, so that those who still write in it make no new files there.
      let gone = path + "-gone"
      remove(rename(path, gone) == 0 ? gone : path)
    }
  }

  /// Locks a mark that is still there; false if another process has it.
  private static func lock(_ mark: Int32) -> Bool {
    var status = stat()
    return flock(mark, LOCK_EX | LOCK_NB) == 0 && fstat(mark, &status) == 0 && status.st_nlink > 0
  }

  /// The mark of a folder that nobody has locked, open and locked; nil if there is none.
  private static func markOfLeft(_ path: String) -> Int32? {
    let descriptor = open("\(path)/\(mark)", O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    if lock(descriptor) { return descriptor }
    close(descriptor)
    return nil
  }

  /// Removes the folders of processes that have ended, whose names begin with `prefix`.
  package static func removeLeft(_ prefix: String) { removeLeft(prefix, in: parent) }

  private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

  private static func removeLeft(_ prefix: String, in parent: String) {
    for name in entries(of: parent) where name.hasPrefix(prefix + "-") {
      let path = "\(parent)/\(name)"
      var status = stat()
      guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
        status.st_uid == geteuid(), let left = markOfLeft(path)
      else { continue }
      remove(path)
      close(left)
    }
  }

  /// Removes a folder and all that is in it; follows no link out of it.
  ///
  /// The mark goes last: a process that is ended meanwhile leaves a folder that is known.
  private static func remove(_ path: String) {
    let names = entries(of: path)
    for name in names.filter({ $0 != mark }) + names.filter({ $0 == mark }) {
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
