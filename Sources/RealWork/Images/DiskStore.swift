internal import Basics
package import Foundation
internal import Glibc

// Images on disk, each whole or not there.
//
// A write can end in the middle: the disk is full, the process is killed, the machine loses power. So an
// image is written under another name first and renamed when it is complete, and a rename happens or does
// not. What a crash leaves behind, under the other name, is removed when the store is opened.
//
// That is not all: after a power failure the name may be on disk and the bytes not. So each file begins
// with a checksum of its name and its bytes, and a file that does not match is no image: it is removed,
// and the caller that asked for the image fetches it again.
//
// The system's calls block, so the store is an actor with a thread of its own (`ThreadExecutor`).

/// A folder of images.
package actor DiskStore {
  /// The disk took less than it was given.
  package struct WriteFailed: Error, CustomStringConvertible {
    package let file: String
    package let reason: String

    package var description: String {
      "cannot write \(file): \(reason). The image was not kept; free some space, or give the cache "
        + "another folder"
    }
  }

  /// Writes to an open file, as the system's `write` does; tests put a full disk in its place.
  package typealias Write = @Sendable (Int32, UnsafeRawBufferPointer) -> Int

  package nonisolated let folder: URL
  private let thread = ThreadExecutor("images on disk")
  private let write: Write

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    thread.asUnownedSerialExecutor()
  }

  /// Opens the store in a folder, which is made if it is not there.
  ///
  /// - Throws: What `FileManager` throws.
  package init(
    folder: URL,
    write: @escaping Write = { file, bytes in Glibc.write(file, bytes.baseAddress, bytes.count) }
  ) throws {
    self.folder = folder
    self.write = write
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for file in try FileManager.default.contentsOfDirectory(atPath: folder.path)
    where file.hasSuffix(".partial") {
      try FileManager.default.removeItem(at: folder.appendingPathComponent(file))
    }
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
  /// - Throws: `WriteFailed`.
  package func keep(_ image: Data, as name: String) throws {
    let path = path(of: name)
    let partial = path + ".partial"
    do {
      try put([Checksum.bytes(of: name, image), image], into: partial)
      guard rename(partial, path) == 0 else { throw failure(path) }
    } catch {
      unlink(partial)
      throw error
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

  private func put(_ parts: [Data], into path: String) throws {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    guard file >= 0 else { throw failure(path) }
    defer { close(file) }
    for part in parts {
      try part.withUnsafeBytes { bytes in
        var rest = bytes[...]
        while !rest.isEmpty {
          let written = write(file, UnsafeRawBufferPointer(rebasing: rest))
          if written < 0, errno == EINTR { continue }
          guard written > 0 else { throw failure(path) }
          rest = rest.dropFirst(written)
        }
      }
    }
  }

  private func failure(_ path: String) -> WriteFailed {
    WriteFailed(file: path, reason: String(cString: strerror(errno)))
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
