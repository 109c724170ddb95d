internal import CExplorable
internal import Synchronization

// Where an operation meets an exploration.
//
// Locks, atomics and parkers of this room are the real ones of `Synchronization` and the system. Before
// each operation they look whether an exploration is under way in the process: one load, one branch. If
// there is one and the calling thread takes part in it, the exploration decides who goes on: the calling
// thread stops here until it is chosen, and only then does the real operation.
//
// One thread of an exploration runs at a time, so what is explored is sequentially consistent: the
// orderings that atomics are given are passed on and make no difference. What only weaker memory shows
// is not seen, and a weak compare-and-exchange never fails without cause.
//
// Nothing here knows the code that explores. That code lends each of its threads a `SynchronizationPart`.

/// An operation that a thread is about to do.
package struct SynchronizationOperation: Hashable, Sendable {
  package enum Kind: UInt8, Hashable, Sendable {
    case lock
    case tryLock
    case load
    case store
    /// Reads and writes at once.
    case update
    /// Compares, and writes if equal. The same code says later whether it wrote.
    case compare
    case park
    /// Parks until the time is over.
    case parkAWhile
    case unpark
    /// Starts a thread; the object is the thread.
    case start
    /// Waits for a thread to end.
    case join
    /// Writes, and may find there what it writes. The same code says later whether it was something else.
    case exchange
    /// Takes a lock together with others who only read.
    case readLock
    case tryReadLock
    /// Waits for a signal of a condition.
    case wait
    /// The same, until the time is over.
    case waitAWhile
    case signal
    case broadcast
    /// Takes a permit of a semaphore.
    case takePermit
    case tryPermit
    /// Takes a permit, unless the time is over before.
    case takePermitInTime
    case givePermit
    /// Enters an actor.
    case hop
    /// Looks whether a task is cancelled.
    case check
    /// Cancels a task.
    case cancel
    /// Another task's code begins on the thread: in an actor's turn, or at once.
    case begin
    /// Goes on, after it has looked whether it is cancelled or has started a task.
    case goOn
    /// Gets in line at a dispatch queue.
    case enqueue
    /// Does work of a dispatch queue, when its turn has come.
    case turn
    /// Leaves a dispatch group.
    case leaveGroup
    /// Waits for the end of a dispatch group.
    case awaitGroup
    case tryGroup
    /// The same, until the time is over.
    case awaitGroupInTime
    /// Registers a cancellation handler.
    case register
    /// Is about to wait for a signal of a condition: one that comes before is none for it.
    case beginWait
    /// Enters a dispatch group.
    case enterGroup
    /// Sleeps on its thread.
    case sleep
    /// Gives work to a dispatch queue.
    case giveWork
    /// Has a dispatch queue begin no more work, or go on with it.
    case suspendQueue
    /// Sets a timer of Dispatch, begins or ends it.
    case changeTimer
    /// Looks whether there is still an object that it has a weak reference to.
    case loadWeak

    /// Whether it is done to an object, which has a number.
    package var hasObject: Bool {
      switch self {
      case .hop, .check, .cancel, .begin, .goOn, .register, .sleep, .loadWeak: false
      default: true
      }
    }

    /// Whether that object is an atomic.
    package var isOnAtomic: Bool {
      switch self {
      case .load, .store, .update, .compare, .exchange: true
      default: false
      }
    }
  }

  package var kind: Kind
  /// The lock, atomic, parker or thread, numbered from 1 as they are first used in a schedule; 0 for none.
  package var object: Int

  package init(_ kind: Kind, _ object: Int) {
    self.kind = kind
    self.object = object
  }
}

/// What an operation on an atomic found there and what it wrote, as far as there is a text for it.
package struct OperationValues: Hashable, Sendable {
  package var found: String?
  package var left: String?
  package var hasWritten: Bool

  package init(found: String?, left: String?, hasWritten: Bool) {
    self.found = found
    self.left = left
    self.hasWritten = hasWritten
  }
}

/// What a thread plays in an exploration: asked before each operation.
///
/// All methods are called on the thread that has the part.
package protocol SynchronizationPart: AnyObject {
  /// The number of the object whose identity is kept in `identity`, given at its first use in a schedule.
  func number(of identity: borrowing ObjectIdentity) -> Int
  /// Returns when the thread may do `operation`; false for a `tryLock` of a lock that is
  /// taken, and for a `parkAWhile` whose time is over.
  func pause(before operation: SynchronizationOperation) -> Bool
  /// Notes whether the operation that the thread paused before, a comparison or an exchange, changed anything.
  func noteOutcome(hasWritten: Bool)
  /// Whether it asks what operations on atomics find and leave; only a run that is told does.
  var wantsValues: Bool { get }
  /// Notes what the operation that the thread stood before has found and left.
  func note(_ values: OperationValues)
  /// Whether the thread has to stop before it releases the lock: somebody has tried to take it in this schedule, or is
  /// about to, and can see that it is taken.
  func standsBeforeRelease(of object: Int) -> Bool
  /// Notes that the lock was released.
  func noteRelease(of object: Int)
  /// Starts a thread that is explored.
  func start(_ thread: Int, _ body: @escaping @Sendable () -> Void)
}

/// By what an object is known in an exploration: the schedule in which it was numbered, and its number.
///
/// An object that outlives a schedule gets a new number in the next.
package struct ObjectIdentity: ~Copyable, Sendable {
  private let value = Synchronization.Atomic<UInt64>(0)

  package init() {}

  /// The number it has in schedule `schedule`; nil if it has none yet.
  package func number(in schedule: UInt32) -> Int? {
    let value = value.load(ordering: .relaxed)
    return value >> 32 == UInt64(schedule) ? Int(value & 0xFFFF_FFFF) : nil
  }

  /// The schedule it was numbered in last, and its number there, as one number; nil if it never was.
  package var lastUse: UInt64? {
    let value = value.load(ordering: .relaxed)
    return value == 0 ? nil : value
  }

  package func set(_ number: Int, in schedule: UInt32) {
    value.store(UInt64(schedule) << 32 | UInt64(number), ordering: .relaxed)
  }
}

extension SynchronizationPart {
  /// Stands before an operation on the object known by `identity`.
  func pause(
    before kind: SynchronizationOperation.Kind,
    of identity: borrowing ObjectIdentity
  ) -> Bool {
    pause(before: SynchronizationOperation(kind, number(of: identity)))
  }
}

/// The calling thread's part; nil for none.
package var currentPart: (any SynchronizationPart)? {
  thread_part().map { Unmanaged<PartBox>.fromOpaque($0).takeUnretainedValue().part }
}

/// Holds a part, so that one pointer is enough to find it.
package final class PartBox {
  // The part owns the box.
  package unowned(unsafe) let part: any SynchronizationPart

  package init(_ part: any SynchronizationPart) { self.part = part }

  /// Gives the calling thread this part, until it is given another.
  package func enter() { thread_set_part(Unmanaged.passUnretained(self).toOpaque()) }

  /// Leaves the calling thread without a part.
  package static func leave() { thread_set_part(nil) }
}

/// Counts an exploration in, or out.
package func noteExploration(isUnderWay: Bool) { explorations_count(isUnderWay ? 1 : -1) }
