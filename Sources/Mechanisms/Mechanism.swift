/// One way to let at most `limit` tasks run at once, behind the interface all of them share.
///
/// A new mechanism is one file in this folder with a type that conforms, and one line in
/// `Catalogue.swift`. The lab, the bench, the help and the conformance suite pick it up from there.
package protocol Mechanism: Sendable {
  /// What people call it: `operation-queue`.
  static var id: String { get }

  static var profile: MechanismProfile { get }

  init(_ setup: MechanismSetup)

  /// Carries one visit from its arrival to its end and returns when it has ended.
  ///
  /// Reports the arrival before the limiter is entered (synchronously, before the first
  /// suspension), and has the visit serve as the limiter's body. Cancelling the calling task cancels
  /// the visit.
  func carry(_ visit: Visit) async

  /// Passes through the bare mechanism `times` times, one after the other, with `body` inside.
  ///
  /// What the bench measures: no visit, no trace, the loop next to the limiter.
  func pass(times: Int, _ body: @escaping @Sendable () -> Void) async

  /// Returns once the mechanism itself says that all it was given is done, the way its users learn
  /// of it: `DispatchGroup.notify`, an `OperationQueue` barrier. Other mechanisms return at once.
  func completed() async

  /// How many permits are in use, where the mechanism can tell; nil elsewhere.
  ///
  /// A task that waits uses none. Exact when no visit is under way; then it must be 0.
  var permitsInUse: Int? { get }

  /// Changes the limit while tasks run.
  ///
  /// Only called where the profile lists the control `limit`.
  func changeLimit(to limit: Int)

  /// Admits nobody from now on, or again.
  ///
  /// Only called where the profile lists the control `suspension`.
  func setSuspended(_ suspended: Bool)
}

extension Mechanism {
  package func completed() async {}
  package var permitsInUse: Int? { nil }
  package func changeLimit(to limit: Int) {
    fatalError("\(Self.id) cannot change its limit; its profile says so")
  }
  package func setSuspended(_ suspended: Bool) {
    fatalError("\(Self.id) cannot be suspended; its profile says so")
  }
}

/// What a mechanism is made with.
package struct MechanismSetup: Sendable {
  /// The number of permits, at least 1.
  ///
  /// Ordered queues and `none` take no notice of it.
  package var limit: Int
  /// Where a mechanism that must start a task of its own starts it; nil for the global pool.
  package var executor: (any TaskExecutor)?
  /// Told what was resumed a second time, as a noun; nil to stop the process instead.
  ///
  /// For code that may do so, and explorers that look for it: a specimen's, a learner's.
  package var onDoubleResume: (@Sendable (_ what: String) -> Void)?

  package init(
    limit: Int,
    executor: (any TaskExecutor)? = nil,
    onDoubleResume: (@Sendable (_ what: String) -> Void)? = nil
  ) {
    // Not a precondition: built for release, that stops without its message.
    guard limit >= 1 else { fatalError("a limit must be at least 1, not \(limit)") }
    self.limit = limit
    self.executor = executor
    self.onDoubleResume = onDoubleResume
  }
}
