import Basics
import Synchronization
import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct HoldTests {
  let log = Log<String>()

  @Test func `a pool of two runs blocking work two at a time, on the lowest free workers`() {
    let scheduler = VirtualScheduler(workers: 2)
    for tag in 1...5 as ClosedRange<Int32> {
      scheduler.spawn(tag: tag) { [log] in
        let start = scheduler.current
        scheduler.hold(for: 100)
        log.note("t\(tag) w\(start.worker) \(start.now)..\(scheduler.now)")
      }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(
      log.lines == [
        "t1 w1 0..100", "t2 w2 0..100", "t3 w1 100..200", "t4 w2 100..200", "t5 w1 200..300",
      ]
    )
  }

  @Test func `suspended tasks hold no worker, so one worker serves them all at once`() {
    let scheduler = VirtualScheduler(workers: 1)
    for _ in 1...5 { scheduler.spawn { try? await scheduler.clock.sleep(nanoseconds: 100) } }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(scheduler.now == 100)
  }

  @Test func `a pool whose workers are all held runs nothing, though others are ready`() {
    let scheduler = VirtualScheduler(workers: 2)
    for _ in 0..<2 { scheduler.spawn { scheduler.hold(for: 1000) } }
    scheduler.spawn { [log] in
      try? await scheduler.clock.sleep(nanoseconds: 10)
      log.note("\(scheduler.now)")
    }
    #expect(scheduler.runUntilIdle() == .finished)
    // It could not even begin to sleep before a worker was free.
    #expect(log.lines == ["1010"])
  }

  @Test func `a job that holds keeps its actor, and others go on meanwhile`() {
    let scheduler = VirtualScheduler(workers: 3)
    actor Account {
      func slow(_ scheduler: VirtualScheduler) { scheduler.hold(for: 50) }
      func look() {}
    }
    let account = Account()
    scheduler.spawn { await account.slow(scheduler) }
    scheduler.spawn { [log] in
      await account.look()
      log.note("looked at \(scheduler.now)")
    }
    scheduler.spawn { [log] in
      try? await scheduler.clock.sleep(nanoseconds: 20)
      log.note("slept until \(scheduler.now)")
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["slept until 20", "looked at 50"])
  }

  @Test func `a job may hold several times in one step and keeps its worker and step`() {
    let scheduler = VirtualScheduler(workers: 2)
    scheduler.spawn(tag: 1) { [log] in
      let before = scheduler.current
      for _ in 0..<3 { scheduler.hold(for: 10) }
      let after = scheduler.current
      log.note("\(before.worker == after.worker) \(before.step == after.step) \(after.tag)")
    }
    scheduler.spawn(tag: 2) {
      for _ in 0..<10 { try? await scheduler.clock.sleep(nanoseconds: 3) }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["true true 1"])
    #expect(scheduler.now == 30)
  }

  @Test(arguments: 1...3)
  func `a horizon may fall while jobs hold, and the drive returns all the same`(workers: Int) {
    let scheduler = VirtualScheduler(workers: workers)
    for tag in 1...3 as ClosedRange<Int32> {
      scheduler.spawn(tag: tag) { [log] in
        scheduler.hold(for: 100)
        log.note("\(tag)")
      }
    }
    for _ in 0..<9 { #expect(scheduler.advance(by: 10) == .paused) }
    #expect(log.lines == [])
    let ends = Int64((3 + workers - 1) / workers) * 100
    #expect(scheduler.advance(by: ends - 90) == .finished)
    #expect(log.lines == ["1", "2", "3"])
  }

  @Test func `a paused drive may be ended by one without a horizon, and the other way round`() {
    let scheduler = VirtualScheduler(workers: 2)
    scheduler.spawn { for _ in 0..<3 { scheduler.hold(for: 100) } }
    scheduler.spawn { try? await scheduler.clock.sleep(nanoseconds: 500) }
    #expect(scheduler.advance(by: 150) == .paused)
    #expect(scheduler.runUntilIdle() == .finished)
    scheduler.spawn { scheduler.hold(for: 100) }
    #expect(scheduler.advance(by: 50) == .paused)
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(scheduler.now == 600)
  }

  @Test func `a run in which nothing holds makes no thread, and helpers are used again`() {
    let scheduler = VirtualScheduler(workers: 8)
    let threads = Mutex<Set<UInt>>([])
    let note = { @Sendable in _ = threads.withLock { $0.insert(OSThread.current) } }
    for _ in 0..<100 {
      scheduler.spawn {
        note()
        try? await scheduler.clock.sleep(nanoseconds: 5)
        note()
      }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(threads.withLock { $0 } == [OSThread.current])
    threads.withLock { $0 = [] }
    for _ in 0..<100 {
      scheduler.spawn {
        note()
        scheduler.hold(for: 5)
        note()
      }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    // Eight jobs hold at once and one thread leads; the thread that started is among them.
    #expect(threads.withLock { $0.count } <= 9)
  }

  @Test func `a lock taken before a hold is still locked after it, on the same thread`() {
    let scheduler = VirtualScheduler(workers: 2)
    let value = Mutex(0)
    scheduler.spawn {
      value.withLock {
        let thread = OSThread.current
        scheduler.hold(for: 10)
        #expect(OSThread.current == thread)
        $0 += 1
      }
    }
    scheduler.spawn { [log] in
      let got: Void? = value.withLockIfAvailable { _ in }
      log.note(got == nil ? "locked" : "free")
      try? await scheduler.clock.sleep(nanoseconds: 11)
      value.withLock { log.note("\($0)") }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["locked", "1"])
  }
}
