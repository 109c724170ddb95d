import Foundation
import TestSupport
import Testing

/// The course at a terminal, as a newcomer takes it, mistakes and all.
@Suite(.watched) struct LabLessonTests {
  /// A terminal with the lab in it, its state in a folder that outlives it.
  private final class Learner {
    let folder: URL

    init() { folder = FileManager.default.temporaryDirectory.appending(path: "lab-\(UUID())") }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func sitDown(columns: Int = 80) async throws -> PseudoTerminal {
      var environment = plainEnvironment
      environment["XDG_STATE_HOME"] = folder.path
      let screen = try PseudoTerminal(
        LabRunTests.lab.get().path,
        environment: environment,
        columns: columns,
        rows: 40
      )
      try await screen.waitForCurrentLine("limiter·3 virtual>")
      // In a narrow window a page of a lesson is longer than the window.
      try await screen.send("set pager off\r")
      try await screen.waitForText("pager      off")
      try await screen.waitForCurrentLine("limiter·3 virtual>")
      return screen
    }
  }

  @Test(arguments: [80, 40])
  func `somebody who types wrong things is never stuck and never loses progress`(
    _ columns: Int
  ) async throws {
    let learner = Learner()
    let screen = try await learner.sitDown(columns: columns)
    try await screen.send("lesson 7\r")
    try await screen.waitForText("Enter to skip.")
    try await screen.waitForCurrentLine("lesson 7>")
    // A wrong form, a wrong command, Ctrl-C in the middle of a line, an unmet check.
    try await screen.send("soon\r")
    try await screen.waitForText("no command 'soon'")
    try await screen.send("300\r")
    try await screen.waitForText("'300' is not what is asked for")
    // Before the prompt a Ctrl-C ends what is under way, and what was typed ahead is lost with it.
    try await screen.waitForCurrentLine("lesson 7>")
    try await screen.send("half a li\u{3}")
    try await screen.waitForCurrentLine("lesson 7>")
    try await screen.send("check\r")
    try await screen.waitForText("have not run anything since")
    try await screen.waitForCurrentLine("lesson 7>")
    try await screen.send("100ms\r")
    try await screen.waitForText("Your guess: 100 ms.")
    try await screen.send("run 6 limiter limit=3 work=100ms\r")
    try await screen.waitForText("makespan 200 ms")
    try await screen.send("check\r")
    try await screen.waitForText("Try again; 'hint' helps.")
    try await screen.send("hint\r")
    try await screen.waitForText("Hint 1 of 3")
    // Away, by Ctrl-D on an empty line, and back the next day.
    try await screen.waitForCurrentLine("lesson 7>")
    try await screen.send("\u{4}")
    #expect(try await screen.waitForExit() == .exited(0))

    let again = try await learner.sitDown(columns: columns)
    try await again.send("lesson 7\r")
    try await again.waitForText("100ms.")
    try await again.send("run 6 limiter limit=2 work=100ms\r")
    try await again.waitForText("makespan 300 ms")
    try await again.send("check\r")
    try await again.waitForText("you guessed 100 ms; it is 200 ms")
    try await again.waitForText("Passed. 'next' goes on.")
    try await again.send("next\r")
    try await again.waitForText("(2 of 5)")
    try await again.send("leave\r")
    try await again.waitForCurrentLine("limiter·3 virtual>")
    try await again.send("lessons\r")
    try await again.waitForText("1 of 3 steps")
  }

  @Test
  func `a lab that is killed has kept the learner's place`() async throws {
    let learner = Learner()
    let screen = try await learner.sitDown()
    try await screen.send("lesson 7\r")
    try await screen.waitForText("Enter to skip.")
    try await screen.send("\r")
    try await screen.waitForText("No guess, then.")
    try await screen.send("run 6 limiter limit=2 work=100ms; check; next\r")
    try await screen.waitForText("(2 of 5)")
    screen.signal(SIGKILL)
    _ = try await screen.waitForExit()
    let again = try await learner.sitDown()
    try await again.send("lesson 7\r")
    try await again.waitForText("(2 of 5)")
  }

  @Test
  func `the page behind a game that is over takes a guess`() async throws {
    let learner = Learner()
    let screen = try await learner.sitDown()
    try await screen.send("lesson 6\r")
    try await screen.waitForText("Enter to skip.")
    try await screen.send("yes\r")
    try await screen.waitForText("Your guess: yes.")
    try await screen.send("step specimen-lost-wake-up\r")
    try await screen.waitForCurrentLine("choose>")
    try await screen.send("1; 1; 1; 1; 2; 2; 1; 1; 1; 1\r")
    try await screen.waitForCurrentLine("back or done>")
    try await screen.send("check; next\r")
    try await screen.waitForText("(2 of 6)")
    try await screen.waitForCurrentLine("lesson 6>")
    try await screen.send("few\r")
    try await screen.waitForText("Your guess: few.")
  }
}
