internal import Foundation

/// The wall clock and the machine's own threads.
package struct WallWorld: World {
  /// When the run began, on the machine's monotonic clock, in nanoseconds.
  private let start: Int64

  /// Time zero is the given reading of the monotonic clock, in nanoseconds; now unless told.
  package init(start: Int64 = Self.monotonicNow()) { self.start = start }

  package var now: Int64 { Self.monotonicNow() - start }

  /// The monotonic clock's reading, in nanoseconds.
  package static func monotonicNow() -> Int64 { read(CLOCK_MONOTONIC) }

  package func suspend(for nanoseconds: Int64) async throws {
    try await Task.sleep(nanoseconds: UInt64(max(0, nanoseconds)))
  }

  package func block(for nanoseconds: Int64) {
    guard nanoseconds > 0 else { return }
    var rest = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000),
      tv_nsec: Int(nanoseconds % 1_000_000_000)
    )
    var left = timespec()
    // A signal may end the sleep early; the rest is then still to be slept.
    while nanosleep(&rest, &left) == -1, errno == EINTR { rest = left }
  }

  /// Lets the pool take over.
  ///
  /// A run starts its visits one after the other from a thread of its own, and each goes on inline
  /// until it first suspends. Work that would keep that thread goes to the pool first.
  ///
  /// One yield is not enough: it waits for a job that it has sent to the pool, and if a worker is done
  /// with the job before the wait begins, there is nothing to wait for and the task goes on where it
  /// was. That happened to one task in ten.
  package func leaveStartingThread() async {
    repeat { await Task.yield() } while StartingThread.isCurrent
  }

  /// Burns processor time, not wall time: tasks that share a core take longer, as real ones would.
  package func spin(for nanoseconds: Int64) {
    let end = Self.read(CLOCK_THREAD_CPUTIME_ID) + nanoseconds
    while Self.read(CLOCK_THREAD_CPUTIME_ID) < end {}
  }

  private static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
