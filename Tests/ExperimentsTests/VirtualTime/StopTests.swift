import Basics
import TestSupport
import Testing

@testable import Experiments

@Suite(.watched) struct StopTests {
  let log = Log<String>()

  @Test func `stopping cancels what runs, sleeps and holds, and returns`() {
    let scheduler = VirtualScheduler(workers: 2)
    scheduler.spawn { [log] in
      do { try await scheduler.clock.sleep(for: .seconds(10)) } catch {
        log.note("sleeper \(error)")
      }
    }
    scheduler.spawn { [log] in
      scheduler.hold(for: 1_000_000_000_000)
      log.note("holder \(Task.isCancelled)")
    }
    scheduler.spawn { scheduler.stop() }
    #expect(scheduler.runUntilIdle() == .stopped(tasksLeft: 0))
    #expect(log.lines == ["sleeper CancellationError()", "holder true"])
  }

  @Test func `a task that spins on failing sleeps does not keep a stopped run from returning`() {
    let scheduler = VirtualScheduler(workers: 2)
    scheduler.spawn {
      while true {
        try? await scheduler.clock.sleep(for: .seconds(1))
        await Task.yield()
        if scheduler.stepsRun > 1_000_000 { return }
      }
    }
    scheduler.spawn { scheduler.stop() }
    #expect(scheduler.runUntilIdle() == .stopped(tasksLeft: 1))
    #expect(scheduler.stepsRun < 100_000)
  }

  @Test func `a job that holds in small slices ends when the run is stopped`() {
    let scheduler = VirtualScheduler(workers: 1)
    scheduler.spawn { [log] in
      let end = scheduler.now + 1_000_000_000
      while scheduler.now < end { scheduler.hold(for: 10_000_000) }
      log.note("done")
    }
    #expect(scheduler.advance(by: 25_000_000) == .paused)
    scheduler.stop()
    #expect(scheduler.advance(by: 1) == .stopped(tasksLeft: 0))
    #expect(log.lines == ["done"])
  }

  @Test func `a task spawned after the stop is cancelled before it starts`() {
    let scheduler = VirtualScheduler(workers: 1)
    scheduler.stop()
    scheduler.spawn { [log] in log.note("\(Task.isCancelled)") }
    #expect(scheduler.runUntilIdle() == .stopped(tasksLeft: 0))
    #expect(log.lines == ["true"])
  }

  @Test func `a stop from another thread ends a run that would go on for ever`() async {
    let scheduler = VirtualScheduler(workers: 1)
    let started = AsyncStream<Void>.makeStream()
    async let outcome = scheduler.onOwnThread { scheduler in
      scheduler.run {
        started.continuation.yield()
        while !Task.isCancelled { try? await scheduler.clock.sleep(for: .seconds(1)) }
      }
    }
    for await _ in started.stream { break }
    scheduler.stop()
    #expect(await outcome == .stopped(tasksLeft: 0))
  }

  @Test func `cancelling the task that awaits a run stops the run`() async {
    let scheduler = VirtualScheduler(workers: 1)
    let started = AsyncStream<Void>.makeStream()
    let awaiting = Task {
      await scheduler.onOwnThread { scheduler in
        scheduler.run {
          started.continuation.yield()
          while !Task.isCancelled { try? await scheduler.clock.sleep(for: .seconds(1)) }
        }
      }
    }
    for await _ in started.stream { break }
    awaiting.cancel()
    #expect(await awaiting.value == .stopped(tasksLeft: 0))
  }
}
