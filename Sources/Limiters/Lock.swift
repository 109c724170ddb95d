internal import Synchronization

// A lock whose hand-overs the thread sanitizer can see.
//
// The lock itself is `Synchronization.Mutex`. On Linux, a thread that has to wait for it acquires it in
// the library's own code, which is not instrumented. The thread sanitizer therefore takes the next access
// to the protected value for a race, and reports so many false races that real ones are hard to find.
// Here each holder also stores to an atomic as it leaves, and the next one loads it as it enters. The
// mutex does not need this, so an optimised build does without. (There is no condition for "built with
// the sanitizer". To use it on an optimised build, define `SANITIZED`.)

/// A value that one thread at a time can use.
///
/// Inside, only decide, and be short: resume no continuation, call no closure of the user and release no
/// object of the user while the lock is held.
///
/// `package`, because rooms that import this one use it too, to be clean under the sanitizer.
package struct Lock<Value: Sendable>: ~Copyable, Sendable {
  private let mutex: Mutex<Value>
  #if DEBUG || SANITIZED
  // Of the module, so that an exploration does not stop at it where `Atomic` is one that it stops at.
  private let holders = Synchronization.Atomic<Int>(0)
  #endif

  package init(_ value: Value) { mutex = Mutex(value) }

  @inline(__always)
  package borrowing func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { value throws(Failure) in
      #if DEBUG || SANITIZED
      let count = holders.load(ordering: .acquiring)
      defer { holders.store(count &+ 1, ordering: .releasing) }
      #endif
      return try body(&value)
    }
  }
}
