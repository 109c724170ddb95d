// swift-format-ignore-file: NeverForceUnwrap
// As published code does.

import Dispatch
import Exploration
import Foundation
import Synchronization

// Waits that have a limit, and locks that are tried.

extension Judged {
  final class DeadlineBox: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let condition = NSCondition()
    private var value: Int?
    func put(_ new: Int) {
      condition.lock()
      value = new
      condition.signal()
      condition.unlock()
    }
    func take(for seconds: Double) -> Int? {
      let end = Date(timeIntervalSinceNow: seconds)
      condition.lock()
      defer { condition.unlock() }
      while value == nil, Date() < end { _ = condition.wait(until: end) }
      return value
    }
  }

  static func waitForGroup(asks: Bool) async throws {
    let group = DispatchGroup()
    let box = ResultBox()
    group.enter()
    let worker = Task {
      box.value.withLock { $0 = 7 }
      group.leave()
    }
    let isThere = waitBriefly(group)
    let seen = box.value.withLock { $0 }
    await worker.value
    try require(seen == 7 || asks && !isThere, "used before it was there")
  }

  static func waitBriefly(_ group: DispatchGroup) -> Bool {
    group.wait(timeout: .now() + 1) == .success
  }

  final class Cached: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var value = 1
    init() { pthread_rwlock_init(lock, nil) }
    deinit {
      pthread_rwlock_destroy(lock)
      lock.deallocate()
    }
    func peek() -> Int? {
      guard pthread_rwlock_tryrdlock(lock) == 0 else { return nil }
      defer { pthread_rwlock_unlock(lock) }
      return value
    }
    func set(_ new: Int) {
      pthread_rwlock_wrlock(lock)
      value = new
      pthread_rwlock_unlock(lock)
    }
  }

  final class Tried: @unchecked Sendable {
    // Safe or not: that is what is asked.
    private let lock = NSLock()
    private var value = 0
    func add() -> Bool {
      guard lock.try() else { return false }
      value += 1
      lock.unlock()
      return true
    }
    func addInTime() -> Bool {
      guard lock.lock(before: Date(timeIntervalSinceNow: 1)) else { return false }
      value += 1
      lock.unlock()
      return true
    }
    func addAlways() { lock.withLock { value += 1 } }
    var now: Int { lock.withLock { value } }
  }

  static let waits: [JudgedProgram] = [
    JudgedProgram(
      "a loop of waits for a condition ends at the time on the clock"
    ) {
      let box = DeadlineBox()
      let seen = box.take(for: 1)
      try require(seen == nil, "something")
    },
    JudgedProgram(
      "a loop of waits for a condition ends at its signal, or at the time on the clock"
    ) {
      let box = DeadlineBox()
      let putter = Task { box.put(7) }
      let seen = box.take(for: 1)
      await putter.value
      try require(seen == nil || seen == 7, "something else")
    },
    JudgedProgram(
      "a wait for a condition goes on while another task sleeps",
      isLong: true
    ) {
      let box = DeadlineBox()
      let putter = Task {
        try await Task.sleep(for: .seconds(1))
        box.put(7)
      }
      let seen = box.take(for: 2)
      _ = await putter.result
      try require(seen == nil || seen == 7, "something else")
    },
    JudgedProgram(
      "a wait for a dispatch group is over before its end, and the value is taken to be there",
      fails: .requirement
    ) { try await waitForGroup(asks: false) },
    JudgedProgram(
      "who waited for a dispatch group asks whether it ended in time"
    ) { try await waitForGroup(asks: true) },
    JudgedProgram(
      "a try to take a lock to read fails where another writes",
      fails: .requirement
    ) {
      let cached = Cached()
      let writer = Task { cached.set(2) }
      let seen = cached.peek()
      await writer.value
      try require(seen != nil, "nothing seen")
    },
    JudgedProgram(
      "a try to take a lock fails where another holds it for a moment",
      fails: .requirement
    ) {
      let tried = Tried()
      let other = Task { tried.addAlways() }
      _ = tried.add()
      await other.value
      try require(tried.now == 2, "lost")
    },
    JudgedProgram(
      "who fails to take a lock by a try waits for it"
    ) {
      let tried = Tried()
      let other = Task { tried.addAlways() }
      if !tried.add() { tried.addAlways() }
      await other.value
      try require(tried.now == 2, "lost")
    },
    JudgedProgram(
      "a lock is not had in time where another holds it for a moment",
      fails: .requirement
    ) {
      let tried = Tried()
      let other = Task { tried.addAlways() }
      _ = tried.addInTime()
      await other.value
      try require(tried.now == 2, "lost")
    },
  ]
}
