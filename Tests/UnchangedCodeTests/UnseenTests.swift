import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// What a verdict says of code whose work leaves the exploration.
@Suite(.inTurn, .watched) struct `Calls of unchanged code that nobody sees` {
  private static func useSemaphore() {
    let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    defer { semaphore.deallocate() }
    sem_init(semaphore, 0, 1)
    sem_wait(semaphore)
    sem_destroy(semaphore)
  }

  private static let lineOfWait: Int = #line - 4

  @Test func `a semaphore of the system is named in the verdict, with its line`() throws {
    let verdict = try explore("sem_t") { Self.useSemaphore() }
    #expect(verdict.coverage == .bounded)
    let part =
      "what comes of sem_wait at UnseenTests.swift:\(Self.lineOfWait), which is not taken over"
    #expect(verdict.notCovered.contains(part), "\(verdict)")
    #expect("\(verdict)".hasSuffix("not covered: \(part)"), "\(verdict)")
  }

  @Test func `a thread is named in the verdict, Foundation's too`() throws {
    let verdict = try explore("thread") { Thread.detachNewThread {} }
    #expect(verdict.coverage == .bounded)
    #expect(
      verdict.notCovered.contains { $0.hasPrefix("what comes of pthread_create") },
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
    #expect(all.notCovered.contains("threads and timers that the exploration does not see"))
    let some = try explore("some", strategy: .random(schedules: 3), closure)
    #expect(
      "\(some)"
        == "bounded, schedules drawn at random: 3 schedules, \(some.steps) steps; "
        + "not covered: schedules that chance did not choose"
    )
  }
}
