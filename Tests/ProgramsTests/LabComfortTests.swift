import Foundation
import TestSupport
import Testing

/// What makes an hour at the prompt pleasant: a start file, a pager, keys in a live view.
@Suite(.watched) struct LabComfortTests {
  private func configured(_ text: String) throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lab-config-\(UUID())")
    let own = folder.appending(path: "concurrency-lab")
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
    try Data(text.utf8).write(to: own.appending(path: "rc"))
    return folder
  }

  @Test
  func `the start file is carried out before the prompt, and never for -c or --no-rc`()
    async throws
  {
    let folder = try configured("set limit 7\nuse pool\nnonsense\n")
    defer { try? FileManager.default.removeItem(at: folder) }
    let environment = ["XDG_CONFIG_HOME": folder.path]
    let lab = try LabTerminal(environment: environment, columns: 200)
    try await lab.screen.waitForText("rc:3: no command 'nonsense'.")
    try await lab.screen.waitForCurrentLine("pool·7 virtual>")
    let plain = try LabTerminal(["--no-rc"], environment: environment)
    try await plain.screen.waitForCurrentLine(LabTerminal.prompt)
    let result = try await LabRunTests.lab.get().run(
      ["-c", "show"],
      environment: plainEnvironment.merging(environment) { $1 }
    )
    #expect(result.standardOutput.contains("limit      3"))
  }

  @Test
  func `what is longer than the window comes page by page, and 'set pager off' ends that`()
    async throws
  {
    let lab = try LabTerminal(rows: 20)
    try await lab.type("help")
    try await lab.screen.waitForText("-- 19 of ")
    try await lab.screen.send("\r")
    try await lab.screen.waitForText("-- 20 of ")
    try await lab.screen.send("q")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    #expect(!lab.screen.screen.text.contains("of lines"), "nothing is left behind")
    try await lab.screen.send("help\r")
    try await lab.screen.waitForText("-- 19 of ")
    try await lab.screen.send("\u{3}")
    try await lab.type("set pager off; help")
    try await lab.screen.waitForText("'help COMMAND' says more.")
  }

  @Test
  func `in 'watch' the limit is changed, a task cancelled and the keys listed`() async throws {
    let lab = try LabTerminal()
    try await lab.type("spawn 8 limiter clock=real work=60m limit=2")
    try await lab.type("watch", after: "limiter·2 real (2▸ 6·)>")
    try await lab.screen.waitForText("? lists the keys")
    try await lab.screen.send("?")
    try await lab.screen.waitForText("/ finds a task")
    try await lab.screen.send("l3\r")
    try await lab.screen.waitForText("the limit is 3 now")
    try await lab.screen.waitForText("\nlimit   3")
    try await lab.screen.send("c8\r")
    try await lab.screen.waitForText("t08 was told to cancel")
    #expect(lab.screen.screen.isOther)
    lab.screen.resize(columns: 60, rows: 16)
    try await lab.screen.send("/4\r")
    try await lab.screen.waitForText("t04 has waited")
    try await lab.screen.send("q")
    try await lab.screen.waitForCurrentLine("limiter·3 real (3▸ 4·)>")
    #expect(!lab.screen.screen.isOther && lab.screen.screen.cursorIsVisible)
    #expect(lab.screen.screen.text.contains("▸ t04   ·"), "the last picture stays")
  }
}
