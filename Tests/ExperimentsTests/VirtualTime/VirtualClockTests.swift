import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct VirtualClockTests {
  let scheduler = VirtualScheduler(workers: 4)
  let log = Log<String>()

  @Test func `time stands still while anything can run and then jumps to the next deadline`() {
    let outcome = scheduler.run { [scheduler, log] in
      log.note("\(scheduler.now)")
      for _ in 0..<100 { await Task.yield() }
      log.note("\(scheduler.now)")
      try? await scheduler.clock.sleep(for: .seconds(3600))
      log.note("\(scheduler.now)")
    }
    #expect(outcome == .finished)
    #expect(log.lines == ["0", "0", "3600000000000"])
  }

  @Test func `sleepers with one deadline wake in the order in which they went to sleep`() {
    for number in 0..<20 {
      scheduler.spawn { [scheduler, log] in
        // They start at different times and have one deadline in common.
        try? await scheduler.clock.sleep(nanoseconds: Int64(20 - number))
        try? await scheduler.clock.sleep(until: .init(nanoseconds: 100))
        log.note("\(number)")
      }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == (0..<20).reversed().map(String.init))
  }

  @Test func `a deadline that has passed returns at once and takes no step`() {
    _ = scheduler.run { [scheduler] in
      try? await scheduler.clock.sleep(until: .init(nanoseconds: 0))
      try? await scheduler.clock.sleep(until: .init(nanoseconds: -5))
    }
    #expect(scheduler.stepsRun == 1)
    #expect(scheduler.now == 0)
  }

  @Test func `a sleep of a cancelled task throws at once and time does not pass`() {
    let sleeper = scheduler.spawn { [scheduler, log] in
      do {
        try await scheduler.clock.sleep(for: .seconds(10))
        log.note("slept")
      } catch is CancellationError {
        log.note("cancelled at \(scheduler.now)")
      } catch {
        log.note("\(error)")
      }
      do { try await scheduler.clock.sleep(for: .seconds(10)) } catch { log.note("again") }
    }
    scheduler.spawn { [scheduler] in
      try? await scheduler.clock.sleep(nanoseconds: 7)
      sleeper.cancel()
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["cancelled at 7", "again"])
    #expect(scheduler.now == 7)
  }

  @Test func `a sleep cancelled between drives ends in the next one`() {
    let sleeper = scheduler.spawn { [scheduler, log] in
      do { try await scheduler.clock.sleep(for: .seconds(10)) } catch { log.note("cancelled") }
    }
    #expect(scheduler.advance(by: 5) == .paused)
    sleeper.cancel()
    #expect(scheduler.advance(by: 0) == .finished)
    #expect(log.lines == ["cancelled"])
    #expect(scheduler.now == 5)
  }

  @Test func `the standard library's sleep follows the clock it is given`() {
    _ = scheduler.run { [scheduler, log] in
      try? await Task.sleep(for: .milliseconds(3), clock: scheduler.clock)
      log.note("\(scheduler.now)")
    }
    #expect(log.lines == ["3000000"])
  }
}
