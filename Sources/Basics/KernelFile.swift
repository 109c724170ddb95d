internal import Glibc

/// The small text files the kernel writes about itself, under /proc and /sys.
package enum KernelFile {
  /// The whole file; nil where this machine has none or does not let it be read.
  ///
  /// Read to its end: the kernel gives no size and at most a page at a time, and Foundation takes the first page
  /// for all of it.
  package static func text(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes: [UInt8] = []
    while true {
      let piece = [UInt8](unsafeUninitializedCapacity: 16_384) { piece, count in
        count = max(0, read(file, piece.baseAddress, piece.count))
      }
      if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
      bytes += piece
    }
  }

  /// The file without the white space around it; nil where it is empty or absent.
  package static func line(_ path: String) -> String? {
    let line = text(path).map { trimmed($0[...]) }
    return line?.isEmpty == false ? line : nil
  }

  /// What follows `key` and a colon, up to the end of the line.
  package static func field(_ key: String, of path: String) -> String? {
    text(path).flatMap { field(key, in: $0) }
  }

  package static func field(_ key: String, in text: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      let rest = line.dropFirst(key.count).drop { $0 == " " || $0 == "\t" }
      guard rest.first == ":" else { continue }
      return trimmed(rest.dropFirst())
    }
    return nil
  }

  /// A field such as `VmRSS:  1234 kB`, in bytes.
  package static func bytes(_ key: String, in text: String) -> Int64? {
    field(key, in: text)?.split(separator: " ").first.flatMap { Int64($0) }.map { $0 * 1_024 }
  }

  private static func trimmed(_ text: Substring) -> String {
    let rest = text.drop(while: \.isWhitespace)
    guard let last = rest.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(rest[...last])
  }
}
