import Exploration
import TestSupport
import Testing

@Suite(.inTurn, .watched) struct TrapTests {
  @Test func `code that traps has its schedule printed, and that schedule traps again`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("a trap") {
        let counter = ExploreTests.Counter()
        let one = Task { await counter.write(await counter.value + 1) }
        let two = Task { await counter.write(await counter.value + 1) }
        await one.value
        await two.value
        guard await counter.value == 2 else { fatalError("an addition is lost") }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("an addition is lost"))
    let line = #"explore("a trap", replaying: "v2:a-trap:-:"#
    #expect(
      text.contains("The program stops while \"a trap\" is explored, in this schedule."),
      "\(text)"
    )
    #expect(text.contains(line), "\(text)")
  }

  @Test func `a trap outside an exploration prints no schedule`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("well") { await Task.yield() }
      fatalError("later")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("later"))
    #expect(!text.contains("replaying:"))
  }
}
