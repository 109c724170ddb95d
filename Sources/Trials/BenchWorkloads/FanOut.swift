internal import Basics
internal import Mechanisms
internal import Workloads

/// Many tasks at once, each with a single visit: the cost of a batch.
package struct FanOut: BenchWorkload {
  package enum Body: Sendable {
    case empty
    case computing
  }

  private let body: Body

  package var id: String { body == .empty ? "fan-out" : "fan-out-computing" }
  package var question: String {
    switch body {
    case .empty: "What does one task of a large batch cost, from its start to its end?"
    case .computing: "What does it cost when each task computes for twenty microseconds?"
    }
  }
  package let needsWaiting = true
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init(body: Body) { self.body = body }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    let sizes = scale.pick(
      short: [1_000],
      standard: [100, 1_000, 10_000],
      full: [100, 1_000, 10_000, 100_000]
    )
    if body == .computing {
      return (limits ?? [8]).map {
        Cell(
          id,
          limit: $0,
          tasks: 1_000,
          loop: .closed,
          arrivals: "together",
          service: Self.service
        )
      }
    }
    return (limits ?? scale.pick(short: [8], standard: [8], full: [1, 8, 64])).flatMap { limit in
      sizes.map { Cell(id, limit: limit, tasks: $0, loop: .closed, arrivals: "together") }
    }
  }

  package func expectedSeconds(_ cell: Cell, budget: Int64) -> Double {
    0.02 + 1.5 * max(Double(budget) / 1e9, Double(cell.tasks ?? 0) * 4e-6)
      + 3 * Double((cell.service ?? 0) * Int64(cell.tasks ?? 0)) / 1e9
  }

  package func measure(_ trial: Trial, into report: inout TrialReport) async {
    let tasks = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let start = MachineClock.monotonic()
    // The promises are checked, and the waits measured, on tasks that stamp.
    let log = StampLog(capacity: tasks)
    await stamped(tasks, trial, mechanism, log)
    let statistics = VisitStatistics(log.visits())
    report.add(.makespan, "max", statistics.makespan.map(Double.init), count: tasks)
    report.add(.waiting, of: statistics.waits)
    report.serviceKind = trial.kind.rawValue
    report.check(log, mechanism, limit: trial.promisedLimit, expected: tasks)

    // Costs are those of a batch as the mechanism's users write it.
    let ran = Counter()
    let service = trial.cell.service ?? 0
    @Sendable func work() {
      ran.increment()
      guard service > 0 else { return }
      let end = MachineClock.monotonic() + service
      while MachineClock.monotonic() < end {}
    }
    let body = BatchBody(onThread: { _ in work() }, onTask: { _ in work() })
    await mechanism.batch(tasks, body)
    let before = ProcessMetrics.now()
    var repetition = 0
    repeat {
      repetition += 1
      let elapsed = await elapsedNanoseconds { await mechanism.batch(tasks, body) }
      report.add(
        .timePerOperation,
        "mean",
        Double(elapsed) / Double(tasks),
        count: tasks,
        repetition: repetition
      )
    } while repetition < 5 && MachineClock.monotonic() - start < trial.request.budget
    report.addUsage(since: before, operations: repetition * tasks)
    var batches = 1 + repetition
    await report.countAllocations(operations: tasks) {
      await mechanism.batch(tasks, body)
      batches += 1
    }
    if ran.value != batches * tasks {
      report.violations.append("\(batches) batches of \(tasks) ran the body \(ran.value) times")
    }
    report.checkPermits(mechanism)
  }

  private func stamped(
    _ tasks: Int,
    _ trial: Trial,
    _ mechanism: any Mechanism,
    _ log: StampLog
  ) async {
    let world = EmptyWorld()
    let kind = trial.kind
    await withDiscardingTaskGroup { group in
      for number in 1...tasks {
        group.addTask {
          let task = SimulatedTask(number: number, service: 1, kind: kind)
          await mechanism.carry(Visit(task, tracer: log, world: world))
        }
      }
    }
  }

  /// Nanoseconds of computing.
  private static let service: Int64 = 20_000
}
