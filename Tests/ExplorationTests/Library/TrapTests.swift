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

  @Test func `code that traps is a failure like any other, told to the line of the trap`()
    async throws
  {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let failure = try ExploreTests.failure("a trap", Self.addTwice)
      guard case .trap = failure.kind else { fatalError("\(failure)") }
      let again = try ExploreTests.failure("a trap", replaying: failure.schedule, Self.addTwice)
      guard again.schedule == failure.schedule else { fatalError("\(again)") }
      Headway.write("\(failure)\n")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains("an addition is lost"))
    let headline =
      "the smallest that fails: 1 pre-emption: task 1 stops the program at "
      + "TrapTests.swift:\(Self.lineOfTrap): "
      + "Fatal error: an addition is lost\n  1  task 1  ExploreTests.swift:"
    #expect(text.contains(headline), "\(text)")
    let last = text.split(separator: "\n").last { $0.contains("stops at") }
    #expect(
      last?.contains("stops at TrapTests.swift:\(Self.lineOfTrap)") == true,
      "\(text)"
    )
    #expect(text.contains(#"explore("a trap", replaying: "v3:a-trap:"#), "\(text)")
  }

  private static func goOnForEver() async {
    await Task.yield()
    // Only from here: on a busy machine a step before may be as long.
    Workers.longStep.store(1, ordering: .releasing)
    // Each time it asks the kernel, which is nothing that an exploration sees.
    while getppid() >= 0 {}
  }

  private static let lineOfLoop: Int = #line - 3

  @Test func `a step that does not end ends the exploration when its time is over`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      do throws(ExplorationFailure) {
        // Time for a busy machine to come to the loop.
        try explore("endless", within: .seconds(1), Self.goOnForEver)
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
    #expect(text.contains("stops at TrapTests.swift:\(Self.lineOfLoop)"), "\(text)")
    #expect(text.contains(#"explore("endless", replaying: "v3:endless:"#), "\(text)")
  }

  @Test func `code that has used up its stack is a failure like any other`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      let failure = try ExploreTests.failure("deep") { _ = Self.depth(below: 1) }
      Headway.write("\(failure)\n")
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(text.contains(": the stack is used up: calls go too deep"), "\(text)")
    #expect(text.contains(#"explore("deep", replaying: "v3:deep:"#), "\(text)")
  }

  private static func depth(below level: Int) -> Int {
    level == 0 ? 0 : depth(below: level + 1) + 1
  }

  @Test func `each step that does not end is told, with its schedule`() async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      try explore("long") {
        await Task.yield()
        // Only from here: on a busy machine a step before may be looked at twice.
        Workers.longStep.store(0, ordering: .releasing)
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
    #expect(text.contains(#"explore("long", replaying: "v3:long:-:1,a1,1")"#), "\(text)")
    #expect(text.contains(#"explore("long", replaying: "v3:long:-:1,a1,1,a1,1")"#), "\(text)")
    #expect(!text.contains("The program stops"), "\(text)")
  }

  @Test func `what does not end as a schedule's tasks are cleared away keeps no failure back`()
    async
  {
    await #expect(processExitsWith: .success) {
      Workers.longStep.store(0, ordering: .releasing)
      let failure = try ExploreTests.failure("goes on", Self.goOnInHandler)
      guard case .deadlock = failure.kind else { fatalError("\(failure)") }
    }
  }

  private static func goOnInHandler() async {
    let visits = `Exploring inside one's own synchronous code`.Visits(isCareful: true)
    let task = Task {
      await withTaskCancellationHandler {
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
      } onCancel: {
        while true {
          // As long as a wait for something that is not explored.
          var file = pollfd(fd: -1, events: 0, revents: 0)
          poll(&file, 1, 20)
          visits.add()
        }
      }
    }
    await task.value
  }

  @Test(arguments: [true, false])
  func `a trap as a schedule's tasks are cleared away hides nothing`(fails: Bool) async throws {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      [fails] in
      @Sendable func body() async throws {
        let clock = VirtualClock()
        Task { do { try await clock.sleep(for: .seconds(60)) } catch { fatalError("cancelled") } }
        await Task.yield()
        try require(!fails, "what really failed")
      }
      if !fails {
        try explore("cleared away", body)
        return
      }
      let failure = try ExploreTests.failure("cleared away", body)
      guard case .requirement(let message) = failure.kind,
        message.hasPrefix("what really failed"), "\(failure)".contains("the smallest that fails: ")
      else { fatalError("\(failure)") }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    // It is no news: nothing of it is told.
    #expect(!text.contains("Fatal error"), "\(text)")
  }

  /// What happens as a signal that the system's library raises: it aborts in the middle of its own work.
  private static func end(by signal: Int32) async {
    await Task.yield()
    // As it does: some threads have signals blocked.
    var only = sigset_t()
    sigemptyset(&only)
    sigaddset(&only, signal)
    pthread_sigmask(SIG_UNBLOCK, &only, nil)
    raise(signal)
  }

  @Test
  func
    `an abort by the system's library ends the process, with its schedule and its steps printed`()
    async throws
  {
    let result = await #expect(
      processExitsWith: .signal(SIGABRT),
      observing: [\.standardErrorContent]
    ) {
      try explore("an abort") { await Self.end(by: SIGABRT) }
    }
    let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(
      text.contains("The program stops while \"an abort\" is explored, in this schedule."),
      "\(text)"
    )
    #expect(text.contains(#"explore("an abort", replaying: "v3:an-abort:-:1,a1,1")"#), "\(text)")
    #expect(text.contains("Its steps:\n\n  1  task 1  TrapTests.swift:"), "\(text)")
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
