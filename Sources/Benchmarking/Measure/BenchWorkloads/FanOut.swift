internal import Basics
internal import Mechanisms

/// Many tasks at once, each with a single visit: the cost of a batch.
package struct FanOut: PairedWorkload {
  package enum Body: Sendable {
    case empty
    case computing
  }

  private let body: Body

  package var id: String { body == .empty ? "fan-out" : "fan-out-computing" }
  package var question: String {
    switch body {
    case .empty: "What does starting and finishing a batch cost, for each of its tasks?"
    case .computing: "What does the same take when each task computes for twenty microseconds?"
    }
  }
  package let roundLength = 2.5
  package let comparesExecutors = true
  package let headline: Headline? = Headline(.timePerOperation, "mean")

  package init(body: Body) { self.body = body }

  package func cells(_ scale: Scale, limits: [Int]?) -> [Cell] {
    if body == .computing {
      return (limits ?? [8]).map {
        Cell(id, limit: $0, tasks: 100, loop: .closed, arrivals: "together", service: Self.service)
      }
    }
    let sizes = scale.pick(
      short: [1_000],
      standard: [100, 1_000],
      full: [100, 1_000, 10_000, 100_000]
    )
    return (limits ?? scale.pick(short: [8], standard: [8], full: [1, 8, 64])).flatMap { limit in
      sizes.map { Cell(id, limit: limit, tasks: $0, loop: .closed, arrivals: "together") }
    }
  }

  package func runner(_ trial: Trial) -> Runner {
    let tasks = trial.cell.tasks ?? 1_000
    let mechanism = trial.makeMechanism()
    let ran = Counter()
    let service = trial.cell.service ?? 0
    @Sendable func work() {
      guard service > 0 else { return }
      let end = MachineClock.monotonic() + service
      while MachineClock.monotonic() < end {}
    }
    // A batch as the mechanism's users write it.
    let batch = BatchBody(onThread: { _ in work() }, onTask: { _ in work() })
    return .timed(grain: tasks, trial) { times in
      for _ in 0..<times / tasks { await mechanism.batch(tasks, batch) }
    } conclude: { report in
      let counted = BatchBody(onThread: { _ in ran.increment() }, onTask: { _ in ran.increment() })
      await mechanism.batch(tasks, counted)
      if ran.value != tasks {
        report.violations.append("a batch of \(tasks) ran the body \(ran.value) times")
      }
      // The promises are checked on tasks that stamp.
      let log = StampLog(capacity: tasks)
      await stamped(tasks, trial, mechanism, log)
      report.serviceKind = trial.kind.rawValue
      report.check(log, mechanism, limit: trial.promisedLimit, expected: tasks)
      // Starting and finishing a batch is no question about waiting.
      report.measures.removeAll { $0.metric == Metric.waited.id }
    }
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
