internal import Foundation

/// Why results cannot be kept.
package enum RunFolderError: Error, CustomStringConvertible {
  case cannotCreate(String, String)
  case cannotWrite(String, String)
  case cannotPublish(String, String)

  package var description: String {
    switch self {
    case .cannotCreate(let path, let reason):
      "cannot write results to \(path): \(reason). Choose another folder with --out"
    case .cannotWrite(let path, let reason):
      "cannot write \(path): \(reason). No run folder was written; what was measured so far is kept "
        + "beside it, and the same command goes on from there"
    case .cannotPublish(let path, let reason):
      "cannot put the finished results at \(path): \(reason)"
    }
  }
}

/// The place of one run's results, which appears whole or not at all.
///
/// While a run is under way there is only a hidden `.partial-<run id>` with a log of what has been
/// measured, one line a block. At the end the files are written into a folder inside it, flushed to the
/// disk, and that folder is renamed into place: a rename within a file system either happens or does
/// not. A program that ends before that leaves the hidden folder, and the same command resumes from
/// it. A lock on the log tells a run under way from one that was interrupted.
package final class RunFolder {
  package let runID: String
  /// What earlier, interrupted runs of the same plan have measured already.
  package let resumed: [BlockRecord]
  private let parent: String
  private let partial: String
  private let log: Int32

  private static let prefix = ".partial-"

  /// Opens the interrupted run of this plan if there is one, or else begins a new one.
  ///
  /// `parent` is created if need be. The run id is made of `date` (2026-11-20), `mode` (quick) and the
  /// next free number. The fingerprint is that of the plan and the program; only a run with the same
  /// one is resumed.
  package init(
    parent: String,
    mode: String,
    fingerprint: String,
    date: String
  ) throws(RunFolderError) {
    self.parent = parent
    let failure = Self.makeFolder(parent)
    guard failure == 0 else { throw .cannotCreate(parent, String(cString: strerror(failure))) }
    for id in Self.interruptedRuns(in: parent) {
      let folder = "\(parent)/\(Self.prefix)\(id)"
      let plan = try? String(contentsOfFile: "\(folder)/plan", encoding: .utf8)
      guard plan == fingerprint + "\n" else { continue }
      guard let log = Self.openLog("\(folder)/log"), flock(log, LOCK_EX | LOCK_NB) == 0
      else { continue }
      runID = id
      partial = folder
      self.log = log
      resumed = Self.readLog(log)
      return
    }

    resumed = []
    var number = 1
    while true {
      let id = "\(date)-\(mode)-\(number)"
      let folder = "\(parent)/\(Self.prefix)\(id)"
      number += 1
      if FileManager.default.fileExists(atPath: "\(parent)/\(id)") { continue }
      // Making the folder is what claims the number.
      if mkdir(folder, 0o777) != 0 {
        if errno == EEXIST { continue }
        throw .cannotCreate(parent, String(cString: strerror(errno)))
      }
      guard let log = Self.openLog("\(folder)/log"), flock(log, LOCK_EX | LOCK_NB) == 0 else {
        throw .cannotCreate(folder, String(cString: strerror(errno)))
      }
      runID = id
      partial = folder
      self.log = log
      try Self.write(fingerprint + "\n", to: "\(folder)/plan")
      return
    }
  }

  deinit { Self.release(log) }

  /// Runs that were interrupted and wait to be resumed, by run id; not those under way.
  package static func interruptedRuns(in parent: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    return names.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }.sorted()
      .filter { id in
        guard let log = openLog("\(parent)/\(prefix)\(id)/log") else { return false }
        defer { release(log) }
        return flock(log, LOCK_EX | LOCK_NB) == 0
      }
  }

  /// The hidden folder of an interrupted run.
  package static func partialPath(of id: String, in parent: String) -> String {
    "\(parent)/\(prefix)\(id)"
  }

  /// Keeps a block, on the disk before this returns.
  package func append(_ record: BlockRecord) throws(RunFolderError) {
    let encoder = JSONEncoder()
    guard let line = try? encoder.encode(record) else {
      throw .cannotWrite("\(partial)/log", "a block cannot be encoded")
    }
    try Self.write(Array(line) + [0x0A], to: log, path: "\(partial)/log")
  }

  /// Writes the files and makes the run folder appear.
  ///
  /// - Returns: the folder's path.
  ///
  /// With a suffix, such as `-interrupted`, it is an interim state: it takes the place of an earlier one, and what was
  /// measured is kept, so that the run can go on.
  package func publish(
    _ files: [(name: String, text: String)],
    suffix: String = ""
  ) async throws(RunFolderError) -> String {
    let staging = "\(partial)/run"
    try? FileManager.default.removeItem(atPath: staging)
    guard mkdir(staging, 0o777) == 0 else {
      throw .cannotWrite(staging, String(cString: strerror(errno)))
    }
    var packed: [String] = []
    for file in files {
      let isPacked = file.name.hasSuffix(Compression.suffix)
      let name = isPacked ? String(file.name.dropLast(Compression.suffix.count)) : file.name
      if isPacked { packed.append(name) }
      try Self.write(file.text, to: "\(staging)/\(name)")
    }
    do { try await Compression.pack(packed, in: staging) } catch {
      throw .cannotWrite(staging, "\(error)")
    }
    Self.flushFolder(staging)
    let final = "\(parent)/\(runID)\(suffix)"
    if !suffix.isEmpty { try? FileManager.default.removeItem(atPath: final) }
    guard rename(staging, final) == 0 else {
      throw .cannotPublish(final, String(cString: strerror(errno)))
    }
    Self.flushFolder(parent)
    if suffix.isEmpty {
      discard()
      try? FileManager.default.removeItem(atPath: "\(final)\(Self.interruptedSuffix)")
    }
    return final
  }

  /// What the interim state of an interrupted run is called, behind the run's own name.
  package static let interruptedSuffix = "-interrupted"

  /// Forgets what was measured so far.
  package func discard() { try? FileManager.default.removeItem(atPath: partial) }

  /// Where the measured part waits.
  package var partialPath: String { partial }

  private static func openLog(_ path: String) -> Int32? {
    let log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o666)
    return log >= 0 ? log : nil
  }

  /// Closes a log, and unlocks it first: a child that is being started has a copy until it is its own program, and the
  /// lock is the copy's too.
  private static func release(_ log: Int32) {
    flock(log, LOCK_UN)
    close(log)
  }

  /// The whole lines of the log; half a line at its end is cut off.
  private static func readLog(_ log: Int32) -> [BlockRecord] {
    let bytes = FileHandle(fileDescriptor: log, closeOnDealloc: false).readDataToEndOfFile()
    var records: [BlockRecord] = []
    var good = 0
    for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false).dropLast() {
      guard let record = try? JSONDecoder().decode(BlockRecord.self, from: line) else { break }
      records.append(record)
      good += line.count + 1
    }
    ftruncate(log, good)
    return records
  }

  private static func write(_ text: String, to path: String) throws(RunFolderError) {
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard file >= 0 else { throw .cannotWrite(path, String(cString: strerror(errno))) }
    defer { close(file) }
    try write(Array(text.utf8), to: file, path: path)
  }

  private static func write(_ bytes: [UInt8], to file: Int32, path: String) throws(RunFolderError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(file, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno != EINTR {
        throw .cannotWrite(path, String(cString: strerror(errno)))
      }
    }
    guard fsync(file) == 0 else { throw .cannotWrite(path, String(cString: strerror(errno))) }
  }

  /// Makes the names in a folder last; a file system that cannot is left to its own ways.
  private static func flushFolder(_ path: String) {
    let folder = open(path, O_RDONLY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  /// Makes a folder, and those that it lies in.
  ///
  /// Foundation does so too, and says why it cannot in sentences of its own.
  ///
  /// - Returns: 0 if it is there, or else the system's number for why it is not.
  private static func makeFolder(_ path: String) -> Int32 {
    if mkdir(path, 0o777) == 0 || errno == EEXIST { return 0 }
    let failure = errno
    let parent = (path as NSString).deletingLastPathComponent
    guard failure == ENOENT, !parent.isEmpty, parent != path else { return failure }
    let above = makeFolder(parent)
    if above != 0 { return above }
    return mkdir(path, 0o777) == 0 || errno == EEXIST ? 0 : errno
  }
}
