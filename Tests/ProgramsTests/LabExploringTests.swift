import TestSupport
import Testing

/// Code that ends its program, or never comes back: a verdict, and the lab lives on.
@Suite(.watched) struct LabExploringTests {
  @Test(
    arguments: [
      ("specimen-trap", "trap", "2 permits are free, and there are 1"),
      ("specimen-checked-twice", "trap", "tried to resume its continuation more than once"),
      ("specimen-resuming-deinit", "trap", "tried to resume its continuation more than once"),
      // The trap comes when what the schedule left is brought to its end.
      ("specimen-trap-too-late", "over-admission", "2 running, limit 1"),
      ("specimen-endless-loop", "livelock", "the step did not end within 10 s"),
    ].fewUnlessLong(4)
  )
  func `code that ends its program is explored and replayed, with its schedule`(
    _ specimen: String,
    _ kind: String,
    _ words: String
  ) async throws {
    let explored = try await LabRunTests.run("-c", "explore \(specimen)", "-c", "run 2 limiter")
    #expect(explored.status == .exited(1))
    #expect(explored.standardOutput.contains("✗ \(kind)\n"), "\(explored.standardOutput)")
    #expect(explored.standardOutput.contains(words), "\(explored.standardOutput)")
    #expect(explored.standardOutput.contains("makespan 100 ms"), "what follows is carried out")
    let lines = explored.standardOutput.split(separator: "\n")
    let line = try #require(lines.first { $0.hasPrefix("replay ") })
    #expect(line.hasPrefix("replay v3:\(specimen)-2-1-"))
    let replayed = try await LabRunTests.run("-c", String(line))
    #expect(replayed.status == .exited(1))
    #expect(replayed.standardOutput.contains("✗ \(kind): "), "\(replayed.standardOutput)")
  }

  @Test(
    arguments: [
      ("specimen-trap tasks=3", "the smallest that fails, 7 steps", "v3:specimen-trap-2-1-none:"),
      // The first schedule of this seed has pre-emptions, and three tasks.
      (
        "specimen-trap tasks=3 strategy=random", "the smallest that fails, 7 steps",
        "v3:specimen-trap-2-1-none:"
      ),
      (
        "specimen-resuming-deinit tasks=3", "the smallest that fails, 7 steps",
        "v3:specimen-resuming-deinit-2-1-none:"
      ),
      (
        "specimen-checked-twice tasks=3", "the smallest that fails, 5 steps, 1 cancellation",
        "v3:specimen-checked-twice-2-1-any:"
      ),
    ]
  )
  func `what ends the program is made as small as it can be`(
    _ explored: String,
    _ heading: String,
    _ schedule: String
  ) async throws {
    let text = try await LabRunTests.run("-c", "explore \(explored)").standardOutput
    #expect(text.contains(heading), "\(text)")
    #expect(text.contains("replay \(schedule)"), "\(text)")
    #expect(text.contains("ended the program that explores"), "\(text)")
    let found = try await LabRunTests.run("--json", "-c", "explore \(explored)").standardOutput
    #expect(found.contains("\"schedule\":\"v3:\(explored.prefix { $0 != " " })-3-1-"), "\(found)")
  }

  @Test func `the game names a choice that ends the program, and goes on behind it`() async throws {
    let game = try await LabRunTests.run(
      "-c",
      "step specimen-checked-twice; 1; 1; 2; 1; 2; back; 1; done"
    )
    let text = game.standardOutput
    #expect(text.contains("[2] · ends the program"), "\(text)")
    #expect(text.contains("✗ trap in 5 steps: run(_:) tried to resume"), "\(text)")
    #expect(text.contains("step 5 t02 is admitted; its body runs"), "\(text)")
  }
}
