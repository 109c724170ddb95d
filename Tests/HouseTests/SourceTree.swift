import Foundation
import Synchronization

/// A file of this package, as text.
struct SourceFile: Sendable {
  /// From the package's root: `Sources/Limiters/Condition.swift`.
  var path: String
  let text: String
  let lines: [String]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
  }

  /// The room the file is in, for files in `Sources`.
  var room: String {
    let parts = path.split(separator: "/")
    return parts.count > 1 ? String(parts[1]) : ""
  }

  /// The file's name without its extension.
  var name: String {
    String((path.split(separator: "/").last ?? "").prefix { $0 != "." })
  }

  /// The names of the folders below the room, if any.
  var folders: [String] { path.split(separator: "/").dropFirst(2).dropLast().map(String.init) }
}

extension String {
  /// Whether the part stands in it, byte for byte.
  ///
  /// Every line of the house is looked through many times, in a debug build: there, `contains` takes the time of all
  /// that a check does besides.
  func holds(_ part: String) -> Bool {
    withCString { text in part.withCString { strstr(text, $0) != nil } }
  }
}

/// What a checker found: where, and what to do about it.
struct Finding: CustomStringConvertible, Equatable {
  var path: String
  /// From 1; nil where the finding is about the whole file.
  var line: Int?
  var message: String

  var description: String {
    "\(path)\(line.map { ":\($0)" } ?? ""): \(message)"
  }
}

/// The package this test was built from.
enum SourceTree {
  static let root = URL(filePath: #filePath)
    .deletingLastPathComponent()
    .deletingLastPathComponent()
    .deletingLastPathComponent()

  static func file(_ path: String) throws -> SourceFile {
    SourceFile(
      path: path,
      text: try String(contentsOf: root.appending(path: path), encoding: .utf8)
    )
  }

  /// The names in the root folder, sorted.
  static func topLevel() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: root.path(percentEncoded: false)).sorted()
  }

  private struct Selection: Hashable {
    var folder: String
    var extensions: Set<String>
  }

  /// What was read before: many tests look at the same files.
  private static let read = Mutex<[Selection: [SourceFile]]>([:])

  /// Every file below `folder` with one of these extensions, sorted by path; symbolic links to code that
  /// is compiled twice are left out.
  static func files(in folder: String, withExtensions extensions: Set<String>) throws
    -> [SourceFile]
  {
    let selection = Selection(folder: folder, extensions: extensions)
    return try read.withLock { read in
      if let files = read[selection] { return files }
      let files = try readFiles(in: folder, withExtensions: extensions)
      read[selection] = files
      return files
    }
  }

  private static func readFiles(in folder: String, withExtensions extensions: Set<String>) throws
    -> [SourceFile]
  {
    let names = try FileManager.default.subpathsOfDirectory(
      atPath: root.appending(path: folder).path(percentEncoded: false)
    )
    return try names.sorted()
      .filter { name in
        let url = root.appending(path: folder).appending(path: name)
        return extensions.contains(url.pathExtension)
          && (try? url.resourceValues(forKeys: [.isSymbolicLinkKey]).isSymbolicLink) != true
      }
      .map { try file(folder + "/" + $0) }
  }
}
