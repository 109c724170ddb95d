internal import Basics
internal import CAllocations
package import Mechanisms
internal import Workloads

/// How much memory a waiting task takes, and how much of it stays when all tasks have ended.
package struct MemoryPerWaiter: BenchWorkload {
  package let id = "memory"
  package let question = "How much memory does a waiting task take, and is it given back?"
  package let headline: Headline? = Headline(.heapPerWaiter, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let sizes = scale.pick(
      short: [1_000],
      standard: [1, 1_000, 100_000],
      full: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
    )
    return sizes.map { Cell(id, limit: 1, tasks: $0, loop: .closed, arrivals: "together") }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.makesTasksWait
  }

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    0.06 + Double(cell.tasks ?? 0) * 5e-6
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let count = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let room = WaitingRoom(mechanism, kind: trial.kind, waiters: count)
    let found = await onOwnThread("waiting", startsTasks: true) {
      room.occupy()
      let before = Reading()
      for index in 0..<count { room.admit(index) }
      room.settle()
      let waiting = Reading()
      room.release()
      return (before: before, waiting: waiting, drained: Reading())
    }

    func each(_ end: Int64?, _ start: Int64?) -> Double? {
      guard let end, let start else { return nil }
      return Double(end - start) / Double(count)
    }
    report.add(.heapPerWaiter, "mean", each(found.waiting.heap, found.before.heap), count: count)
    report.add(
      .residentPerWaiter,
      "mean",
      each(found.waiting.resident, found.before.resident),
      count: count
    )
    report.add(.heapAfterDrain, "mean", each(found.drained.heap, found.before.heap), count: count)
    // One of the threads is the harness's.
    report.add(.peakThreads, "max", found.waiting.threads.map { Double($0 - 1) })
    report.add(.peakMemory, "max", ProcessMetrics.now().peakResident.map(Double.init))
    report.serviceKind = trial.kind.rawValue
    report.check(room.log, mechanism, limit: trial.promisedLimit, expected: count + 1)
  }
}

/// What the process holds at one moment.
private struct Reading: Sendable {
  /// Bytes of heap in use, over all arenas of the allocator; nil where it does not say.
  let heap: Int64?
  let resident: Int64?
  let threads: Int?

  init() {
    let bytes = heap_bytes_in_use()
    heap = bytes >= 0 ? bytes : nil
    let metrics = ProcessMetrics.now()
    resident = metrics.resident
    threads = metrics.threads
  }
}
