internal import Basics
import Foundation
import Glibc

/// The lines typed in all sessions, kept in a file.
///
/// Plain text after one line that names the version; a line an entry. Entries are appended as they
/// are typed, under a lock, so that two shells at once lose nothing. A bad file ends no
/// session: whatever is wrong with it becomes a warning of one line, and the shell goes on.
struct HistoryFile {
  static let header = "# concurrency-lab history, version 1"
  private static let anyHeader = "# concurrency-lab history, version "

  /// How much of a file is read, at most, from its end: a larger one is an accident.
  private static let mostBytes = 8 << 20

  let path: String
  /// Older entries beyond this number are forgotten.
  let limit: Int

  /// What a file holds, and what was wrong with it.
  struct Content: Equatable {
    var entries: [String] = []
    /// Lines that are no text, or hold control characters.
    var damaged = 0
    /// Written by another version, in a form of its own: neither read nor written.
    var isForeign = false
  }

  struct Trouble: Error, Equatable {
    var message: String
  }

  /// Entries of a file's bytes, oldest first.
  ///
  /// Any bytes will do.
  static func parse(_ bytes: [UInt8]) -> Content {
    var content = Content()
    for (number, line) in bytes.split(separator: 0x0A).enumerated() {
      guard let text = String(validating: line, as: UTF8.self),
        !text.unicodeScalars.contains(where: { $0.value < 0x20 && $0 != "\t" || $0.value == 0x7F })
      else {
        content.damaged += 1
        continue
      }
      // Also a header cut short is one.
      if number == 0, header.hasPrefix(text) { continue }
      // libedit's own form begins with such a line, and writes spaces as numbers.
      if number == 0, text.hasPrefix(anyHeader) || text.hasPrefix("_HiStOrY_V") {
        return Content(isForeign: true)
      }
      if text.allSatisfy(\.isWhitespace) { continue }
      content.entries.append(text)
    }
    return content
  }

  /// Reads the entries, newest last, and shortens a file that has grown beyond the limit.
  func load() throws(Trouble) -> Content {
    guard access(path, F_OK) == 0 else { return Content() }
    let file = try open(O_RDWR)
    defer { close(file) }
    var content = Self.parse(try read(file))
    guard !content.isForeign else {
      throw Trouble(
        message: "the history in \(path) was written by another version; it is left alone, "
          + "and this session's history is not kept"
      )
    }
    if content.entries.count > limit {
      content.entries.removeFirst(content.entries.count - limit)
      try replace(with: content.entries)
    }
    return content
  }

