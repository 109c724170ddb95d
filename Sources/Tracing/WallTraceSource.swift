#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Stamps events with the wall clock and the thread they happen on.
///
/// Reads `CLOCK_MONOTONIC` directly, because `ContinuousClock.now` costs a quarter more and a stamp is
/// most of what an event costs.
package struct WallTraceSource: TraceSource {
  /// The reading of the monotonic clock at which the run began, in nanoseconds.
  package let start: Int64

  /// - Parameter start: the run's time zero as `monotonicNow()` reads it; now unless told.
  package init(start: Int64 = Self.monotonicNow()) { self.start = start }

  /// Nanoseconds since the run began.
  package var now: Int64 { Self.monotonicNow() - start }

  /// The monotonic clock's reading in nanoseconds: the same for every thread, never decreasing.
  package static func monotonicNow() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }

  package func stamp() -> TraceStamp {
    TraceStamp(time: now, worker: Self.currentThread)
  }

  /// Many threads stamp at once, each in its own order.
  package var isSerial: Bool { false }

  /// A key for the calling thread, unique among the threads alive.
  private static var currentThread: UInt64 {
    #if canImport(Darwin)
    UInt64(UInt(bitPattern: pthread_self()))
    #else
    UInt64(pthread_self())
    #endif
  }
}
