internal import Subprocess
internal import Synchronization
internal import SystemPackage

/// A program run to its end or to the end of its time, with everything it wrote.
package struct ChildProcess: Sendable {
  package enum Ending: Hashable, Sendable {
    case exited(Int32)
    case killed(signal: Int32)
    /// Still running when its time was up, and then killed.
    case outOfTime
    /// Killed because the user asked to stop.
    case interrupted
  }

  package struct CannotStart: Error, CustomStringConvertible {
    package var description: String
  }

  package var ending: Ending
  package var output: String
  package var errors: String

  /// Runs `program` and waits for its end, blocking no thread.
  ///
  /// The program gets a process group of its own: Ctrl-C is for us, and it is killed with everything
  /// that it started. That happens after `timeLimit`, or once `isInterrupted`, asked ten times a
  /// second, is true.
  ///
  /// - Parameters:
  ///   - program: The path of its file.
  ///   - arguments: As they are; no shell reads them.
  ///   - environment: What it finds in its environment beside ours.
  ///   - timeLimit: How long it may run.
  ///   - holdsLifeline: Whether its standard input is a pipe that nobody writes to and that closes
  ///     when this process goes away, however it goes; if not, its standard input is empty.
  ///   - outputFile: Where its standard output goes, so that it can be read while the program runs.
  ///   - isInterrupted: Whether the user asked to stop.
  /// - Returns: How it ended, and what it wrote.
  /// - Throws: `CannotStart`.
  package static func run(
    _ program: String,
    _ arguments: [String],
    environment: [String: String] = [:],
    timeLimit: Duration,
    holdsLifeline: Bool = false,
    outputFile: String? = nil,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) async throws -> ChildProcess {
    var options = PlatformOptions()
    options.processGroupID = 0
    options.teardownSequence = [
      .send(signal: .kill, toProcessGroup: true, allowedDurationToNextStep: .zero)
    ]
    let variables = environment.compactMap { name, value in
      Environment.Key(rawValue: name).map { ($0, String?.some(value)) }
    }
    let configuration = Configuration(
      executable: .path(FilePath(program)),
      arguments: Arguments(arguments),
      environment: .inherit.updating(Dictionary(uniqueKeysWithValues: variables)),
      platformOptions: options
    )
    let process = Task {
      try await collect(configuration, holdsLifeline: holdsLifeline, outputFile)
    }
    let killedBecause = Mutex<Ending?>(nil)
    let watch = Task {
      let end = ContinuousClock.now + timeLimit
      while ContinuousClock.now < end, !isInterrupted() {
        try await Task.sleep(for: .milliseconds(100))
      }
      killedBecause.withLock { $0 = isInterrupted() ? .interrupted : .outOfTime }
      process.cancel()
    }
    defer { watch.cancel() }
    do {
      var child = try await process.value
      if let reason = killedBecause.withLock({ $0 }) { child.ending = reason }
      return child
    } catch {
      guard let reason = killedBecause.withLock({ $0 }) else {
        throw CannotStart(description: "cannot run \(program): \(error)")
      }
      return ChildProcess(ending: reason, output: "", errors: "")
    }
  }

  /// More than any program here writes; one that writes more is ended, and is told as one that cannot be run.
  private static let mostBytes = 1 << 26

  private static func collect(
    _ configuration: Configuration,
    holdsLifeline: Bool,
    _ outputFile: String?
  ) async throws -> ChildProcess {
    guard holdsLifeline else { return try await collect(configuration, input: .none, outputFile) }
    let lifeline = try FileDescriptor.pipe()
    defer { try? lifeline.writeEnd.close() }
    return try await collect(
      configuration,
      input: .fileDescriptor(lifeline.readEnd, closeAfterSpawningProcess: true),
      outputFile
    )
  }

  private static func collect(
    _ configuration: Configuration,
    input: some InputProtocol,
    _ outputFile: String?
  ) async throws -> ChildProcess {
    if let outputFile {
      let file = try FileDescriptor.open(
        FilePath(outputFile),
        .writeOnly,
        options: [.create, .truncate, .closeOnExec],
        permissions: .ownerReadWrite
      )
      let result = try await Subprocess.run(
        configuration,
        input: input,
        output: .fileDescriptor(file, closeAfterSpawningProcess: true),
        error: .bytes(limit: mostBytes)
      )
      return ChildProcess(
        ending: Ending(result.terminationStatus),
        output: "",
        errors: String(decoding: result.standardError, as: UTF8.self)
      )
    }
    let result = try await Subprocess.run(
      configuration,
      input: input,
      output: .bytes(limit: mostBytes),
      error: .bytes(limit: mostBytes)
    )
    return ChildProcess(
      ending: Ending(result.terminationStatus),
      output: String(decoding: result.standardOutput, as: UTF8.self),
      errors: String(decoding: result.standardError, as: UTF8.self)
    )
  }
}

extension ChildProcess.Ending {
  fileprivate init(_ status: TerminationStatus) {
    switch status {
    case .exited(let status): self = .exited(status)
    case .signaled(let signal): self = .killed(signal: signal)
    }
  }
}
