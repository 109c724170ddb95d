internal import Foundation
internal import Glibc

// A file while it is being downloaded: `NAME.partial`, and beside it `NAME.partial.from`, which says what of.
//
// One at a time. Two downloads that wrote into one partial file would make a mixture, so who opens it takes
// the system's lock on it (`flock`), which goes with the descriptor: when the process is killed, it is free.
// The lock belongs to the file and not to its name. Who got it looks whether the name still leads to that
// file: the one before may have given it its final name, or removed it.
//
// At any moment the process may be killed. The order of what is written sees to it that what is found is
// either right or of no use, never wrong: the partial file is emptied before the note beside it changes, and
// the note is in its place before the first byte that it speaks of. The note goes before the rename. `rename`
// puts the new file in the place of an old one at once: there is no moment without either.

/// The partial file of one download, locked until it is closed.
struct PartialFile: Sendable {
  private let file: URL
  private let descriptor: Int32
  /// How many bytes are there.
  private(set) var size: Int
  /// Where they came from; nil if that is not known.
  private(set) var origin: Origin?

  private var partial: String { Self.partial(of: file) }
  private var note: String { partial + ".from" }

  private static func partial(of file: URL) -> String { file.path + ".partial" }

  /// Opens the partial file of `file`, which is made if it is not there.
  ///
  /// - Returns: Nil while another download has it, in this process or in another.
  /// - Throws: `FileError`.
  static func open(for file: URL) throws -> PartialFile? {
    let path = partial(of: file)
    while true {
      let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
      guard descriptor >= 0 else { throw FileError("open", path) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        let error = errno
        Glibc.close(descriptor)
        if error == EWOULDBLOCK { return nil }
        throw FileError("lock", path, error)
      }
      var here = stat()
      var there = stat()
      if fstat(descriptor, &here) == 0, stat(path, &there) == 0, here.st_ino == there.st_ino,
        here.st_dev == there.st_dev
      {
        return PartialFile(file, descriptor, Int(here.st_size))
      }
      // It has got its final name since, or was removed.
      Glibc.close(descriptor)
    }
  }

  private init(_ file: URL, _ descriptor: Int32, _ size: Int) {
    self.file = file
    self.descriptor = descriptor
    self.size = size
    let note = FileManager.default.contents(atPath: Self.partial(of: file) + ".from")
    origin = note.flatMap { try? JSONDecoder().decode(Origin.self, from: $0) }
  }

  func close() { Glibc.close(descriptor) }

  /// Empties the file: what comes now comes from `origin`.
  ///
  /// - Throws: `FileError`.
  mutating func begin(from origin: Origin) throws {
    guard ftruncate(descriptor, 0) == 0 else { throw FileError("empty", partial) }
    size = 0
    self.origin = origin
    let new = note + ".new"
    do {
      let file = Glibc.open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      guard file >= 0 else { throw FileError("open", new) }
      defer { Glibc.close(file) }
      try Self.write(try JSONEncoder().encode(origin), to: file, at: 0, new)
      guard rename(new, note) == 0 else { throw FileError("rename", new) }
    } catch {
      unlink(new)
      unlink(note)
      throw error
    }
  }

  /// Writes behind what is there.
  ///
  /// - Throws: `FileError`; then the part that could be written counts.
  mutating func append(_ data: Data) throws {
    try Self.write(data, to: descriptor, at: size, partial)
    size += data.count
  }

  /// Gives the file, all of which is there, its name.
  ///
  /// The bytes are on the disk before the name is: after a power failure there is no file of that name
  /// that is not whole.
  ///
  /// - Throws: `FileError`.
  func complete() throws {
    guard fsync(descriptor) == 0 else { throw FileError("write", partial) }
    unlink(note)
    guard rename(partial, file.path) == 0 else { throw FileError("rename", partial) }
  }

  /// Empties it: nobody can go on with what is there.
  mutating func discard() {
    unlink(note)
    ftruncate(descriptor, 0)
    size = 0
    origin = nil
  }

  /// Removes it, and its note.
  func remove() {
    unlink(note)
    unlink(partial)
  }

  /// Whether a later download can go on from here.
  var isOfUse: Bool { size > 0 && origin?.validator != nil }

  private static func write(_ data: Data, to file: Int32, at place: Int, _ path: String) throws {
    try data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count, let start = bytes.baseAddress {
        let written = pwrite(
          file,
          start + done,
          bytes.count - done,
          off_t(place + done)
        )
        if written < 0, errno == EINTR { continue }
        guard written > 0 else { throw FileError("write", path) }
        done += written
      }
    }
  }
}

/// What the system says when something cannot be done to a file.
package struct FileError: Error, Hashable, CustomStringConvertible {
  package let action: String
  package let path: String
  package let code: Int32

  init(_ action: String, _ path: String, _ code: Int32 = errno) {
    self.action = action
    self.path = path
    self.code = code
  }

  package var description: String {
    let advice =
      switch code {
      case ENOSPC, EDQUOT: ". Free some space, or choose another folder"
      case EMFILE, ENFILE:
        ". Too many files are open at once: set a smaller limit, or raise 'ulimit -n'"
      case EACCES, EPERM, EROFS: ". Choose a folder that may be written to"
      default: ""
      }
    return "cannot \(action) \(path): \(String(cString: strerror(code)))\(advice)"
  }
}
