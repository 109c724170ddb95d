internal import Basics
internal import Foundation
internal import Limiters
package import Mechanisms
internal import Synchronization

/// How long a sleeping executor takes to begin a task that a thread outside hands it.
package struct WakeUp: PairedWorkload {
  package let id = "wake-up"
  package let question =
    "How long does an executor that sleeps take to begin a task that comes from outside?"
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.wakeUp, "p50")
  package let roundLength = 5.0

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  /// What is measured is what runs the tasks: no limiter is in it.
  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit == .none
  }

  package func runner(_ trial: Trial) -> Runner {
    let executor = trial.executor
    return Runner { times in
      let latencies = await onOwnThread("outside", startsTasks: true) {
        (0..<min(times, Self.most)).map { _ -> Int64 in
          // Long enough for a worker that searches for work to have gone to sleep.
          usleep(UInt32(Self.pause / 1_000))
          let latency = Latency()
          Task.detached(on: executor) { latency.end() }
          blockUntil { latency.value > 0 }
          return latency.value
        }
      }.sorted()
      var report = TrialReport()
      report.add(
        .wakeUp,
        "p50",
        Double(latencies[(latencies.count - 1) / 2]),
        count: latencies.count
      )
      report.add(.wakeUp, "max", latencies.last.map(Double.init), count: latencies.count)
      return report
    }
  }

  /// Wake-ups of one round.
  private static let most = 20
  /// Nanoseconds.
  private static let pause: Int64 = 400_000
}

/// What an executor with nothing to do takes of the processor.
package struct Resting: BenchWorkload {
  package let id = "resting"
  package let question =
    "How much processor time does an executor take while there is nothing to do?"
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.restingTime, "mean")

  package init() {}

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] { [Cell(id)] }

  package func admits(_ mechanism: MechanismProfile, to cell: Cell) -> Bool {
    mechanism.limit == .none
  }

  package func expectedSeconds(_ cell: Cell, scale: Scale) -> Double {
    0.05 + Double(scale.budget) * Self.budgets / 1e9
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    // The workers that rest have worked before.
    await withDiscardingTaskGroup { group in
      for _ in 0..<1_000 { group.addTask { await Task.yield() } }
    }
    let duration = Int64(Double(trial.request.budget) * Self.budgets)
    let used = await onOwnThread("resting") {
      settle()
      let before = MachineClock.processTime()
      usleep(UInt32(duration / 1_000))
      return MachineClock.processTime() - before
    }
    report.add(.restingTime, "mean", Double(used) * 1e9 / Double(duration))
  }

  /// How many budgets one trial rests: half a second in a default run.
  private static let budgets = 7.0
}

/// The time from here to the end, which may be on another thread.
private final class Latency: Sendable {
  private let start = MachineClock.monotonic()
  private let taken = Atomic<Int64>(0)

  func end() { taken.store(max(1, MachineClock.monotonic() - start), ordering: .releasing) }
  /// Nanoseconds; 0 until the end.
  var value: Int64 { taken.load(ordering: .acquiring) }
}
