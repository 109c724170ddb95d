import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// Programs of somebody who knew the documentation only, of which the explorer once said the wrong thing.
@Suite(.inTurn, .watched) struct `Findings of strangers` {
  private final class Bell: Sendable {
    private let condition = NSCondition()
    private let hasRung = Atomic(false)
    private let ringsUnderLock: Bool

    init(ringsUnderLock: Bool) { self.ringsUnderLock = ringsUnderLock }

    func wait() {
      condition.lock()
      while !hasRung.load(ordering: .sequentiallyConsistent) { condition.wait() }
      condition.unlock()
    }

    func ring() {
      if ringsUnderLock { condition.lock() }
      hasRung.store(true, ordering: .sequentiallyConsistent)
      condition.signal()
      if ringsUnderLock { condition.unlock() }
    }
  }

  private func ring(_ bell: Bell) async {
    let ring: @Sendable () -> Void = { bell.ring() }
    let wait: @Sendable () -> Void = { bell.wait() }
    let ringing = Task { ring() }
    wait()
    await ringing.value
  }

  @Test func `a signal without the lock comes between the look and the wait`() throws {
    let failure = try failure("bell") { await ring(Bell(ringsUnderLock: false)) }
    guard case .deadlock = failure.kind else { throw failure }
    let verdict = try explore("bell under its lock") { await ring(Bell(ringsUnderLock: true)) }
    #expect(verdict.coverage == .exhaustive)
  }

  private final class Shop: Sendable {
    let isClosed = Atomic(false)
    let served = Atomic(0)
    let inside = DispatchGroup()

    func enter() {
      if isClosed.load(ordering: .sequentiallyConsistent) { return }
      inside.enter()
      served.add(1, ordering: .sequentiallyConsistent)
      inside.leave()
    }

    func close() -> Int {
      isClosed.store(true, ordering: .sequentiallyConsistent)
      inside.wait()
      return served.load(ordering: .sequentiallyConsistent)
    }
  }

  @Test func `a group is entered when its end has been waited for`() throws {
    let failure = try failure("shop") {
      let shop = Shop()
      let enter: @Sendable () -> Void = { shop.enter() }
      let close: @Sendable () -> Int = { shop.close() }
      let customer = Task { enter() }
      let count = close()
      await customer.value
      let later = shop.served.load(ordering: .sequentiallyConsistent)
      try require(count == later, "\(count) were served when it closed, and \(later) in the end")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  private final class Count: @unchecked Sendable {
    // Safe or not: that is what is asked.
    var value = 0
  }

  @Test func `a handler races with what its operation does`() throws {
    let failure = try failure("handler") {
      let count = Count()
      let task = Task {
        await withTaskCancellationHandler {
          count.value += 1
        } onCancel: {
          count.value += 1
        }
      }
      task.cancel()
      await task.value
    }
    guard case .race = failure.kind else { throw failure }
  }

  @Test func `a queue that is suspended does nothing until it is resumed`() throws {
    let verdict = try explore("suspended") {
      let queue = DispatchQueue(label: "queue")
      let isResumed = Atomic(false)
      let wasEarly = Atomic(false)
      let group = DispatchGroup()
      queue.suspend()
      queue.suspend()
      queue.async(group: group) {
        if !isResumed.load(ordering: .sequentiallyConsistent) {
          wasEarly.store(true, ordering: .sequentiallyConsistent)
        }
      }
      queue.resume()
      await Task.yield()
      isResumed.store(true, ordering: .sequentiallyConsistent)
      queue.resume()
      await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
      try require(!wasEarly.load(ordering: .sequentiallyConsistent), "ran while it was suspended")
    }
    #expect(verdict.coverage == .exhaustive)
    let failure = try failure("never resumed") {
      let queue = DispatchQueue(label: "queue")
      queue.suspend()
      defer { queue.resume() }
      await withCheckedContinuation { done in queue.async { done.resume() } }
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `what is made once is made before it is used`() throws {
    let verdict = try explore("once") {
      let made = MadeOnce()
      async let one = made.use()
      async let other = made.use()
      let found = await [one, other]
      try require(found == [1, 1], "\(found)")
    }
    #expect(verdict.coverage == .exhaustive)
  }

  @Test func `who finds it made tells nobody anything by that`() throws {
    let failure = try failure("found") {
      let made = MadeOnce()
      _ = made.use()
      let count = Count()
      let write: @Sendable () -> Void = {
        count.value = 1
        _ = made.use()
      }
      let read: @Sendable () -> Int = {
        _ = made.use()
        return count.value
      }
      async let writing: Void = write()
      async let reading = read()
      _ = await (writing, reading)
    }
    guard case .race = failure.kind else { throw failure }
  }

  private enum Statics {
    // Made at its first use, since it is computed.
    static let number = Int("7") ?? 0
  }

  @Test func `who finds a static made tells nobody anything by that`() throws {
    let failure = try failure("found static") {
      let count = Count()
      _ = Statics.number
      // Found before and after each access, so that none of the two orders shows the race by itself.
      let write: @Sendable () -> Int = {
        let before = Statics.number
        count.value = 1
        return before + Statics.number
      }
      let read: @Sendable () -> Int = {
        let before = Statics.number
        return before + count.value + Statics.number
      }
      async let writing = write()
      async let reading = read()
      _ = await (writing, reading)
    }
    guard case .race = failure.kind else { throw failure }
  }

  private final class MadeOnce: @unchecked Sendable {
    // Safe where `pthread_once` is: that is what is asked.
    private let once = UnsafeMutablePointer<pthread_once_t>.allocate(capacity: 1)

    init() {
      madeOnce = 0
      once.initialize(to: pthread_once_t())
    }

    deinit { once.deallocate() }

    func use() -> Int {
      pthread_once(once, makeOnce)
      return madeOnce
    }
  }

  @Test func `a thread that sleeps sleeps for the exploration's time`() throws {
    let verdict = try explore("sleeps", within: .seconds(60)) {
      let start = Date()
      let second = time(nil)
      let sleep: @Sendable () -> Void = {
        Thread.sleep(forTimeInterval: 1_800)
        usleep(500_000)
        nanosleep([timespec(tv_sec: 60, tv_nsec: 0)], nil)
      }
      let sleeping = Task { sleep() }
      await sleeping.value
      let passed = Date().timeIntervalSince(start)
      try require(abs(passed - 1_860.5) < 1, "\(passed) s have passed")
      var day = timeval()
      gettimeofday(&day, nil)
      let later = time(nil)
      try require((1_859...1_862).contains(later - second), "\(later - second) s have passed")
      try require(abs(day.tv_sec - later) < 2, "two clocks tell \(day.tv_sec) and \(later)")
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
  }

  @Test func `a sleep of Foundation is one sleep, however its seconds are rounded`() throws {
    func sleeping(_ sleep: @escaping @Sendable () -> Void) throws -> ExplorationVerdict {
      try explore("sleeps often") { for _ in 1...200 { sleep() } }
    }
    let byFoundation = try sleeping { Thread.sleep(forTimeInterval: 0.3) }
    let byPOSIX = try sleeping { usleep(300_000) }
    #expect(byFoundation.coverage == .exhaustive, "\(byFoundation)")
    #expect(byFoundation.steps == byPOSIX.steps)
  }
}

// Safe where `pthread_once` is. That has no argument for what it makes.
nonisolated(unsafe) private var madeOnce = 0

private func makeOnce() { madeOnce += 1 }
