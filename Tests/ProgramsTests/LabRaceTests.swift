import Foundation
import TestSupport
import Testing

/// A race at a terminal: played in virtual time, shown while it goes on by the wall clock.
@Suite(.watched) struct LabRaceTests {
  private static let control = (c: "\u{3}", right: "\u{1B}[C", left: "\u{1B}[D")

  @Test
  func `a race in virtual time is held, gone through event by event, and ended`() async throws {
    let lab = try LabTerminal()
    try await lab.type("race 12 fifo-queue pool limit=3 work=10s")
    try await lab.screen.waitForText("space holds, arrows go event by event")
    // An arrow holds it where something happens; there is nothing before the first arrival.
    try await lab.screen.send(String(repeating: Self.control.left, count: 30))
    try await lab.screen.waitForText("0 s · ×")
    try await lab.screen.send(Self.control.right)
    try await lab.screen.waitForText("10 s · ×")
    try await lab.screen.waitForText("held: space goes on")
    try await lab.screen.waitForText("pool        3 of 12 ended · 3 running · 6 waiting")
    try await lab.screen.waitForText("pool is ahead")
    try await lab.screen.send("q")
    try await lab.screen.waitForText("makespan")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    let text = lab.screen.screen.text
    #expect(text.contains("▸ pool        12 of 12 ended · the last after 40 s"), "\(text)")
    #expect(text.contains("fifo-queue  12 of 12 ended · the last after 2 m"), "\(text)")
    #expect(!text.contains("space holds"), "\(text)")
  }

  @Test
  func `a race whose keys were used stays at its end until a key leaves it`()
    async throws
  {
    let lab = try LabTerminal()
    try await lab.type("race 12 fifo-queue pool limit=3 work=10s")
    try await lab.screen.waitForText("space holds, arrows go event by event")
    try await lab.screen.send("++")
    try await lab.screen.waitForText("the end: Home goes to the beginning")
    try await lab.screen.send("\u{1B}[H")
    try await lab.screen.waitForText("0 s · ×")
    try await lab.screen.send("\u{1B}[F")
    try await lab.screen.waitForText("the end: Home goes to the beginning")
    try await lab.screen.send("q")
    try await lab.screen.waitForText("makespan")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
  }

  @Test
  func `a race on the wall clock is shown while it goes on, and a line is typed ahead`()
    async throws
  {
    let lab = try LabTerminal()
    try await lab.type("race 2 limiter pool limit=1 work=2s clock=real")
    try await lab.screen.waitForText("Ctrl-C ends the race")
    try await lab.screen.send("show\r")
    try await lab.screen.waitForText("makespan")
    try await lab.screen.waitForText("2 of 2 ended")
    try await lab.screen.waitForText("describe   off")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
  }

  @Test(arguments: [
    ("clock=real", "interrupted: what had not ended was cancelled"),
    ("clock=virtual", "interrupted: nothing is shown."),
  ])
  func `Ctrl-C ends a race on either clock, and the lab goes on`(_ clock: String, _ said: String)
    async throws
  {
    let lab = try LabTerminal()
    try await lab.type("race 4 limiter pool limit=1 work=10m \(clock)")
    try await lab.screen.waitForText("of 4 ended · 1 running")
    try await lab.screen.send(Self.control.c)
    try await lab.screen.waitForText(said)
    try await lab.type("run 2")
    try await lab.screen.waitForText("makespan")
  }
}
