import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Time and chance that the runtime and the system keep, followed by the exploration's.
@Suite(.inTurn, .watched) struct `Time and chance in unchanged code` {
  @Test func `chance is the same in each run of a schedule, and elsewhere it is chance`() throws {
    let drawn = Mutex<Set<String>>([])
    try explore("chance") {
      let number = Int.random(in: 0..<1_000_000_000)
      let text = "\(number) \(UUID()) \([1, 2, 3, 4, 5, 6, 7, 8].shuffled())"
      drawn.withLock { _ = $0.insert(text) }
      async let one: Void = Task.yield()
      await Task.yield()
      await one
    }
    #expect(drawn.withLock { $0.count } == 1)
    #expect(Int.random(in: 0..<Int.max) != Int.random(in: 0..<Int.max))
    #expect(UUID() != UUID())
  }

  @Test func `a verdict names the look at a clock, and the random number, that had one answer`()
    throws
  {
    let looking = #line + 2
    let clock = try explore("a clock") {
      let start = ContinuousClock.now
      async let one: Void = Task.yield()
      await one
      _ = start
    }
    #expect(clock.coverage == .exhaustive)
    #expect(clock.description.contains("other times than the clock showed"), "\(clock)")
    #expect(clock.description.contains("TimeTests.swift:\(looking)"), "\(clock)")
    let drawing = #line + 2
    let chance = try explore("chance") {
      let number = Int.random(in: 0..<2)
      async let one: Void = Task.yield()
      await one
      _ = number
    }
    #expect(chance.description.contains("other random numbers than were drawn"), "\(chance)")
    #expect(chance.description.contains("TimeTests.swift:\(drawing)"), "\(chance)")
    #expect(!chance.description.contains("clock"), "\(chance)")
  }

  @Test func `a verdict names a look at a date, and a number of shuffled()`() throws {
    let verdict = try explore("a date and a shuffle") {
      let seconds = Date().timeIntervalSince1970
      let list = [1, 2, 3, 4].shuffled()
      async let one: Void = Task.yield()
      await one
      _ = (seconds, list)
    }
    #expect(verdict.description.contains("other times than the clock showed"), "\(verdict)")
    #expect(verdict.description.contains("other random numbers"), "\(verdict)")
  }

  @Test func `a UUID is no random number`() throws {
    let verdict = try explore("asleep") {
      async let one: Void = Task.sleep(for: .seconds(1))
      try await Task.sleep(nanoseconds: 1_000)
      try await one
      _ = UUID()
    }
    #expect(!verdict.description.contains("random"), "\(verdict)")
  }

  @Test func `who sleeps for a while has looked at no clock`() throws {
    let verdict = try explore("asleep for a while") {
      async let one: Void = Task.sleep(for: .seconds(1))
      try await Task.sleep(nanoseconds: 1_000)
      try await ContinuousClock().sleep(for: .seconds(2))
      try await one
    }
    #expect(!verdict.description.contains("clock"), "\(verdict)")
  }

  @Test func `who yields until a time that never comes is told why it does not come`() throws {
    let failure = try failure("until") {
      let end = ContinuousClock.now + .milliseconds(5)
      while ContinuousClock.now < end { await Task.yield() }
    }
    guard case .livelock = failure.kind else { throw failure }
    #expect(failure.description.contains("time goes on only where somebody sleeps"), "\(failure)")
  }

  @Test func `a sleep takes as long as it says, of the exploration's time`() throws {
    try explore("sleeps") {
      let start = ContinuousClock.now
      let date = Date()
      try await Task.sleep(for: .seconds(3_600))
      let end = ContinuousClock.now
      try require(start.duration(to: end) == .seconds(3_600), "it took \(start.duration(to: end))")
      try await SuspendingClock().sleep(for: .seconds(60))
      try require(end.duration(to: .now) == .seconds(60))
      try await Task.sleep(nanoseconds: 1_000)
      let passed = Date().timeIntervalSince(date)
      try require(abs(passed - 3_660) < 1, "\(passed) s have passed")
    }
  }

  @Test func `who sleeps less is awake first, if both began at once`() throws {
    try explore("two sleepers") {
      let start = ContinuousClock.now
      await withTaskGroup { group in
        for seconds in [2, 1] {
          group.addTask { try? await Task.sleep(until: start.advanced(by: .seconds(seconds))) }
        }
      }
      try require(start.duration(to: .now) == .seconds(2))
    }
  }

  @Test func `a timeout that nobody waits for is no failure`() throws {
    let verdict = try explore("forgotten") {
      let work = Task { 1 }
      Task {
        try? await Task.sleep(for: .seconds(30))
        work.cancel()
      }
      _ = await work.value
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a sleep that is cancelled lets no time pass`() throws {
    try explore("cancelled") {
      let sleeper = Task { try await Task.sleep(for: .seconds(30)) }
      sleeper.cancel()
      let start = ContinuousClock.now
      _ = await sleeper.result
      try require(start.duration(to: .now) == .zero || start.duration(to: .now) == .seconds(30))
    }
  }
}
