import Basics
import Foundation
import Limiters
import Synchronization
import TestSupport
import Testing
import WorkStealing

/// In a process of its own each, as an executor serves the whole of one.
@Suite(.watched) struct `An executor that serves the whole program` {
  @Test func `runs whatever prefers no other, also after a sleep, and not the main actor`() async {
    await #expect(processExitsWith: .success) {
      WorkStealingExecutor.serveWholeProgram(workers: 2, name: "own")
      // What runs already goes on there from its next suspension on. An await that finds its answer there is none.
      while !isOnOwnThread { await Moment.pass() }
      await Task { check(isOnOwnThread, "a task") }.value
      await Task.detached { check(isOnOwnThread, "a detached task") }.value
      async let child: Void = check(isOnOwnThread, "an async let")
      await child
      await withDiscardingTaskGroup { group in
        for _ in 1...100 {
          group.addTask {
            await Task.yield()
            check(isOnOwnThread, "a child after a yield")
          }
        }
      }
      await Desk().look()
      try await Task.sleep(for: .milliseconds(1))
      check(isOnOwnThread, "after a sleep")
      try await Task.sleep(until: .now + .milliseconds(1), clock: .suspending)
      check(isOnOwnThread, "after a sleep until an instant")
      await MainActor.run { check(!isOnOwnThread, "the main actor") }
      check(isOnOwnThread, "after the main actor")
    }
  }

  @Test func `is one, however often it is asked for`() async {
    await #expect(processExitsWith: .success) {
      let first = WorkStealingExecutor.serveWholeProgram(workers: 2, name: "own")
      let second = WorkStealingExecutor.serveWholeProgram(workers: 5, name: "other")
      check(first === second && second.workers == 2, "a second one with \(second.workers) workers")
    }
  }

  @Test func `runs every job once, from inside and outside, through waits and cancellations`() async
  {
    await #expect(processExitsWith: .success) {
      let executor = WorkStealingExecutor.serveWholeProgram(workers: 3, name: "own")
      let limiter = ConcurrencyLimiter(concurrency: 2)
      let served = Count()
      await withDiscardingTaskGroup { group in
        for number in 1...10_000 {
          group.addTask {
            let visit = Task {
              try await limiter.run {
                await Task.yield()
                served.add()
              }
            }
            if number.isMultiple(of: 3) { visit.cancel() }
            _ = await visit.result
          }
        }
        group.addTask {
          await onOwnThread("outside") {
            for _ in 1...1_000 { Task { served.add() } }
          }
        }
      }
      // Those that are cancelled may have been served before.
      while served.value < 1_000 + 6_667 { await Moment.pass() }
      check(limiter.statistics.running == 0, "\(limiter.statistics.running) still run")
      check(executor.statistics.jobs > 20_000, "\(executor.statistics.jobs) jobs only")
    }
  }

  @Test func `leaves the tasks to Swift's own pool when it is shut down`() async {
    await #expect(processExitsWith: .success) {
      let executor = WorkStealingExecutor.serveWholeProgram(workers: 2, name: "own")
      await Task { check(isOnOwnThread, "a task") }.value
      await executor.shutdown()
      await Task.yield()
      check(!isOnOwnThread, "a task after the end")
      await withDiscardingTaskGroup { group in
        for _ in 1...100 {
          group.addTask {
            await Task.yield()
            check(!isOnOwnThread, "a child after the end")
          }
        }
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }
}

private final class Count: Sendable {
  private let number = Atomic(0)
  var value: Int { number.load(ordering: .relaxed) }
  func add() { number.add(1, ordering: .relaxed) }
}

private actor Desk {
  func look() { check(isOnOwnThread, "an actor") }
}

/// Whether the calling thread is one of the executor's, by its name.
private var isOnOwnThread: Bool {
  let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
  return name?.hasPrefix("own-") == true
}

/// Ends the process with a sentence where something is not so.
private func check(_ isSo: Bool, _ what: String) {
  if !isSo { fatalError("\(what): not so") }
}
