internal import Synchronization

// A lock whose hand-overs the thread sanitizer can see.
//
// The lock itself is `Synchronization.Mutex`. On Linux, a thread that has to wait for it acquires it in
// the library's own code, which is not instrumented, so the thread sanitizer takes the next access to
// what it protects for a race, and buries real ones under false ones. Here each holder also
// stores to an atomic as it leaves, and the next loads it as it enters: redundant to the mutex, visible
// to the sanitizer, and an ordinary store and load on most machines.

/// A value that one thread at a time can use.
///
/// Keep what happens inside short, and decide only: no continuation is resumed, no closure of the user's
/// called and no object of the user's released while a lock is held.
///
/// `package`, for the rooms that look into this one and want to be clean under the sanitizer too.
package struct Lock<Value: Sendable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  private let holders = Atomic<Int>(0)

  package init(_ value: Value) { mutex = Mutex(value) }

  @inline(__always)
  package borrowing func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { value throws(Failure) in
      let count = holders.load(ordering: .acquiring)
      defer { holders.store(count &+ 1, ordering: .releasing) }
      return try body(&value)
    }
  }
}
