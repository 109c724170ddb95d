internal import Basics
internal import CExplorable
internal import Synchronization

/// Where one thread sleeps until another wakes it.
///
/// A wake-up that comes first is kept, and the next `park` returns at once; several count as one.
///
/// Not explored it is the real one of `Basics` behind one branch.
public final class Parker: Sendable {
  private let real = ThreadParker()
  private let identity = ObjectIdentity()

  /// Makes one with no wake-up to come.
  public init() {}

  /// Sleeps until somebody calls ``unpark()``, or returns at once if somebody has since the last time.
  public func park() {
    if exploration_is_under_way(), let part = currentPart {
      // Chosen only once it is woken; then the real one has its wake-up too.
      _ = part.pause(before: .park, of: identity)
    }
    real.park()
  }

  /// The same, for `nanoseconds` at most; false if nobody has called ``unpark()``.
  ///
  /// Explored, the time is over when nothing else can go on.
  public func park(nanoseconds: Int) -> Bool {
    if exploration_is_under_way(), let part = currentPart,
      !part.pause(before: .parkAWhile, of: identity)
    {
      return false
    }
    return real.park(nanoseconds: nanoseconds)
  }

  /// Wakes the thread that is parked, or the next one to park.
  public func unpark() {
    if exploration_is_under_way(), let part = currentPart {
      _ = part.pause(before: .unpark, of: identity)
    }
    real.unpark()
  }
}

/// A thread of the system, which an exploration takes for an agent of its own.
public final class Thread: Sendable {
  private let identity = ObjectIdentity()
  private let handle = Synchronization.Mutex<OSThread?>(nil)

  /// Starts a thread that runs `body`; ``join()`` it once.
  public init(_ body: @escaping @Sendable () -> Void) {
    if exploration_is_under_way(), let part = currentPart {
      let number = part.number(of: identity)
      _ = part.pause(before: SynchronizationOperation(.start, number))
      part.start(number, body)
    } else {
      let thread = OSThread(nil, startsTasks: false, body)
      handle.withLock { $0 = thread }
    }
  }

  /// Waits until `body` has returned.
  public func join() {
    if let thread = handle.withLock({ $0.take() }) { return thread.join() }
    if exploration_is_under_way(), let part = currentPart {
      _ = part.pause(before: .join, of: identity)
    }
  }
}
