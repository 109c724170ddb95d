internal import Foundation
internal import Synchronization

/// Another program, run to its end or to the end of its time.
struct Subprocess: Sendable {
  let program: String
  /// As they are; no shell reads them.
  let arguments: [String]
  /// The folder it starts in; nil for this process's own.
  var folder: String?
  /// In seconds; after that the program is ended by force.
  let timeLimit: Double

  /// How it ended, and what it wrote.
  struct Ending: Sendable {
    enum Cause: Hashable, Sendable {
      case exited(Int32)
      case signalled(Int32)
      case outOfTime
      case interrupted
    }

    var cause: Cause
    var output: String
    var errors: String

    /// The last line of its output, read as JSON.
    func decoded<Value: Decodable>() throws -> Value {
      let line = output.split(separator: "\n").last.map(String.init) ?? ""
      return try JSONDecoder().decode(Value.self, from: Data(line.utf8))
    }
  }

  /// Runs the program; an interrupt ends it by force.
  ///
  /// - Returns: how it ended.
  /// - Throws: what keeps it from being started.
  func run(_ interruption: Interruption) async throws -> Ending {
    let isInterrupted = Flag()
    return try await interruption.whileRunning {
      try await withCheckedThrowingContinuation { continuation in
        // A thread of its own: waiting for a process blocks.
        let thread = Thread {
          continuation.resume(with: Result { try runOnThread(until: isInterrupted) })
        }
        thread.start()
      }
    } onInterrupt: {
      isInterrupted.raise()
    }
  }

  private func runOnThread(until isInterrupted: Flag) throws -> Ending {
    // Into files and not pipes: nobody need read while it runs, and a pipe held open by a grandchild
    // would keep us waiting.
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("lab-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let output = folder.appendingPathComponent("output")
    let errors = folder.appendingPathComponent("errors")
    try Data().write(to: output)
    try Data().write(to: errors)

    let process = Process()
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    if let place = self.folder { process.currentDirectoryURL = URL(fileURLWithPath: place) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    let end = Date.now.addingTimeInterval(timeLimit)
    while process.isRunning, Date.now < end, !isInterrupted.isRaised {
      Thread.sleep(forTimeInterval: 0.01)
    }
    var forced: Ending.Cause?
    if process.isRunning {
      forced = isInterrupted.isRaised ? .interrupted : .outOfTime
      process.terminate()
      let grace = Date.now.addingTimeInterval(2)
      while process.isRunning, Date.now < grace { Thread.sleep(forTimeInterval: 0.01) }
      if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
    process.waitUntilExit()
    let status = process.terminationStatus
    return Ending(
      cause: forced
        ?? (process.terminationReason == .exit ? .exited(status) : .signalled(status)),
      output: Self.text(output),
      errors: Self.text(errors)
    )
  }

  private static func text(_ file: URL) -> String {
    String(decoding: (try? Data(contentsOf: file)) ?? Data(), as: UTF8.self)
  }

  private final class Flag: Sendable {
    private let raised = Mutex(false)

    var isRaised: Bool { raised.withLock { $0 } }

    func raise() { raised.withLock { $0 = true } }
  }
}
