import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a verdict says of code whose work leaves the exploration.
@Suite(.inTurn, .watched) struct `Calls of unchanged code that nobody sees` {
  private static func useBarrier() {
    let barrier = UnsafeMutablePointer<pthread_barrier_t>.allocate(capacity: 1)
    defer { barrier.deallocate() }
    pthread_barrier_init(barrier, nil, 1)
    pthread_barrier_wait(barrier)
    pthread_barrier_destroy(barrier)
  }

  private static let lineOfWait: Int = #line - 4

  @Test func `a barrier of the system is named in the verdict, with its line`() throws {
    let verdict = try explore("barrier") { Self.useBarrier() }
    #expect(verdict.coverage == .bounded)
    let part =
      "what comes of pthread_barrier_wait at UnseenTests.swift:\(Self.lineOfWait), which is not taken over"
    #expect(verdict.notCovered.contains(part), "\(verdict)")
    #expect("\(verdict)".hasSuffix("not covered: \(part)"), "\(verdict)")
  }

  @Test func `a thread of Foundation is named for what nobody sees of it`() throws {
    let verdict = try explore("thread") { Thread.detachNewThread {} }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    #expect(
      verdict.notCovered.contains { $0.hasPrefix("switches where a Thread is cancelled") },
      "\(verdict)"
    )
  }

  @Test func `a verdict's line says what was looked at, and of the rest what could be`() throws {
    let closure: @Sendable () async -> Void = {
      let lock = NSLock()
      async let one: Void = lock.withLock {}
      lock.withLock {}
      await one
    }
    let all = try explore("all", closure)
    #expect(
      "\(all)"
        == "exhaustive, at most 2 pre-emptions: \(all.schedules) schedules, \(all.steps) steps"
    )
    #expect(all.notCovered.contains("timers of run loops, and threads that libraries start"))
    let some = try explore("some", strategy: .random(schedules: 3), closure)
    #expect(
      "\(some)"
        == "bounded, schedules drawn at random: 3 schedules, \(some.steps) steps; "
        + "not covered: schedules that chance did not choose"
    )
  }
}
