package import Glibc

/// The machine's own clocks, in nanoseconds.
///
/// Read directly, because `ContinuousClock.now` costs a quarter more and a stamp is most of what an
/// event costs.
package enum MachineClock {
  /// The monotonic clock: one scale for every thread and process, never decreasing.
  @inline(__always)
  package static func monotonic() -> Int64 { read(CLOCK_MONOTONIC) }

  /// The processor time that this process has used, all threads together.
  package static func processTime() -> Int64 { read(CLOCK_PROCESS_CPUTIME_ID) }

  /// The processor time that the calling thread has used.
  package static func threadTime() -> Int64 { read(CLOCK_THREAD_CPUTIME_ID) }

  @inline(__always)
  package static func read(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
