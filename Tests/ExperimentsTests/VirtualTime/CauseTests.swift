import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct CauseTests {
  let scheduler = VirtualScheduler(workers: 2)
  let log = Log<String>()

  private func note(_ text: String) {
    let current = scheduler.current
    log.note("\(text) t\(current.tag) by t\(current.cause)")
  }

  @Test func `a task that the driver started was caused by nobody`() {
    scheduler.spawn(tag: 4) { note("start") }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["start t4 by t0"])
  }

  @Test func `a resumed task was caused by who resumed it`() {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    scheduler.spawn(tag: 1) {
      for await _ in stream { break }
      note("woken")
    }
    scheduler.spawn(tag: 2) { continuation.yield() }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["woken t1 by t2"])
  }

  @Test func `a deadline of one's own is caused by oneself`() {
    scheduler.spawn(tag: 1) {
      try? await scheduler.clock.sleep(nanoseconds: 5)
      note("woken")
    }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["woken t1 by t1"])
  }

  @Test func `a cancelled sleeper was caused by who cancelled it`() {
    let sleeper = scheduler.spawn(tag: 1) {
      try? await scheduler.clock.sleep(nanoseconds: 5)
      note("woken")
    }
    scheduler.spawn(tag: 7) { sleeper.cancel() }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["woken t1 by t7"])
  }

  @Test func `yields and calls to actors do not change the cause`() {
    actor Counter {
      var count = 0
      func add() { count += 1 }
    }
    let counter = Counter()
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    scheduler.spawn(tag: 1) {
      for await _ in stream { break }
      await Task.yield()
      note("yielded")
      await counter.add()
      note("called")
    }
    scheduler.spawn(tag: 2) { continuation.yield() }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["yielded t1 by t2", "called t1 by t2"])
  }

  @Test func `an untagged parent passes on which child made it start the next one`() {
    scheduler.spawn {
      await withTaskGroup(of: Void.self) { group in
        for tag in 1...3 as ClosedRange<Int32> {
          if tag > 1 { await group.next() }
          group.addTask {
            scheduler.tagCurrentTask(tag)
            note("start")
            try? await scheduler.clock.sleep(nanoseconds: 5)
          }
        }
      }
    }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["start t1 by t0", "start t2 by t1", "start t3 by t2"])
  }

  @Test func `a task that serves one customer after another is tagged anew for each`() {
    scheduler.spawn {
      for tag in 1...3 as ClosedRange<Int32> {
        scheduler.tagCurrentTask(tag)
        note("serve")
      }
    }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["serve t1 by t0", "serve t2 by t1", "serve t3 by t2"])
  }

  @Test func `a tag does not pass to children, nor to a later task at the same address`() {
    for tag in 1...50 as ClosedRange<Int32> {
      scheduler.spawn(tag: tag) {
        async let child: Void = note("child")
        await child
      }
      _ = scheduler.runUntilIdle()
      scheduler.spawn { note("stranger") }
      _ = scheduler.runUntilIdle()
    }
    #expect(log.lines.count == 100)
    for (index, line) in log.lines.enumerated() {
      #expect(line == (index % 2 == 0 ? "child t0 by t\(index / 2 + 1)" : "stranger t0 by t0"))
    }
  }

  @Test func `the two halves of a hold have the same cause, no matter which task ran between`() {
    let (stream, continuation) = AsyncStream<Void>.makeStream()
    scheduler.spawn(tag: 1) {
      for await _ in stream { break }
      scheduler.hold(for: 10)
      note("held")
    }
    scheduler.spawn(tag: 2) { continuation.yield() }
    scheduler.spawn(tag: 3) { try? await scheduler.clock.sleep(nanoseconds: 5) }
    _ = scheduler.runUntilIdle()
    #expect(log.lines == ["held t1 by t2"])
  }
}
