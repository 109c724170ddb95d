internal import Basics
package import Foundation
internal import Glibc

// Images on disk, each whole or not there.
//
// A write can end in the middle: the disk is full, the process is killed, the machine loses power. So an
// image is written under another name first and renamed when it is complete, and a rename happens or does
// not. What a crash leaves behind, under the other name, is removed when the store is opened.
//
// Several processes may use one folder. No two writes share a name, and each holds the system's lock on its
// file (`flock`) while it writes. The lock goes with the process: a half-written file that nobody has locked
// is one that nobody will finish, and no other is removed.
//
// That is not all: after a power failure the name may be on disk and the bytes not. So each file begins
// with a checksum of its name and its bytes, and a file that does not match is no image: it is removed,
// and the caller that asked for the image fetches it again.
//
// The system's calls block, so the store is an actor with a thread of its own (`ThreadExecutor`).

/// A folder of images.
package actor DiskStore {
  /// Writes to an open file, as the system's `write` does; tests put a full disk in its place.
  package typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

  /// Locks an open file unless somebody else has, as the system's `flock` does; tests put a disk in its place
  /// that knows no locks.
  package typealias FileLock = @Sendable (Int32) -> Int32

  package nonisolated let folder: URL
  private let thread = ThreadExecutor("images on disk")
  private let write: Write
  private let lock: FileLock

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// Opens the store in a folder, which is made if it is not there.
  ///
  /// - Throws: What `FileManager` throws.
  package init(
    folder: URL,
    write: @escaping Write = { file, bytes in Glibc.write(file, bytes.baseAddress, bytes.count) },
    lock: @escaping FileLock = { flock($0, LOCK_EX | LOCK_NB) }
  ) throws {
    self.folder = folder
    self.write = write
    self.lock = lock
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where file.hasSuffix(".partial") {
      Self.removeIfLeft(folder.appendingPathComponent(file).path)
    }
  }

  /// Removes a half-written file, unless somebody is writing it.
  private static func removeIfLeft(_ path: String) {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return }
    defer { close(file) }
    if flock(file, LOCK_EX | LOCK_NB) == 0 { unlink(path) }
  }

  /// The image of that name, if it is there and whole.
  package func image(_ name: String) -> Data? {
    let path = path(of: name)
    guard let file = FileManager.default.contents(atPath: path) else { return nil }
    let image = file.dropFirst(Checksum.length)
    guard file.prefix(Checksum.length) == Checksum.bytes(of: name, image) else {
      unlink(path)
      return nil
    }
    return Data(image)
  }

  /// Keeps an image, whole or not at all.
  ///
  /// - Throws: `FileError`.
  package func keep(_ image: Data, as name: String) throws {
    let path = path(of: name)
    let (file, partial) = try begin(path)
    defer { close(file) }
    do {
      try put([Checksum.bytes(of: name, image), image], into: file, partial)
      guard rename(partial, path) == 0 else { throw FileError("rename", partial) }
    } catch {
      unlink(partial)
      throw error
    }
  }

  /// Makes a file that nobody else writes, and locks it.
  ///
  /// Who opened the store a moment ago may have found the file before it was locked, and locks and removes it:
  /// then another is made.
  private func begin(_ path: String) throws -> (file: Int32, path: String) {
    while true {
      let partial = "\(path).\(UUID().uuidString).partial"
      let file = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
      guard file >= 0 else { throw FileError("make", partial) }
      guard lock(file) == 0 else {
        let error = FileError("lock", partial)
        unlink(partial)
        close(file)
        if error.code == EWOULDBLOCK { continue }
        throw error
      }
      var status = stat()
      if fstat(file, &status) == 0, status.st_nlink > 0 { return (file, partial) }
      close(file)
    }
  }

  /// How many images there are, their bytes together, and how many files are half-written.
  package var contents: (images: Int, bytes: Int, partial: Int) {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    let sizes = files.filter { $0.hasSuffix(".image") }.map { file in
      var status = stat()
      stat(folder.appendingPathComponent(file).path, &status)
      return Int(status.st_size) - Checksum.length
    }
    return (sizes.count, sizes.reduce(0, +), files.count { $0.hasSuffix(".partial") })
  }

  private func put(_ parts: [Data], into file: Int32, _ path: String) throws {
    for part in parts {
      try part.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let written = write(file, UnsafeRawBufferPointer(rebasing: rest))
          if written < 0, errno == EINTR { continue }
          guard written > 0 else { throw FileError("write", path) }
          rest = rest.dropFirst(written)
        }
      }
    }
  }

  private func path(of name: String) -> String {
    let digest = Checksum.bytes(of: name, Data()).map { String(format: "%02x", $0) }.joined()
    return folder.appendingPathComponent(digest + ".image").path
  }
}

/// FNV-1a, 64 bits: enough to tell a broken file, not to keep a forger out.
private enum Checksum {
  static let length = 8

  static func bytes(of name: String, _ image: Data) -> Data {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    name.utf8.forEach(mix)
    image.withUnsafeBytes { $0.forEach(mix) }
    return withUnsafeBytes(of: hash.littleEndian) { Data($0) }
  }
}
