import Basics
import Foundation
import Glibc
import RealWork
import Synchronization
import TestSupport
import UnrulyServer

/// Downloads files from a server that misbehaves, in four processes at once on one folder, each killed at
/// random moments, while the files change on the server.
///
/// Every file that a process calls complete has to be
/// one version of it, from its first byte to its last; and what is left has to be finished in the end.
///
/// `download-storm DOWNLOADS SEED`; of itself it starts `download-storm PORT FOLDER SEED MILLISECONDS`, which
/// kills itself when they are over.
@main
enum DownloadStorm {
  static let files = 40

  static func main() async throws {
    let arguments = CommandLine.arguments
    if arguments.count == 5, let port = UInt16(arguments[1]), let seed = UInt64(arguments[3]),
      let milliseconds = Int32(arguments[4])
    {
      OSThread("killer") {
        // Only the moment of the kill is drawn: no result depends on how long this takes.
        var none = pollfd(fd: -1, events: 0, revents: 0)
        poll(&none, 1, milliseconds)
        kill(getpid(), SIGKILL)
      }.detach()
      let folder = URL(fileURLWithPath: arguments[2])
      try await Worker(port: port, folder: folder, seed: seed).work()
    } else if arguments.count == 3, let downloads = Int(arguments[1]),
      let seed = UInt64(arguments[2])
    {
      let storm = Storm(downloads: downloads, seed: seed)
      try await storm.rage()
      try await storm.settle()
    } else {
      exit(2)
    }
  }
}

/// At once, whatever becomes of the process.
private func write(_ line: String) {
  _ = Array(line.utf8).withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
}

/// Downloads one file after the other, four at a time, and says which are complete; for ever.
private struct Worker {
  let port: UInt16
  let folder: URL
  let seed: UInt64

  func work() async throws {
    let downloader = Downloader(
      limit: 4,
      attempts: 3,
      stallAfter: .seconds(1),
      backoff: { Backoff(first: .milliseconds(2)) }
    )
    await withTaskGroup { group in
      for lane in 0..<6 as Range<UInt64> {
        group.addTask {
          var random = SplitMix64(seed: seed &+ lane)
          while true {
            let name = "\(random.next(below: DownloadStorm.files))"
            guard let url = URL(string: "http://127.0.0.1:\(port)/\(name)") else { return }
            do {
              try await downloader.download(url, to: folder.appendingPathComponent(name))
              write("done \(name)\n")
            } catch {
              write("error \(type(of: error))\n")
            }
          }
        }
      }
    }
  }
}

/// The server, the processes, and what is looked at.
private final class Storm: Sendable {
  private struct Counts {
    var complete = 0
    var errors = 0
    var wrong: [String] = []
  }

  private let downloads: Int
  private let random: Mutex<SplitMix64>
  private let counts = Mutex(Counts())
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
    UUID().uuidString
  )
  private let server: UnrulyServer

  init(downloads: Int, seed: UInt64) {
    self.downloads = downloads
    random = Mutex(SplitMix64(seed: seed))
    let draws = Mutex(SplitMix64(seed: ~seed))
    // A length that is announced too short cannot be told from a file that is shorter.
    let answers = UnrulyServer.Answer.allCases.filter { $0 != .tooShort }
    server = UnrulyServer(size: 30_000, retryAfter: 0) { _ in
      draws.withLock { random in
        random.next(below: 2) == 0 ? .right : answers[random.next(below: answers.count)]
      }
    }
  }

  private func draw(below bound: Int) -> Int { random.withLock { $0.next(below: bound) } }

  /// Four processes at a time, each for up to a second.
  func rage() async throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let program = BuiltProgram(
      path: URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path
    )
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask { [self] in
          while counts.withLock({ $0.complete < downloads }) { try await runOne(program) }
        }
      }
      try await group.waitForAll()
    }
  }

  private func runOne(_ program: BuiltProgram) async throws {
    if draw(below: 4) == 0 { server.change("\(draw(below: DownloadStorm.files))") }
    let milliseconds = 200 + draw(below: 1_000)
    let result = try await program.run([
      "\(server.port)", folder.path, "\(draw(below: .max))", "\(milliseconds)",
    ])
    for line in result.standardOutput.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.first == "done", words.count == 2 else {
        counts.withLock { $0.errors += 1 }
        continue
      }
      look(at: String(words[1]))
      let complete = counts.withLock { counts in
        counts.complete += 1
        return counts.complete
      }
      // Of many, a word from time to time.
      if complete.isMultiple(of: 1_000) {
        write("\(complete) of \(downloads) downloads are complete\n")
      }
    }
  }

  /// A file that was once complete stays complete, whatever replaces it.
  private func look(at name: String) {
    guard let bytes = try? Data(contentsOf: folder.appendingPathComponent(name)) else {
      return note(wrong: "\(name) is not there")
    }
    if !server.isAnyVersion(bytes, of: name) {
      note(wrong: "\(name) has \(bytes.count) bytes of no version")
    }
  }

  private func note(wrong: String) { counts.withLock { $0.wrong.append(wrong) } }

  /// Finishes all that is left, from a server that has come to its senses.
  func settle() async throws {
    let transfers = Transfers(connections: 4)
    for number in 0..<DownloadStorm.files {
      let name = "\(number)"
      server.script(name, .right)
      try await transfers.download(server.url(name), to: folder.appendingPathComponent(name))
      if try Data(contentsOf: folder.appendingPathComponent(name)) != server.file(name) {
        note(wrong: "\(name) was not finished")
      }
    }
    let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.contains(".partial") }
    try? FileManager.default.removeItem(at: folder)
    server.stop()
    let counts = counts.withLock { $0 }
    for wrong in counts.wrong.prefix(10) { print(wrong) }
    print(
      "complete=\(counts.complete) errors=\(counts.errors) wrong=\(counts.wrong.count) left=\(left.count)"
    )
    exit(counts.wrong.isEmpty && left.isEmpty ? 0 : 1)
  }
}
