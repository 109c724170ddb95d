import TestSupport
import Testing

/// Answers that go by the main queue: the program that grades serves it.
@Suite(.watched, .serialized) struct `Answers by way of the main queue` {
  @Test func `are heard, and the client of lesson 4 that has them is right`() async throws {
    let graded = try await BuiltProgram("main-queue-grade").run(["7"], deadline: .seconds(120))
    #expect(graded.status == .exited(0), "\(graded)")
    let last = try #require(graded.standardOutput.split(separator: "\n").last)
    #expect(last.contains(#""questions":"#) && last.contains(#""passed":true"#), "\(graded)")
  }
}
