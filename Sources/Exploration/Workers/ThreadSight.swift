internal import CExplorable
internal import Glibc

/// Looks at one thread of this process from outside, as the kernel sees it.
///
/// Whether a thread that does nothing is only slow, or waits for somebody, cannot be told by time: on a
/// busy machine a thread that could run may not for long. The kernel knows. A thread that sleeps for a
/// lock does so at the lock's address, and a lock says who holds it: the C library's mutex in the third
/// word, one that inherits priority (`Synchronization.Mutex` of Linux) in its only one.
final class ThreadSight: Sendable {
  enum State: Equatable {
    /// Has a processor, waits for one, or waits for what comes by itself.
    case runs
    /// Sleeps for the lock at this address, which the thread of that number holds; 0 where nobody is
    /// known to: a lock that does not say, a semaphore, a file.
    case sleeps(at: UInt, holder: Int32)
  }

  private let call: Int32
  private let stat: Int32
  private let memory: Int32
  private let number = thread_number()

  /// Of the calling thread.
  init() {
    // Where the system does not show what a thread sleeps for, its state is all there is.
    call = open("/proc/thread-self/syscall", O_RDONLY | O_CLOEXEC)
    stat = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC)
    memory = open("/proc/self/mem", O_RDONLY | O_CLOEXEC)
  }

  deinit { for file in [call, stat, memory] where file >= 0 { close(file) } }

  var state: State {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 256) { bytes in
      let count = pread(call, bytes.baseAddress, bytes.count, 0)
      guard count > 0 else { return stateWithoutHolder(bytes) }
      // `running`, or the number of the system call and its arguments in hexadecimal digits.
      let words = bytes[..<count].split(separator: UInt8(ascii: " "), maxSplits: 3)
      guard words.count == 4, words[0].first != UInt8(ascii: "-") else { return .runs }
      guard Self.number(words[0], radix: 10) == Self.futex else { return .sleeps(at: 0, holder: 0) }
      let address = Self.number(words[1].dropFirst(2), radix: 16)
      let isPriorityInheriting = [6, 13].contains(
        Self.number(words[2].dropFirst(2), radix: 16) & 0x7F
      )
      let holder = holder(at: address, isPriorityInheriting)
      // The kernel gives such a lock to who sleeps for it, and wakes him then.
      if isPriorityInheriting, holder == number { return .runs }
      return .sleeps(at: address, holder: holder)
    }
  }

  private func holder(at address: UInt, _ isPriorityInheriting: Bool) -> Int32 {
    var lock: (word: UInt32, count: UInt32, owner: Int32) = (0, 0, 0)
    let size = MemoryLayout.size(ofValue: lock)
    guard pread(memory, &lock, size, off_t(address)) == size else { return 0 }
    if isPriorityInheriting { return Int32(lock.word & 0x3FFF_FFFF) }
    // A mutex that is waited for.
    return lock.word == 2 ? lock.owner : 0
  }

  private func stateWithoutHolder(_ bytes: UnsafeMutableBufferPointer<UInt8>) -> State {
    let count = pread(stat, bytes.baseAddress, bytes.count, 0)
    guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")), end + 2 < count
    else { return .runs }
    return bytes[end + 2] == UInt8(ascii: "S") ? .sleeps(at: 0, holder: 0) : .runs
  }

  private static func number(_ digits: some Sequence<UInt8>, radix: UInt) -> UInt {
    digits.reduce(0) { number, digit in
      number &* radix &+ UInt(digit)
        &- UInt(digit >= UInt8(ascii: "a") ? UInt8(ascii: "a") - 10 : 48)
    }
  }

  #if arch(arm64)
  private static let futex: UInt = 98
  #else
  private static let futex: UInt = 202
  #endif
}
