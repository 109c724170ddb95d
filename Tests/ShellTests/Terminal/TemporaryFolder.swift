import Foundation
import Glibc

/// A folder for one test's files, removed with the last reference to it.
final class TemporaryFolder: Sendable {
  let path: String

  init() {
    path = NSTemporaryDirectory() + "terminal-tests-\(UUID().uuidString)"
    mkdir(path, 0o700)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
  }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
  }

  func read(_ name: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")), as: UTF8.self)
  }

  func namedPipe(_ name: String) throws -> NamedPipe {
    try NamedPipe(path: "\(path)/\(name)")
  }
}

/// A pipe with a name, kept open at this end.
final class NamedPipe: Sendable {
  let path: String
  private let descriptor: Int32

  init(path: String) throws {
    self.path = path
    mkfifo(path, 0o600)
    descriptor = open(path, O_RDWR | O_CLOEXEC)
  }

  deinit {
    close(descriptor)
  }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Glibc.write(descriptor, bytes, bytes.count)
  }
}
