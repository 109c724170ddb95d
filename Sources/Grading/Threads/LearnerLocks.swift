internal import Basics
internal import ExplorableSynchronization
package import Foundation
internal import Synchronization

// The locks of an answer that runs on threads, of which few questions explore any. At these locks something else may
// come in between, on any machine.

/// What comes in between: at a point of a thread, after it has freed a lock or before it takes one.
final class LockTurn: Sendable {
  private static let turns = Synchronization.Mutex<[UInt: LockTurn]>([:])
  private static let areAny = Synchronization.Atomic(false)
  private static let passed = Synchronization.Atomic(0)

  /// How many points threads have come to, while a turn was planned.
  static var points: Int { passed.load(ordering: .relaxed) }

  private let plan: Synchronization.Mutex<(left: Int, body: @Sendable () -> Void)?>

  /// Has `body` run at the point of that number of a thread.
  init(at point: Int, _ body: @escaping @Sendable () -> Void) { plan = .init((point, body)) }

  /// Counts the points of the thread that calls this from now on.
  func begin() {
    Self.turns.withLock { turns in
      turns[OSThread.current] = self
      Self.areAny.store(true, ordering: .relaxed)
    }
  }

  /// Gives up what has not been come to.
  ///
  /// - Returns: whether it was not.
  @discardableResult
  func giveUp() -> Bool {
    Self.turns.withLock { turns in
      turns = turns.filter { $0.value !== self }
      Self.areAny.store(!turns.isEmpty, ordering: .relaxed)
    }
    return plan.withLock { $0.take() } != nil
  }

  /// A point of the thread that calls this.
  fileprivate static func pass() {
    guard areAny.load(ordering: .relaxed) else { return }
    passed.add(1, ordering: .relaxed)
    turns.withLock { $0[OSThread.current] }?.pass()
  }

  private func pass() {
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
  private let real: ExplorableSynchronization.Mutex<Value>

  package init(_ initialValue: consuming sending Value) { real = .init(initialValue) }

  package borrowing func withLock<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result {
    LockTurn.pass()
    defer { LockTurn.pass() }
    return try real.withLock(body)
  }

  package borrowing func withLockIfAvailable<Result: ~Copyable, Failure: Error>(
    _ body: (inout sending Value) throws(Failure) -> sending Result
  ) throws(Failure) -> sending Result? {
    LockTurn.pass()
    defer { LockTurn.pass() }
    if TakenLock.isMet() { return nil }
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
    LockTurn.pass()
    real.lock()
  }

  package func unlock() {
    real.unlock()
    LockTurn.pass()
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
    LockTurn.pass()
    real.lock()
  }

  package func `try`() -> Bool {
    LockTurn.pass()
    return !TakenLock.isMet() && real.try()
  }

  package func lock(before limit: Date) -> Bool {
    LockTurn.pass()
    return !TakenLock.isMet() && real.lock(before: limit)
  }

  package func unlock() {
    real.unlock()
    LockTurn.pass()
  }
}
