internal import Basics
internal import Foundation
internal import Mechanisms
internal import Synchronization

/// Lets a mechanism that owns its threads grow them before anything is timed.
///
/// GCD and OperationQueue add about one thread a second once all they have are blocked. A steady state
/// measured while they still grow is none, so `limit` bodies block here until they all run at once; how
/// long that took is a figure of its own.
enum ThreadRamp {
  /// Nanoseconds until `limit` bodies ran at once; nil if that did not happen in time.
  static func grow(_ mechanism: any Mechanism, to limit: Int) async -> Int64? {
    let meeting = MeetingWorld(limit)
    let start = MachineClock.monotonic()
    let log = StampLog(capacity: limit)
    await onOwnThread("ramp", startsTasks: true) {
      let ended = Counter()
      for number in 1...limit {
        let task = SimulatedTask(number: number, service: 1, kind: .block)
        startVisit(Visit(task, tracer: log, world: meeting), on: mechanism, ended: ended)
      }
      blockUntil { ended.value == limit }
    }
    return meeting.isComplete ? MachineClock.monotonic() - start : nil
  }
}

/// A world in which blocking lasts until as many block as were asked for, or the patience ends.
private final class MeetingWorld: TimelessWorld {
  private let awaited: Int
  private let condition = NSCondition()
  private let present = Atomic(0)
  /// Seconds; libdispatch gives up growing at 64 threads or so, about one a second.
  private static let patience = 20.0

  init(_ awaited: Int) { self.awaited = awaited }

  var isComplete: Bool { present.load(ordering: .acquiring) >= awaited }

  func suspend(for nanoseconds: Int64) async throws {}
  func spin(for nanoseconds: Int64) { block(for: nanoseconds) }

  func block(for nanoseconds: Int64) {
    let end = Date(timeIntervalSinceNow: Self.patience)
    condition.lock()
    present.add(1, ordering: .releasing)
    if isComplete { condition.broadcast() }
    while !isComplete, condition.wait(until: end) {}
    condition.unlock()
  }
}
