internal import Foundation

/// The small text files the kernel writes about itself, under /proc and /sys.
enum KernelFile {
  /// The whole file; nil where this machine has none or does not let it be read.
  static func text(_ path: String) -> String? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The file without the white space around it; nil where it is empty or absent.
  static func line(_ path: String) -> String? {
    let trimmed = text(path)?.trimmingCharacters(in: .whitespacesAndNewlines)
    return trimmed?.isEmpty == false ? trimmed : nil
  }

  /// What follows `key` and a colon, up to the end of the line.
  static func field(_ key: String, of path: String) -> String? {
    text(path).flatMap { field(key, in: $0) }
  }

  static func field(_ key: String, in text: String) -> String? {
    for line in text.split(separator: "\n") where line.hasPrefix(key) {
      let rest = line.dropFirst(key.count).drop { $0 == " " || $0 == "\t" }
      guard rest.first == ":" else { continue }
      return rest.dropFirst().trimmingCharacters(in: .whitespaces)
    }
    return nil
  }

  /// A field such as `VmRSS:  1234 kB`, in bytes.
  static func bytes(_ key: String, in text: String) -> Int64? {
    field(key, in: text)?.split(separator: " ").first.flatMap { Int64($0) }.map { $0 * 1_024 }
  }
}
