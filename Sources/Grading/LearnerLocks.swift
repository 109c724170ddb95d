internal import Basics
package import Foundation
internal import Synchronization

// The locks of an answer that has a thread of its own. An exploration does not stop such a thread; at these locks
// something else may come in between, on any machine.

/// What comes in between: at a point of a thread, after it has freed a lock or before it takes one.
enum LockTurns {
  /// Whose points are counted; 0 if nobody's are.
  private static let thread = Atomic<UInt>(0)
  private static let plan = Mutex<(left: Int, body: @Sendable () -> Void)?>(nil)

  /// Has `body` run at the point of that number of the thread that calls this.
  static func plan(at point: Int, _ body: @escaping @Sendable () -> Void) {
    plan.withLock { $0 = (point, body) }
    thread.store(OSThread.current, ordering: .releasing)
  }

  /// Gives up what has not been come to.
  ///
  /// - Returns: whether it was not.
  static func giveUp() -> Bool {
    thread.store(0, ordering: .releasing)
    return plan.withLock { $0.take() } != nil
  }

  /// A point of the thread that calls this.
  fileprivate static func pass() {
    guard thread.load(ordering: .relaxed) == OSThread.current else { return }
    let body = plan.withLock { plan in
      guard let (left, body) = plan else { return (@Sendable () -> Void)?.none }
      plan = left > 1 ? (left - 1, body) : nil
      return left > 1 ? nil : body
    }
    body?()
  }
}

/// What a learner's `Mutex` is where threads are asked about.
package struct LearnerMutex<Value: ~Copyable>: ~Copyable, Sendable {
  private let real: Mutex<Value>

  package init(_ initialValue: consuming sending Value) { real = Mutex(initialValue) }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    LockTurns.pass()
    defer { LockTurns.pass() }
    return try real.withLock(body)
  }

  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    LockTurns.pass()
    defer { LockTurns.pass() }
    return try real.withLockIfAvailable(body)
  }
}

/// What a learner's `NSCondition` is there.
package final class LearnerCondition: NSLocking, Sendable {
  private let real = NSCondition()

  package init() {}

  package var name: String? {
    get { real.name }
    set { real.name = newValue }
  }

  package func lock() {
    LockTurns.pass()
    real.lock()
  }

  package func unlock() {
    real.unlock()
    LockTurns.pass()
  }

  package func wait() { real.wait() }

  package func wait(until limit: Date) -> Bool { real.wait(until: limit) }

  package func signal() { real.signal() }

  package func broadcast() { real.broadcast() }
}

/// What a learner's `NSLock` is there.
package final class LearnerLock: NSLocking, Sendable {
  private let real = NSLock()

  package init() {}

  package var name: String? {
    get { real.name }
    set { real.name = newValue }
  }

  package func lock() {
    LockTurns.pass()
    real.lock()
  }

  package func `try`() -> Bool {
    LockTurns.pass()
    return real.try()
  }

  package func lock(before limit: Date) -> Bool {
    LockTurns.pass()
    return real.lock(before: limit)
  }

  package func unlock() {
    real.unlock()
    LockTurns.pass()
  }
}
