internal import Foundation
internal import Glibc

// Where progress is kept.
//
// One small JSON file, meant to be read by people too. Each change reads the file anew, changes it and
// replaces it whole, under a lock of its own: two labs open at once do not undo each other's work, and
// a crash leaves the file as it was before or after, never in between. A file that is damaged,
// of another version or not to be read is set aside under another name, and said so.

/// Keeps a learner's progress in a file.
package struct ProgressStore: Sendable {
  /// The file; its folder is made when it is first written.
  package let file: String

  package init(file: String) { self.file = file }

  private var folder: String { (file as NSString).deletingLastPathComponent }

  /// The progress there is, and what the learner should be told about the file, if anything.
  package func load() -> (progress: LearnerProgress, notice: String?) {
    guard let data = FileManager.default.contents(atPath: file) else {
      guard FileManager.default.fileExists(atPath: file) else { return (LearnerProgress(), nil) }
      return (LearnerProgress(), setAside("cannot be read"))
    }
    do {
      let progress = try JSONDecoder().decode(LearnerProgress.self, from: data)
      if progress.schema == LearnerProgress.schema { return (progress, nil) }
      return (LearnerProgress(), setAside("is of another version ('\(progress.schema)')"))
    } catch {
      return (LearnerProgress(), setAside("is damaged"))
    }
  }

  /// Changes the progress and writes it.
  ///
  /// - Returns: What the learner should be told, if anything: where the file went that could not be
  ///   understood, or why nothing can be written.
  package func update(_ change: (inout LearnerProgress) -> Void) -> String? {
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      return try withLock {
        var (progress, notice) = load()
        change(&progress)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(progress)
        try (data + Data("\n".utf8)).write(to: URL(fileURLWithPath: file), options: .atomic)
        return notice
      }
    } catch {
      return "your progress cannot be kept in \(file), so it lasts until you leave the lab; "
        + "make \(folder) writable, or set XDG_STATE_HOME to a folder that is."
    }
  }

  private func setAside(_ reason: String) -> String {
    let names = (1...).lazy.map { "\(file).set-aside-\($0)" }
    let place = names.first { !FileManager.default.fileExists(atPath: $0) } ?? file + ".set-aside"
    do {
      try FileManager.default.moveItem(atPath: file, toPath: place)
      return "\(file) \(reason); it is kept as \(place), and the course starts from the beginning."
    } catch {
      return "\(file) \(reason) and cannot be moved away; move it yourself to keep new progress."
    }
  }

  /// Keeps other labs out while `body` runs.
  private func withLock<Value>(_ body: () throws -> Value) throws -> Value {
    let descriptor = open(file + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o644)
    guard descriptor >= 0 else { throw CocoaError(.fileWriteNoPermission) }
    defer { close(descriptor) }
    // Held for the time of one small write, which a busy disk can make a second. A lab that holds it for
    // ten seconds was stopped, and must not stop this lab too; and a file system may have no locks at all.
    // Then one lab at a time is promised.
    for _ in 0..<10_000 {
      if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { break }
      guard errno == EWOULDBLOCK || errno == EINTR else { break }
      usleep(1_000)
    }
    return try body()
  }
}
