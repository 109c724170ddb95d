internal import Mechanisms
internal import WorkStealing

/// Stamps events as the wall clock does, and says of those on lanes how the step came to its worker.
struct LanesTraceSource: TraceSource {
  let clock: WallTraceSource

  var isSerial: Bool { false }

  func stamp() -> TraceStamp {
    var stamp = clock.stamp()
    stamp.route =
      switch WorkStealingExecutor.routeOfCurrentJob {
      case .slot: .slot
      case .stolen: .stolen
      case .queue, .outside, nil: nil
      }
    return stamp
  }
}
