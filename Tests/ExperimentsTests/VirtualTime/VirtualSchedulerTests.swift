import Basics
import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct VirtualSchedulerTests {
  let scheduler = VirtualScheduler(workers: 2)
  let log = Log<String>()

  @Test func `tasks start in the order in which they were spawned and take turns at yields`() {
    for name in ["a", "b"] {
      scheduler.spawn { [log] in
        for turn in 1...3 {
          log.note("\(name)\(turn)")
          await Task.yield()
        }
      }
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["a1", "b1", "a2", "b2", "a3", "b3"])
  }

  @Test func `a yield takes two steps`() {
    _ = scheduler.run { await Task.yield() }
    #expect(scheduler.stepsRun == 3)
  }

  @Test func `child tasks, async lets and default actors stay on the scheduler`() {
    actor Sum {
      var total = 0
      func add(_ number: Int) { total += number }
    }
    let sum = Sum()
    let outcome = scheduler.run { [scheduler, log] in
      async let two = 2
      await sum.add(two)
      await withTaskGroup(of: Void.self) { group in
        for number in 1...3 {
          group.addTask {
            try? await scheduler.clock.sleep(nanoseconds: 10)
            await sum.add(number)
          }
        }
      }
      log.note("\(await sum.total) at \(scheduler.now)")
    }
    #expect(outcome == .finished)
    #expect(log.lines == ["8 at 10"])
  }

  @Test func `an immediate task runs inside its creator's step up to its first suspension`() {
    _ = scheduler.run { [scheduler, log] in
      let step = scheduler.current.step
      let task = Task.immediate(executorPreference: scheduler) {
        log.note("inside \(scheduler.current.step == step)")
        await Task.yield()
        log.note("later \(scheduler.current.step > step)")
      }
      log.note("creator")
      await task.value
    }
    #expect(log.lines == ["inside true", "creator", "later true"])
  }

  @Test func `cancelling from inside runs the handler before cancel returns`() {
    let sleeper = scheduler.spawn { [scheduler, log] in
      await withTaskCancellationHandler {
        try? await scheduler.clock.sleep(for: .seconds(1))
        log.note("woken")
      } onCancel: {
        log.note("handler")
      }
    }
    scheduler.spawn { [log] in
      sleeper.cancel()
      log.note("cancelled")
    }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["handler", "cancelled", "woken"])
  }

  @Test func `what is left when nothing can run is told, and ends when it is cancelled`() {
    for tag in [3, 1, 2] as [Int32] {
      scheduler.spawn(tag: tag) { [log] in
        if tag == 2 { return }
        await parkUntilCancelled()
        log.note("\(tag)")
      }
    }
    #expect(scheduler.runUntilIdle() == .stuck(tasks: 2))
    #expect(scheduler.unfinishedTags == [1, 3])
    scheduler.cancelAll()
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["3", "1"])
  }

  @Test func `driving by steps of time stops at each and goes no further`() {
    scheduler.spawn { [scheduler, log] in
      for _ in 0..<3 {
        try? await scheduler.clock.sleep(nanoseconds: 10)
        log.note("\(scheduler.now)")
      }
    }
    #expect(scheduler.advance(by: 0) == .paused)
    #expect(scheduler.advance(by: 9) == .paused)
    #expect(log.lines == [])
    #expect(scheduler.advance(by: 1) == .paused)
    #expect(log.lines == ["10"])
    #expect(scheduler.run(until: .init(nanoseconds: 29)) == .paused)
    #expect(log.lines == ["10", "20"])
    #expect(scheduler.advance(by: 100) == .finished)
    #expect(log.lines == ["10", "20", "30"])
    #expect(scheduler.now == 129, "time passes though nothing is left to do")
  }

  @Test func `a driver may spawn between drives and the task starts at the present time`() {
    _ = scheduler.advance(by: 50)
    scheduler.spawn { [scheduler, log] in log.note("\(scheduler.now)") }
    #expect(scheduler.runUntilIdle() == .finished)
    #expect(log.lines == ["50"])
  }

  @Test func `an asynchronous caller awaits a run on a thread of its own`() async {
    let outcome = await scheduler.onOwnThread { scheduler in
      scheduler.run { try? await scheduler.clock.sleep(for: .seconds(100)) }
    }
    #expect(outcome == .finished)
    #expect(scheduler.now == 100_000_000_000)
  }

  @Test func `the same program takes the same steps every time`() {
    func trace() -> [VirtualScheduler.Current] {
      let scheduler = VirtualScheduler(workers: 3)
      let log = Log<VirtualScheduler.Current>()
      for tag in 1...30 as ClosedRange<Int32> {
        scheduler.spawn(tag: tag) {
          for turn in 0..<5 {
            log.note(scheduler.current)
            if (Int(tag) + turn) % 3 == 0 {
              scheduler.hold(for: Int64(tag) * 7)
            } else {
              try? await scheduler.clock.sleep(nanoseconds: Int64(tag % 4) * 10)
            }
          }
        }
      }
      #expect(scheduler.runUntilIdle() == .finished)
      return log.lines
    }
    let first = trace()
    #expect(first.count == 150)
    for _ in 0..<20 { #expect(trace() == first) }
  }
}

/// Suspends the calling task until it is cancelled.
func parkUntilCancelled() async {
  let (stream, continuation) = AsyncStream<Never>.makeStream()
  for await _ in stream {}
  continuation.finish()
}
