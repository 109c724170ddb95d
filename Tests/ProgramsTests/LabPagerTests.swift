import TestSupport
import Testing

/// What is typed while a page is shown is the next line, unless it is a key that the pager names.
@Suite(.watched) struct LabPagerTests {
  private static let pager = "Space: a page, Enter: a line"

  @Test(arguments: [(100, 18), (80, 16)])
  func `a guess typed at a page of a lesson is taken as the guess`(
    _ columns: Int,
    _ rows: Int
  ) async throws {
    let lab = try LabTerminal(columns: columns, rows: rows)
    try await lab.type("lesson 2")
    try await lab.screen.waitForText(Self.pager)
    try await lab.screen.send("300 msec\r")
    try await lab.screen.waitForText("Your guess: 300 ms.")
    #expect(!lab.screen.screen.text.contains(Self.pager), "nothing of the pager is left")
    #expect(lab.screen.screen.text.contains("Enter to skip"), "all of the page was shown")
  }

  @Test(
    arguments: ["run 12 limiter", "advance 3ms", "json", "from here", "quit"]
  )
  func `a command typed at a page of help is carried out whole`(_ line: String) async throws {
    let lab = try LabTerminal(rows: 24)
    try await lab.type("help")
    try await lab.screen.waitForText(Self.pager)
    try await lab.screen.send(line)
    try await lab.screen.waitForCurrentLine("\(LabTerminal.prompt) \(line)")
  }

  @Test
  func `Enter shows a line, q no more, and lines typed ahead are carried out`() async throws {
    let lab = try LabTerminal(rows: 24)
    try await lab.type("help")
    try await lab.screen.waitForText("-- 23 of")
    try await lab.screen.send("\r")
    try await lab.screen.waitForText("-- 24 of")
    try await lab.screen.send("q")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    try await lab.screen.send("help\rset limit 5\rlesson 1\r\r")
    try await lab.screen.waitForText("limit      5")
    try await lab.screen.waitForText("No guess, then.")
    #expect(!lab.screen.screen.text.contains(Self.pager))
  }
}
