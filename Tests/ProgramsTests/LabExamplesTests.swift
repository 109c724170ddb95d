import Foundation
import Shell
import TestSupport
import Testing

/// Every example of every command's help, typed as it stands.
@Suite(.watched) struct LabExamplesTests {
  static let examples = CommandTable.commands.flatMap(\.examples)

  @Test(arguments: examples)
  func `an example of the help runs as it stands`(_ example: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    // The file that 'source' has for an example.
    try "run 3\n".write(to: folder.appending(path: "demo.lab"), atomically: true, encoding: .utf8)
    let result = try await LabRunTests.lab.get().run(
      ["-c", example],
      environment: plainEnvironment.merging(["XDG_STATE_HOME": folder.path]) { $1 },
      folder: folder.path
    )
    #expect(result.status == .exited(0))
    // On a busy machine an exploration may take long enough to tell how far it is; and what was written is
    // told there, where standard output has it.
    let complaints = result.standardError.split(separator: "\n").filter {
      !$0.hasPrefix("exploring: ") && !$0.hasPrefix("written: ")
    }
    #expect(complaints == [])
    let isSilent = ["quit", "clear"].contains(example) || example.hasPrefix("history")
    #expect(!result.standardOutput.isEmpty || isSilent)
  }
}
