internal import Basics

/// Stamps events with the wall clock and the thread they happen on.
package struct WallTraceSource: TraceSource {
  /// The reading of the monotonic clock at which the run began, in nanoseconds.
  package let start: Int64

  /// - Parameter start: the run's time zero on the machine's monotonic clock; now if nil.
  package init(start: Int64? = nil) { self.start = start ?? MachineClock.monotonic() }

  /// Nanoseconds since the run began.
  package var now: Int64 { MachineClock.monotonic() - start }

  package func stamp() -> TraceStamp {
    TraceStamp(time: now, worker: UInt64(OSThread.current))
  }

  /// Many threads stamp at once, each in its own order.
  package var isSerial: Bool { false }
}
