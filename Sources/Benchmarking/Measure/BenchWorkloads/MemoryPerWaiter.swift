internal import Basics
internal import CAllocations
internal import Limiters
package import Mechanisms

/// How much memory a waiting task takes, and how much of it stays when all tasks have ended.
package struct MemoryPerWaiter: BenchWorkload {
  package let id = "memory"
  package let question = "How much memory does a waiting task take, and is it given back?"
  package let headline: Headline? = Headline(.heapPerWaiter, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let sizes = scale.pick(
      short: [1_000],
      standard: [1, 1_000, 10_000],
      full: [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000]
    )
    return sizes.map { Cell(id, limit: 1, tasks: $0, loop: .closed, arrivals: "together") }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.makesTasksWait
  }

  /// Who makes its tasks one by one has none that waits.
  package func ranks(_ mechanism: MechanismProfile) -> Bool { !mechanism.inBatches }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    0.06 + Double(cell.tasks ?? 0) * 5e-6
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let count = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let gate = GateWorld()
    let (entered, ran) = (Counter(), Counter())
    // The body that is admitted first holds the permit until all others have come.
    let body = BatchBody(
      onThread: { _ in
        if entered.increment() == 1 { gate.block(for: 1) }
        ran.increment()
      },
      onTask: { _ in
        if entered.increment() == 1 { try? await gate.suspend(for: 1) }
        ran.increment()
      }
    )
    let executor = trial.executor
    let found = await onOwnThread("waiting", startsTasks: true) {
      let before = Reading()
      let ended = Counter()
      Task.detached(on: executor) {
        await mechanism.batch(count + 1, body)
        ended.increment()
      }
      blockUntil { entered.value == 1 }
      settle()
      let (waiting, admitted) = (Reading(), entered.value)
      gate.open()
      blockUntil { ended.value == 1 }
      return (before: before, waiting: waiting, drained: Reading(), admitted: admitted)
    }
    if found.admitted != 1 {
      report.violations.append("over-admission: \(found.admitted) ran at once, the limit is 1")
    }
    if ran.value != count + 1 {
      report.violations.append("a batch of \(count + 1) ran the body \(ran.value) times")
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
    report.checkPermits(mechanism)
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
