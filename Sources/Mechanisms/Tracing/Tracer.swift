/// Takes note of what happens to tasks.
///
/// Called from any thread, on the path under measurement: an implementation never blocks for long
/// and never calls back.
package protocol Tracer: Sendable {
  /// Notes that `kind` happens to `task` now, here.
  func record(_ kind: TraceEvent.Kind, of task: TaskID)

  /// Notes that a limiter returned neither the value nor the error that a body ended with.
  ///
  /// No event of the log, but a broken promise: only what checks promises takes note.
  ///
  /// - Parameters:
  ///   - task: the task whose body ended.
  ///   - toldCancelled: whether the caller got a `CancellationError` instead.
  func noteLostResult(of task: TaskID, toldCancelled: Bool)
}

extension Tracer {
  package func noteLostResult(of task: TaskID, toldCancelled: Bool) {}
}

/// A tracer that takes no notes.
package struct NoTracer: Tracer {
  package init() {}

  @inlinable package func record(_ kind: TraceEvent.Kind, of task: TaskID) {}
}

/// The instant and the place of an event, as its source knows them.
package struct TraceStamp: Sendable {
  /// Nanoseconds since the run began.
  package var time: Int64
  /// A key for the worker, unique among those alive; 0 where unknown.
  package var worker: UInt64
  /// The task whose step made the current one runnable, where known.
  package var cause: TaskID?
  package var route: TraceEvent.Route?

  package init(
    time: Int64,
    worker: UInt64,
    cause: TaskID? = nil,
    route: TraceEvent.Route? = nil
  ) {
    self.time = time
    self.worker = worker
    self.cause = cause
    self.route = route
  }
}

/// Tells the time, the worker and the cause to a recorder: the wall clock or a virtual one.
package protocol TraceSource: Sendable {
  /// The stamp of an event that happens now, on the calling thread.
  func stamp() -> TraceStamp

  /// Whether events happen one at a time, so that the order in which they are recorded is the order
  /// in which they happened, whatever thread records them.
  ///
  /// True of virtual time, where many events share one instant. A recorder keeps the order of such a
  /// source exactly; for the others it may keep a buffer for each thread.
  var isSerial: Bool { get }
}

extension TraceSource {
  /// The careful answer.
  package var isSerial: Bool { true }
}
