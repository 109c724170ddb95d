import Foundation
import TestSupport

/// A terminal with the lab in it, its state in a folder of its own, which stays until the lab has ended.
final class LabTerminal {
  private final class Folder: Sendable {
    let url = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID())")

    init() throws {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }
  }

  /// What the lab's prompt is at first.
  static let prompt = "limiter·3 virtual>"

  let screen: PseudoTerminal
  let folder: URL

  /// `command` is given to a shell instead of starting the lab itself; `$LAB` is its path there.
  init(
    _ arguments: [String] = [],
    command: String? = nil,
    environment more: [String: String] = [:],
    columns: Int = 80,
    rows: Int = 40
  ) throws {
    let kept = try Folder()
    folder = kept.url
    let lab = try LabRunTests.lab.get().path
    var environment = plainEnvironment
    environment["XDG_STATE_HOME"] = folder.path
    environment["LAB"] = lab
    environment["PS1"] = "shell$ "
    environment.merge(more) { $1 }
    screen = try PseudoTerminal(
      command == nil ? lab : "/bin/bash",
      command.map { ["--norc", "--noprofile", "-c", $0] } ?? arguments,
      environment: environment,
      folder: folder.path,
      columns: columns,
      rows: rows,
      keeping: kept
    )
  }

  /// Waits for the prompt, types the line and presses Enter.
  func type(_ line: String, after prompt: String = LabTerminal.prompt) async throws {
    try await screen.waitForCurrentLine(prompt)
    try await screen.send(line + "\r")
  }
}
