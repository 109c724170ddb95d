internal import Basics
internal import Foundation
internal import Mechanisms

/// Starts each task at its intended arrival, even while earlier tasks still wait: an open loop
/// (Schroeder, Wierman and Harchol-Balter, "Open versus closed: a cautionary tale", NSDI 2006).
///
/// A thread of its own sleeps until shortly before each arrival and then watches the clock, because a
/// sleep alone overruns by as much as a limiter's whole cost. It records how late each start was. Waits
/// count from the intended arrival: a late generator would otherwise hide them, which Gil Tene calls
/// coordinated omission.
struct Generator: Sendable {
  /// In the order of their arrivals.
  let tasks: [SimulatedTask]
  /// How long before an arrival the sleeping stops and the watching begins, in nanoseconds: more than
  /// a virtual machine's sleeps overrun by on a bad day.
  private static let watch: Int64 = 200_000

  struct Outcome: Sendable {
    /// The reading of the monotonic clock that the intended arrivals count from.
    var start: Int64
    /// By task, how long after its intended arrival it was started.
    var lateness: [Int64]
    /// Processor time the generator itself used, in nanoseconds.
    var processorTime: Int64
  }

  /// Returns when every task has ended.
  func run(
    on mechanism: any Mechanism,
    tracer: any Tracer,
    world: any World
  ) async -> Outcome {
    await onOwnThread("generator", startsTasks: true) {
      let ended = Counter()
      var lateness: [Int64] = []
      lateness.reserveCapacity(tasks.count)
      let processorTime = MachineClock.threadTime()
      let zero = MachineClock.monotonic() + 2_000_000
      for task in tasks {
        let due = zero + task.arrival
        Self.wait(until: due)
        lateness.append(MachineClock.monotonic() - due)
        startVisit(Visit(task, tracer: tracer, world: world), on: mechanism, ended: ended)
      }
      let outcome = Outcome(
        start: zero,
        lateness: lateness,
        processorTime: MachineClock.threadTime() - processorTime
      )
      blockUntil { ended.value == tasks.count }
      return outcome
    }
  }

  private static func wait(until due: Int64) {
    let sleepEnd = due - watch
    if MachineClock.monotonic() < sleepEnd {
      var end = timespec(
        tv_sec: Int(sleepEnd / 1_000_000_000),
        tv_nsec: Int(sleepEnd % 1_000_000_000)
      )
      while clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, nil) == EINTR {}
    }
    while MachineClock.monotonic() < due {}
  }
}
