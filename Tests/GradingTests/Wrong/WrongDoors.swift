import ExplorableSynchronization
import Grading

// Doors that are right for one who waits and one who opens.

/// A door, and what is wrong with how it is opened or how many may wait at it.
class OneLockDoor: @unchecked Sendable {
  // Safe: nothing but the lock.
  fileprivate let state = Mutex(State())

  fileprivate struct State {
    var isOpen = false
    var isOpening = false
    var line: [CheckedContinuation<Void, Never>] = []
  }

  /// How many may wait.
  var most: Int { .max }

  required init() {}

  func wait() async {
    let most = most
    await withCheckedContinuation { continuation in
      let mayPass = state.withLock { state in
        if state.isOpen || state.line.count >= most { return true }
        state.line.append(continuation)
        return false
      }
      if mayPass { continuation.resume() }
    }
  }

  func open() {
    let woken = state.withLock { state in
      state.isOpen = true
      defer { state.line = [] }
      return state.line
    }
    for continuation in woken { continuation.resume() }
  }
}

final class SoundDoor: OneLockDoor, LearnerDoor, @unchecked Sendable {}

/// Looks who is first, and takes the first out under a second lock.
final class WakesTheFirst: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override func open() {
    state.withLock { $0.isOpen = true }
    while let first = state.withLock({ $0.line.first }) {
      let isThere = state.withLock { state in
        if state.line.isEmpty { return false }
        state.line.removeFirst()
        return true
      }
      if isThere { first.resume() }
    }
  }
}

/// Who finds that another is about to open it returns at once.
final class LeavesItToTheFirst: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override func open() {
    let isMine = state.withLock { state in
      defer { state.isOpening = true }
      return !state.isOpening
    }
    if isMine { super.open() }
  }
}

/// Keeps a note of each time it was opened.
final class KeepsOpenings: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override func open() {
    OwnHeap.keep()
    super.open()
  }
}

/// Ten thousand wait, and whoever comes then passes.
final class RoomForTenThousand: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override var most: Int { 10_000 }
}

/// As many wait as a byte has values, and whoever comes then passes.
final class RoomForAByte: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override var most: Int { 256 }
}

/// Takes a lock that another has for an open door.
final class TriesTheDoor: OneLockDoor, LearnerDoor, @unchecked Sendable {
  override func wait() async {
    await withCheckedContinuation { continuation in
      let mayPass = state.withLockIfAvailable { state in
        if !state.isOpen { state.line.append(continuation) }
        return state.isOpen
      }
      if mayPass ?? true { continuation.resume() }
    }
  }
}
