import Dispatch
import Exploration
import Foundation
import Synchronization
import TestSupport
import Testing

/// The locks of threads, as Foundation, Dispatch and the system have them.
@Suite(.inTurn, .watched) struct `Locks of threads in unchanged code` {
  final class Pair: Sendable {
    let one = NSLock()
    let other = NSLock()
  }

  @Test func `two locks taken in two orders are a deadlock`() throws {
    let failure = try failure("circle") {
      let pair = Pair()
      async let first: Void = pair.one.withLock { pair.other.withLock {} }
      async let second: Void = pair.other.withLock { pair.one.withLock {} }
      _ = await (first, second)
    }
    guard case .deadlock = failure.kind else { throw failure }
    let lines = failure.description.split(separator: "\n")
    let waiting = lines.filter { $0.contains("waits for ever") }
    #expect(waiting.count == 3 && Set(waiting).count == 3, "each task once: \(failure)")
    let marked = lines.filter { $0.hasSuffix("◀") }
    #expect(marked.count == 2 && marked.allSatisfy { $0.contains("takes lock") }, "\(failure)")
    #expect(
      failure.description.contains(", by which each has what the other waits for"),
      "\(failure)"
    )
  }

  @Test
  func `two takings of one lock are what matters, also where it is held for more than a step`()
    throws
  {
    final class Shelf: Sendable {
      let lock = NSLock()
      let count = Mutex(0)
    }
    let failure = try failure("before it is set") {
      let shelf = Shelf()
      async let set: Void = shelf.lock.withLock { shelf.count.withLock { $0 = 1 } }
      async let count = shelf.lock.withLock { shelf.count.withLock { $0 } }
      let (seen, _) = await (count, set)
      try require(seen == 1, "not set yet")
    }
    let marked = failure.description.split(separator: "\n").filter { $0.hasSuffix("◀") }
    #expect(marked.count == 2 && marked.allSatisfy { $0.contains("takes lock 1") }, "\(failure)")
  }

  @Test func `a recursive lock is taken twice by one task, and not by two`() throws {
    final class Count: @unchecked Sendable {
      let lock = NSRecursiveLock()
      var value = 0
      func add() { lock.withLock { lock.withLock { value += 1 } } }
    }
    try explore("recursive") {
      let count = Count()
      async let one: Void = count.add()
      async let two: Void = count.add()
      _ = await (one, two)
      try require(count.lock.withLock { count.value } == 2)
    }
    let failure = try failure("not recursive") {
      let lock = NSLock()
      lock.withLock { lock.withLock {} }
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `a try that finds the lock taken is seen to fail, of each kind`() throws {
    final class Tries: Sendable {
      let lock = NSLock()
      let mutex = Mutex(0)
      func tryLock() -> Bool {
        guard lock.try() else { return false }
        lock.unlock()
        return true
      }
      func tryMutex() -> Bool { mutex.withLockIfAvailable { _ in } != nil }
    }
    for kind in 0...1 {
      let failure = try failure("tries") {
        let tries = Tries()
        let holder = Task {
          if kind == 0 {
            tries.lock.withLock { tries.mutex.withLock { $0 += 1 } }
          } else {
            tries.mutex.withLock { _ in tries.lock.withLock {} }
          }
        }
        try require(kind == 0 ? tries.tryLock() : tries.tryMutex(), "taken")
        await holder.value
      }
      guard case .requirement = failure.kind else { throw failure }
    }
  }

  @Test func `trying again until somebody has done something under the lock comes to an end`()
    throws
  {
    // Safe: `isThere` is used under the lock only.
    final class Answer: @unchecked Sendable {
      let lock = NSLock()
      let mutex = Mutex(false)
      private var isThere = false

      /// Nil if the lock is taken.
      func look(_ kind: Int) -> Bool? {
        if kind == 1 { return mutex.withLockIfAvailable { $0 } }
        guard lock.try() else { return nil }
        defer { lock.unlock() }
        return isThere
      }

      func give(_ kind: Int) {
        if kind == 1 { mutex.withLock { $0 = true } } else { lock.withLock { isThere = true } }
      }
    }
    for kind in 0...1 {
      try explore("tries again") {
        let answer = Answer()
        let giver = Task { answer.give(kind) }
        while answer.look(kind) != true {}
        await giver.value
      }
    }
  }

  final class Mailbox: @unchecked Sendable {
    private let condition = NSCondition()
    private var isFull = false
    private let asksAgain: Bool

    init(asksAgain: Bool) { self.asksAgain = asksAgain }

    func put() {
      condition.lock()
      isFull = true
      condition.unlock()
      condition.signal()
    }

    func take() {
      condition.lock()
      if asksAgain {
        while !isFull { condition.wait() }
      } else {
        condition.unlock()
        condition.lock()
        condition.wait()
      }
      isFull = false
      condition.unlock()
    }
  }

  @Test func `a signal of a condition wakes who waits, and is lost where nobody does`() throws {
    let verdict = try explore("condition") {
      let box = Mailbox(asksAgain: true)
      async let taking: Void = box.take()
      async let putting: Void = box.put()
      _ = await (taking, putting)
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("lost signal") {
      let box = Mailbox(asksAgain: false)
      async let taking: Void = box.take()
      async let putting: Void = box.put()
      _ = await (taking, putting)
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  @Test func `a semaphore of Dispatch is waited for`() throws {
    let verdict = try explore("semaphore") {
      let semaphore = DispatchSemaphore(value: 0)
      let giver = Task { _ = semaphore.signal() }
      await Self.wait(for: semaphore)
      await giver.value
    }
    #expect(verdict.coverage == .exhaustive, "\(verdict)")
    let failure = try failure("no permit") {
      let semaphore = DispatchSemaphore(value: 0)
      await Self.wait(for: semaphore)
    }
    guard case .deadlock = failure.kind else { throw failure }
  }

  private static func wait(for semaphore: DispatchSemaphore) async { blockFor(semaphore) }
  private static func blockFor(_ semaphore: DispatchSemaphore) { semaphore.wait() }

  final class Shared: @unchecked Sendable {
    private var lock = pthread_rwlock_t()
    private var value = 0

    init() { pthread_rwlock_init(&lock, nil) }

    func read() -> Int {
      pthread_rwlock_rdlock(&lock)
      defer { pthread_rwlock_unlock(&lock) }
      return value
    }

    func write(_ new: Int) {
      pthread_rwlock_wrlock(&lock)
      defer { pthread_rwlock_unlock(&lock) }
      value = new
    }
  }

  @Test func `a lock for readers and writers is one`() throws {
    let failure = try failure("readers") {
      let shared = Shared()
      await withTaskGroup { group in
        for _ in 1...2 { group.addTask { shared.write(shared.read() + 1) } }
      }
      try require(shared.read() == 2, "an update is lost")
    }
    guard case .requirement = failure.kind else { throw failure }
  }

  final class Held: @unchecked Sendable {
    private let lock = NSLock()
    func take() { lock.lock() }
    func give() { lock.unlock() }
  }

  @Test func `a lock held over a suspension, by three tasks, blocks the pool`() throws {
    let failure = try failure("held") {
      let held = Held()
      await withTaskGroup { group in
        for _ in 1...3 {
          group.addTask {
            held.take()
            await Task.yield()
            held.give()
          }
        }
      }
    }
    guard case .blockedPool = failure.kind else { throw failure }
    #expect(failure.description.contains(", behind which each blocks a thread"), "\(failure)")
    let blocked = failure.description.split(separator: "\n").filter {
      $0.contains("blocks a thread of the pool at LockTests.swift:227")
    }
    #expect(blocked.count == 2, "\(failure)")
  }
}
