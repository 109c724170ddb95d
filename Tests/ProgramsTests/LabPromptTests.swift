import Foundation
import TestSupport
import Testing

/// The built `lab` at a terminal, as a person uses it.
@Suite(.watched) struct LabPromptTests {
  @Test
  func `the banner names commands to start with, and a run draws its timeline`() async throws {
    let terminal = try LabTerminal()
    try await terminal.screen.waitForText("run 12 limiter limit=3 work=100ms")
    try await terminal.screen.waitForCurrentLine("limiter·3 virtual>")
    try await terminal.screen.send("run 12 limiter limit=3 work=100ms\r")
    try await terminal.screen.waitForText("makespan 400 ms")
    try await terminal.screen.waitForText("██████████|")
    try await terminal.screen.send("quit\r")
    #expect(try await terminal.screen.waitForExit() == .exited(0))
  }

  @Test
  func `a caret points at the wrong word`() async throws {
    let terminal = try LabTerminal(columns: 120)
    try await terminal.screen.waitForCurrentLine("limiter·3 virtual>")
    try await terminal.screen.send("run 5 limitr\r")
    try await terminal.screen.waitForText(
      String(repeating: " ", count: 25) + "^^^^^^ no mechanism 'limitr'. Did you mean 'limiter'?"
    )
  }

  @Test
  func `Ctrl-C ends a run and keeps the shell, Ctrl-D leaves`() async throws {
    let terminal = try LabTerminal()
    try await terminal.screen.waitForCurrentLine("limiter·3 virtual>")
    try await terminal.screen.send("run 1000 limiter clock=real work=60m kind=download\r")
    try await terminal.screen.waitForText("1,000 downloads")
    try await terminal.screen.send("\u{3}")
    try await terminal.screen.waitForText("interrupted")
    try await terminal.screen.waitForCurrentLine("limiter·3 virtual>")
    try await terminal.screen.send("\u{4}")
    #expect(try await terminal.screen.waitForExit() == .exited(0))
  }

  @Test
  func `lines typed in one session are remembered in the next`() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID())")
    defer { try? FileManager.default.removeItem(at: folder) }
    var environment = plainEnvironment
    environment["XDG_STATE_HOME"] = folder.path
    let path = try LabRunTests.lab.get().path
    let first = try PseudoTerminal(path, environment: environment)
    try await first.waitForCurrentLine("limiter·3 virtual>")
    try await first.send("explain fifo-queue\r")
    try await first.waitForText("fifo-queue: ")
    try await first.send("\u{4}")
    _ = try await first.waitForExit()
    let second = try PseudoTerminal(path, environment: environment)
    try await second.waitForCurrentLine("limiter·3 virtual>")
    try await second.send("\u{1B}[A")
    try await second.waitForCurrentLine("limiter·3 virtual> explain fifo-queue")
  }
}
