// What waiting can end with, other than a permit or `CancellationError`.

/// No permit came within the time that the caller would wait.
public struct WaitTimedOut: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for code that stands in for a limiter.
  public init() {}

  /// What happened, and what to do.
  public var description: String {
    """
    no permit was free in the time given with waitingAtMost or waitingUntil; try again later, or wait \
    longer
    """
  }
}

/// The limiter was closed before there was a permit.
public struct LimiterClosed: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for code that stands in for a limiter.
  public init() {}

  /// What happened, and what to do.
  public var description: String {
    "the limiter was closed, so it admits nobody who may be turned away; make a new one, or give up the work"
  }
}

/// A task would wait for a permit that an enclosing `run` of the same limiter holds.
///
/// Thrown where the limiter was made with `detectsNesting: true`. What cannot throw it waits all the same:
/// `runUncancellably` inside of a body. Nor is it thrown where the task holds a ``Permit`` and no body runs: a
/// permit has no scope, so nobody knows who is inside of it.
public struct NestedRun: Error, Hashable, CustomStringConvertible {
  /// Creates the error, for code that stands in for a limiter.
  public init() {}

  /// What happened, and what to do.
  public var description: String {
    """
    no permit is free, and a body that this task is inside of holds one of the same limiter, so the \
    wait might never end; take one permit at a time, or all at once with weight
    """
  }
}