  /// Adds one entry, which must be free of line breaks, at the end.
  func append(_ entry: String) throws(Trouble) {
    let folder = (path as NSString).deletingLastPathComponent
    try? FileManager.default.createDirectory(
      atPath: folder,
      withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700]
    )
    let file = try open(O_RDWR | O_CREAT)
    defer { close(file) }
    var text = entry + "\n"
    let end = lseek(file, 0, SEEK_END)
    if end == 0 {
      text = Self.header + "\n" + text
    } else {
      // A file cut short ends within a line; that line stays by itself.
      var last: UInt8 = 0
      if pread(file, &last, 1, end - 1) == 1, last != 0x0A { text = "\n" + text }
    }
    do {
      try OutputWriter(fileDescriptor: file).write(text)
    } catch {
      throw Trouble(message: "the history cannot be kept in \(path): \(error)")
    }
  }

  /// Opens and locks the file that `path` names now.
  private func open(_ mode: Int32) throws(Trouble) -> Int32 {
    // Each round opens what is there; a file replaced by another shell between open and lock is
    // opened again, or the entry would go to a file that nobody reads any more.
    for _ in 0..<100 {
      // Not blocking: a pipe in the file's place must not hold up the shell.
      let file = Glibc.open(path, mode | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0o600)
      guard file >= 0 else { throw trouble(errno) }
      var opened = stat()
      guard fstat(file, &opened) == 0, opened.st_mode & S_IFMT == S_IFREG else {
        close(file)
        throw Trouble(message: "the history cannot be kept in \(path): it is not a regular file")
      }
      if let error = lock(file) {
        close(file)
        throw error == EWOULDBLOCK
          ? Trouble(message: "the history in \(path) is locked by another program")
          : trouble(error)
      }
      var named = stat()
      if stat(path, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev {
        return file
      }
      close(file)
    }
    throw Trouble(message: "the history in \(path) is being replaced over and over")
  }

  /// Locks the file; the number of the error that keeps it from that, if there is one.
  ///
  /// Others hold the lock for the time of one write, or of the shortening of the file.
  /// One that was stopped while holding it must not stop this shell too, so this gives up after some five
  /// seconds; a busy disk can make a write take one.
  private func lock(_ file: Int32) -> Int32? {
    for _ in 0..<5_000 {
      if flock(file, LOCK_EX | LOCK_NB) == 0 { return nil }
      guard errno == EWOULDBLOCK || errno == EINTR else { return errno }
      usleep(1_000)
    }
    return EWOULDBLOCK
  }

  private func read(_ file: Int32) throws(Trouble) -> [UInt8] {
    let end = Int(lseek(file, 0, SEEK_END))
    let start = max(end - Self.mostBytes, 0)
    var bytes = [UInt8](repeating: 0, count: end - start)
    var count = 0
    while count < bytes.count {
      let more = bytes.withUnsafeMutableBytes { buffer in
        pread(
          file,
          buffer.baseAddress.map { $0 + count },
          buffer.count - count,
          off_t(start + count)
        )
      }
      if more < 0, errno == EINTR { continue }
      guard more >= 0 else { throw trouble(errno) }
      guard more > 0 else { break }
      count += more
    }
    bytes.removeLast(bytes.count - count)
    // What was cut off in front is part of a line.
    if start > 0, let newline = bytes.firstIndex(of: 0x0A) { bytes.removeFirst(newline + 1) }
    return bytes
  }

  /// Puts a new file in the old one's place, whole or not at all.
  ///
  /// The lock on the old one is held; a session that waits for it finds out that the file was replaced,
  /// and opens the new one.
  private func replace(with entries: [String]) throws(Trouble) {
    // Where the path is a link, the file that it leads to: the link stays.
    let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    let temporary = "\(path).\(getpid())"
    let file = Glibc.open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw trouble(errno) }
    defer { close(file) }
    do {
      let text = ([Self.header] + entries).joined(separator: "\n") + "\n"
      try OutputWriter(fileDescriptor: file).write(text)
      guard fsync(file) == 0, rename(temporary, path) == 0 else { throw trouble(errno) }
    } catch {
      unlink(temporary)
      throw Trouble(message: "the history in \(path) cannot be shortened: \(error)")
    }
  }

  private func trouble(_ code: Int32) -> Trouble {
    Trouble(message: "the history cannot be kept in \(path): \(String(cString: strerror(code)))")
  }
}

extension LineEditor {
  /// The lines remembered at `path` from all sessions, oldest first; nil where they cannot be read.
  package static func rememberedLines(at path: String) -> [String]? {
    guard access(path, F_OK) == 0 else { return nil }
    return try? HistoryFile(path: path, limit: .max).load().entries
  }
}

/// Where programs keep what they remember, `$XDG_STATE_HOME`, by default `~/.local/state`, and what
/// people set them to, `$XDG_CONFIG_HOME`, by default `~/.config`.
package enum StateDirectory {
  /// The path of `name` within the lab's own folder there; nil when no home is known.
  package static func path(for name: String, environment: [String: String]) -> String? {
    path(environment["XDG_STATE_HOME"], orAtHome: ".local/state", name, environment)
  }

  /// The file of commands that a person wants carried out before the first prompt.
  package static func startFile(environment: [String: String]) -> String? {
    path(environment["XDG_CONFIG_HOME"], orAtHome: ".config", "rc", environment)
  }

  private static func path(
    _ root: String?,
    orAtHome folder: String,
    _ name: String,
    _ environment: [String: String]
  ) -> String? {
    let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? "\($0)/\(folder)" : nil }
    let chosen = root.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home
    return chosen.map { "\($0)/concurrency-lab/\(name)" }
  }
}
