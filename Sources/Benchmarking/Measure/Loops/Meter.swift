internal import Basics
internal import CAllocations
internal import Foundation
internal import Mechanisms
internal import Synchronization

func elapsedNanoseconds(_ body: () async -> Void) async -> Int64 {
  let start = MachineClock.monotonic()
  await body()
  return MachineClock.monotonic() - start
}

extension TrialReport {
  /// Counts the blocks that `body`, which performs so many operations, allocates; never while timing.
  mutating func countAllocations(operations: Int, _ body: () async -> Void) async {
    guard allocations_can_be_counted() else { return }
    let (earlier, earlierBytes) = (allocations_counted(), allocations_counted_bytes())
    allocations_count(true)
    await body()
    allocations_count(false)
    add(
      .allocations,
      "mean",
      Double(allocations_counted() - earlier) / Double(operations),
      count: operations
    )
    add(
      .bytesAllocated,
      "mean",
      Double(allocations_counted_bytes() - earlierBytes) / Double(operations),
      count: operations
    )
  }

  /// Adds what the process used since `before`, up to `end` or now, for each operation.
  ///
  /// `harness` is the nanoseconds of processor time that were the harness's own.
  mutating func addUsage(
    since before: ProcessMetrics,
    until end: ProcessMetrics? = nil,
    operations: Int,
    harness: Int64 = 0
  ) {
    let now = end ?? ProcessMetrics.now()
    let each = Double(max(operations, 1))
    add(
      .processorTime,
      "mean",
      Double(now.processorTime - before.processorTime - harness) / each,
      count: operations
    )
    let switches =
      now.voluntarySwitches - before.voluntarySwitches + now.involuntarySwitches
      - before.involuntarySwitches
    add(.contextSwitches, "mean", Double(switches) / each, count: operations)
    if let delay = now.runQueueDelay, let earlier = before.runQueueDelay {
      // Threads that ended meanwhile took their share with them; less than nothing means unknown.
      add(
        .runQueueDelay,
        "mean",
        delay >= earlier ? Double(delay - earlier) / each : nil,
        count: operations
      )
    }
    add(.peakMemory, "max", now.peakResident.map(Double.init))
  }

  /// Adds the broken promises of visits that have all ended, and the mechanism's own count of permits.
  mutating func check(_ log: StampLog, _ mechanism: any Mechanism, limit: Int?, expected: Int) {
    violations += log.violations(limit: limit, expected: expected)
    add(.peakRunning, "max", Double(log.peakRunning))
    if let limit {
      let share = VisitStatistics(log.visits()).waitedPercent(limit: limit)
      add(.waited, "mean", share, count: expected)
    }
    checkPermits(mechanism)
  }

  mutating func checkPermits(_ mechanism: any Mechanism) {
    if let inUse = mechanism.permitsInUse, inUse != 0 {
      add(.permitsLeft, "total", Double(inUse))
      violations.append("permit leak: \(inUse) permits are in use after the last task ended")
    }
  }
}

/// Counts down to zero and then lets its one waiter go.
final class Latch: Sendable {
  private struct State {
    var left: Int
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(left: count)) }

  func countDown() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      state.left -= 1
      guard state.left == 0 else { return nil }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.left <= 0 { return true }
        state.waiter = continuation
        return false
      }
      if isOpen { continuation.resume() }
    }
  }
}
