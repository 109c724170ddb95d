import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Exploration

@Suite(.inTurn, .watched) struct TrapTests {
  // Of what stands in an exit test itself the lines are a macro's.
  private static func addTwice() async {
    let counter = ExploreTests.Counter()
    let one = Task { await counter.write(await counter.value + 1) }
    let two = Task { await counter.write(await counter.value + 1) }
    await one.value
    await two.value
    guard await counter.value == 2 else { fatalError("an addition is lost") }
  }

  private static let lineOfTrap: Int = #line - 3

  @Test func `code that traps has its schedule and its steps printed, to the line of the trap`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("a trap", Self.addTwice)
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("an addition is lost"))
    let line = #"explore("a trap", replaying: "v2:a-trap:-:"#
    #expect(
      text.contains("The program stops while \"a trap\" is explored, in this schedule."),
      "\(text)"
    )
    #expect(text.contains(line), "\(text)")
    let last = text.split(separator: "\n").last { $0.contains("and no further") }
    #expect(
      last?.contains("comes to TrapTests.swift:\(Self.lineOfTrap), and no further") == true,
      "\(text)"
    )
    #expect(text.contains("Its steps:\n\n  1  task 1  TrapTests.swift:"), "\(text)")
  }

  private static func goOnForEver() async {
    await Task.yield()
    // Only from here: on a busy machine a step before may be as long.
    Carriers.longStep.store(1, ordering: .releasing)
    // Each time it asks the kernel, which is nothing that an exploration sees.
    while getppid() >= 0 {}
  }

  private static let lineOfLoop: Int = #line - 3

  @Test func `a step that does not end ends the exploration when its time is over`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      do throws(ExplorationFailure) {
        try explore("endless", within: .milliseconds(100), Self.goOnForEver)
        fatalError("it has an end")
      } catch {
        guard case .runaway = error.kind else { fatalError("\(error)") }
        Headway.write("\(error)\n")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains(
        "task 1 does not come back at TrapTests.swift:\(Self.lineOfLoop): it has run for "
      ),
      "\(text)"
    )
    #expect(text.contains("comes to TrapTests.swift:\(Self.lineOfLoop), and no further"), "\(text)")
    #expect(text.contains(#"explore("endless", replaying: "v2:endless:"#), "\(text)")
  }

  @Test func `code that has used up its stack has its schedule printed`() async throws {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("deep") { _ = Self.depth(below: 1) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(#"explore("deep", replaying: "v2:deep:-:1")"#), "\(text)")
  }

  private static func depth(below level: Int) -> Int {
    level == 0 ? 0 : depth(below: level + 1) + 1
  }

  @Test func `each step that does not end is told, with its schedule`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try explore("long") {
        await Task.yield()
        // Only from here: on a busy machine a step before may be looked at twice.
        Carriers.longStep.store(0, ordering: .releasing)
        for _ in 0..<2 {
          let start = ContinuousClock.now
          while !ScheduleUnderWay.hasToldOfLongStep.load(ordering: .acquiring) {
            // Longer than any machine leaves a thread without a processor.
            try require(start.duration(to: .now) < .seconds(60), "the step is not told")
          }
          await Task.yield()
        }
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("A step has run for"), "\(text)")
    #expect(text.contains(#"explore("long", replaying: "v2:long:-:1,a1,1")"#), "\(text)")
    #expect(text.contains(#"explore("long", replaying: "v2:long:-:1,a1,1,a1,1")"#), "\(text)")
    #expect(!text.contains("The program stops"), "\(text)")
  }

  @Test func `a trap as a failed schedule's tasks are cleared away does not hide the failure`()
    async throws
  {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      try explore("cleared away") {
        let clock = VirtualClock()
        Task { do { try await clock.sleep(for: .seconds(60)) } catch { fatalError("cancelled") } }
        await Task.yield()
        try require(false, "what really failed")
      }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("This schedule has failed already: what really failed"), "\(text)")
    #expect(text.contains("Its tasks were cancelled then"), "\(text)")
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
