import Foundation
import TestSupport
import Testing

/// A run that a person watches to its end says what it says through a pipe.
@Suite(.watched) struct LabForegroundTests {
  /// A line without the time that stands before it in a report.
  private func reports(in text: String) -> Set<String> {
    let lines = text.split(separator: "\n").map { line in
      line.split(separator: " ").drop { $0.allSatisfy { $0.isNumber || $0 == "." } }
    }
    return Set(
      lines.compactMap { words in
        words.first.map { ["ns", "us", "ms", "s"].contains($0) } ?? false
          ? words.dropFirst().joined(separator: " ") : nil
      }
    )
  }

  @Test(
    arguments: [
      ("run 3 gcd-semaphore kind=download limit=2 work=30ms", "group.notify came", 22),
      ("run 3 gcd-gate limit=2 work=30ms", "group.notify came", 1),
      ("run 6 operation-queue limit=2 work=10ms", "the barrier block ran", 1),
      ("run 3 limiter kind=copy limit=2", "", 3),
    ]
  )
  func `what a run reports is the same at a terminal and through a pipe`(
    _ command: String,
    _ signal: String,
    _ least: Int
  ) async throws {
    let lab = try LabTerminal(rows: 60)
    try await lab.type(command)
    try await lab.screen.waitForText("makespan")
    try await lab.screen.waitForCurrentLine(LabTerminal.prompt)
    let piped = try await LabRunTests.run("-c", command).standardOutput
    let expected = reports(in: piped)
    #expect(expected.count >= least, "\(piped)")
    #expect(expected.contains { $0.hasPrefix(signal) }, "\(piped)")
    #expect(reports(in: lab.screen.screen.text) == expected)
  }

  @Test
  func `the mechanism says when all is done, however the run was watched`() async throws {
    let lab = try LabTerminal()
    try await lab.type("run 6 gcd-semaphore limit=1 work=20ms; expect completion >= last_end")
    try await lab.screen.waitForText("completion is")
    #expect(!lab.screen.screen.text.contains("does not say"))
    // In the background all may be over before it is waited for: what was asked at the start counts.
    try await lab.type("run 4 gcd-gate limit=2 work=2s")
    try await lab.screen.waitForText("q puts it in the background")
    try await lab.screen.send("q")
    try await lab.screen.waitForText("all 4 tasks have ended")
    try await lab.type("wait", after: "gcd-gate·2 real (all ended)>")
    try await lab.screen.waitForText("makespan")
    #expect(lab.screen.screen.text.contains("group.notify came  after the last task had ended"))
  }
}
