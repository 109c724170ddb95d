internal import Basics
internal import CExplorable
internal import ExplorableSynchronization
internal import Synchronization

/// By which numbers the objects of a schedule are known, each given at its first use.
///
/// Steps name objects by them: an address differs from run to run.
struct ObjectTable {
  private var count = 0
  /// Of those that are known by their addresses.
  private var numbers: [UInt: Int] = [:]
  private var addresses: [Int: UInt] = [:]
  /// Locks that a schedule before this one left locked: they outlive the closure.
  private var lockedForEver: Set<Int> = []
  private var schedule: UInt32 = 0

  /// The locks that were held by jobs as those were given up, each by its last use: no job will release them.
  private static let leftLocks = Synchronization.Mutex<Set<UInt64>>([])
  /// The same of those that are known by their addresses.
  private static let leftAddresses = Synchronization.Mutex<Set<UInt>>([])
  /// Whether a schedule of the one exploration that `explore` lets run has come to such a lock: what happens
  /// then says nothing about the code.
  static let hasMetLeftLock = Synchronization.Atomic(false)

  /// Forgets the objects of the schedule before.
  mutating func begin(_ schedule: UInt32) {
    self.schedule = schedule
    count = 0
    numbers.removeAll(keepingCapacity: true)
    addresses.removeAll(keepingCapacity: true)
    lockedForEver.removeAll(keepingCapacity: true)
  }

  /// The address of an object that is known by it.
  func address(of object: Int) -> UInt? { addresses[object] }

  /// The number of the object at an address; nil if it has none yet.
  func knownNumber(at address: UInt) -> Int? { numbers[address] }

  func isLockedForEver(_ object: Int) -> Bool { lockedForEver.contains(object) }

  mutating func number(of identity: borrowing ObjectIdentity) -> Int {
    if let number = identity.number(in: schedule) { return number }
    let lastUse = identity.lastUse
    count += 1
    identity.set(count, in: schedule)
    if let lastUse, Self.leftLocks.withLock({ $0.contains(lastUse) }) {
      Self.hasMetLeftLock.store(true, ordering: .releasing)
      lockedForEver.insert(count)
      leaveLocked(count)
    }
    return count
  }

  mutating func number(at address: UInt) -> Int {
    if address_note(address) { forgetAll(around: address) }
    if let number = numbers[address] { return number }
    count += 1
    numbers[address] = count
    addresses[count] = address
    if Self.leftAddresses.withLock({ $0.contains(address) }) {
      if lock_is_taken(address) {
        Self.hasMetLeftLock.store(true, ordering: .releasing)
        lockedForEver.insert(count)
      } else {
        // Something else is there now.
        Self.leftAddresses.withLock { _ = $0.remove(address) }
      }
    }
    return count
  }

  /// Notes that no job will release the lock: a thread that took it for real would wait for ever.
  ///
  /// Not one that is free: its release was not seen, where the linker has taken the function from code without the
  /// instrumentation, and a thread that is not explored may have it by and by.
  func leaveLocked(_ object: Int) {
    if let address = addresses[object] {
      guard lock_is_taken(address) else { return }
      return Self.leftAddresses.withLock { _ = $0.insert(address) }
    }
    let use = UInt64(schedule) << 32 | UInt64(object)
    Self.leftLocks.withLock { _ = $0.insert(use) }
  }

  /// Forgets what was known by the address: something else is there now.
  mutating func forget(at address: UInt) {
    if let number = numbers.removeValue(forKey: address) { addresses[number] = nil }
  }

  /// Forgets what was known by addresses in memory that was freed since: what is there now is another object, and
  /// would be by luck alone of the same number in each run.
  private mutating func forgetAll(around address: UInt) {
    let start = address & ~15
    for address in start..<(start + 16) { forget(at: address) }
  }
}
