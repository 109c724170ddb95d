import Mechanisms
import TestSupport
import Testing

@Suite(.watched) struct `Misuse of a mechanism` {
  @Test func `by a limit below 1 stops with the limit and the bound`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      _ = MechanismSetup(limit: 0)
    }
    try Self.expect(result, toSay: "a limit must be at least 1, not 0")
  }

  @Test func `by changing a limit that is fixed stops with its name`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Catalogue.entry("task-group")?.make(MechanismSetup(limit: 1)).changeLimit(to: 2)
    }
    try Self.expect(result, toSay: "task-group cannot change its limit; its profile says so")
  }

  @Test func `by suspending what cannot be suspended stops with its name`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      Catalogue.entry("limiter")?.make(MechanismSetup(limit: 1)).setSuspended(true)
    }
    try Self.expect(result, toSay: "limiter cannot be suspended; its profile says so")
  }

  private static func expect(_ result: ExitTest.Result?, toSay message: String) throws {
    let output = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
    #expect(output.contains(message))
  }
}
