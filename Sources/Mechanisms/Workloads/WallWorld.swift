internal import Basics
internal import Glibc

/// The wall clock and the machine's own threads.
package struct WallWorld: World {
  /// When the run began, on the machine's monotonic clock, in nanoseconds.
  private let start: Int64

  /// Time zero is the given reading of the monotonic clock, in nanoseconds; now if nil.
  package init(start: Int64? = nil) { self.start = start ?? MachineClock.monotonic() }

  package var now: Int64 { MachineClock.monotonic() - start }

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
    while OSThread.isStartingTasks { await Task.yield() }
  }

  /// Burns processor time, not wall time: tasks that share a core take longer, as real ones would.
  package func spin(for nanoseconds: Int64) {
    let end = MachineClock.threadTime() + nanoseconds
    while MachineClock.threadTime() < end {}
  }
}
