internal import Basics
internal import Foundation
package import Mechanisms
internal import Synchronization

/// How many threads a batch of slow tasks takes, and how fast a pool of threads grows to its limit.
package struct Threads: BenchWorkload {
  package let id = "threads"
  package let question =
    "How many threads does a batch take over time, and does it reach its limit?"
  package let headline: Headline? = Headline(.makespan, "max")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let tasks = scale.pick(short: 16, standard: 32, full: 100)
    let service: Int64 = scale.pick(short: 20, standard: 20, full: 100) * 1_000_000
    return (limits ?? scale.pick(short: [8], standard: [8], full: [2, 8, 64])).map { limit in
      Cell(
        id,
        limit: limit,
        tasks: tasks,
        loop: .closed,
        arrivals: "together",
        serviceDistribution: ServiceShape.fixed.rawValue,
        service: service
      )
    }
  }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit != .one
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    let rounds = Double(cell.tasks ?? 0) / Double(min(cell.limit ?? 1, 6))
    return 0.05 + rounds * Double(cell.service ?? 0) / 1e9
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let count = trial.cell.tasks ?? 32
    let mechanism = trial.makeMechanism()
    let tasks = Workload(
      count: count,
      service: .fixed(trial.cell.service ?? 0),
      kind: trial.kind
    ).tasks()
    let log = StampLog(capacity: count)
    let world = WallWorld()
    let sampler = ThreadSampler()
    await onOwnThread("starter", startsTasks: true) {
      let ended = Counter()
      for task in tasks {
        startVisit(Visit(task, tracer: log, world: world), on: mechanism, ended: ended)
      }
      blockUntil { ended.value == count }
    }
    let samples = await sampler.stop()

    report.serviceKind = trial.kind.rawValue
    let statistics = VisitStatistics(log.visits())
    report.add(.makespan, "max", statistics.makespan.map(Double.init), count: count)
    report.add(.waiting, of: statistics.waits)
    report.add(.peakThreads, "max", samples.values.max(), count: samples.values.count)
    report.check(log, mechanism, limit: trial.promisedLimit, expected: count)
    if !samples.times.isEmpty { report.series.append(samples) }
  }
}

/// Counts the threads of this process every few milliseconds, from a thread of its own.
private final class ThreadSampler: Sendable {
  private struct State {
    var samples: Series
    var isStopping = false
  }

  private let state = Mutex(
    State(samples: Series(metric: Metric.peakThreads.id, times: [], values: []))
  )
  private let ended = Latch(1)
  /// Nanoseconds between two readings.
  private static let interval: Int64 = 4_000_000

  init() {
    let start = MachineClock.monotonic()
    OSThread("sampler") { [self] in
      while !state.withLock(\.isStopping) {
        // Two of the threads are the harness's: this one and the one that starts the tasks.
        if let threads = ProcessMetrics.threadCount() {
          state.withLock { state in
            state.samples.times.append(MachineClock.monotonic() - start)
            state.samples.values.append(Double(threads - 2))
          }
        }
        usleep(UInt32(Self.interval / 1_000))
      }
      ended.countDown()
    }.detach()
  }

  func stop() async -> Series {
    state.withLock { $0.isStopping = true }
    await ended.wait()
    return state.withLock(\.samples)
  }
}
