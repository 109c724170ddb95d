internal import Basics
package import Experiments
internal import Foundation
package import LessonBook
internal import Mechanisms
internal import Rendering

/// The figures of a run by the names that checks and expectations use.
package struct RunMetrics: MetricSource {
  private let run: Run
  private let summary: RunSummary
  private let lives: [TaskLife]
  private let load: Load

  /// - Complexity: O(n log n) for n events.
  package init(_ run: Run) {
    self.run = run
    summary = run.summary
    lives = TaskLife.all(in: run.events, tasks: run.facts.tasks)
    load = Load(run.events, makespan: summary.makespan, now: run.now)
  }

  /// A figure that does not depend on a task.
  private struct Figure: Sendable {
    let name: String
    /// What may become of it in a run under way.
    let prospect: MetricProspect
    /// Whether only the end of the run tells it.
    let comesLast: Bool
    let value: @Sendable (RunMetrics) -> MetricValue

    init(
      name: String,
      _ prospect: MetricProspect = .open,
      comesLast: Bool = false,
      value: @escaping @Sendable (RunMetrics) -> MetricValue
    ) {
      (self.name, self.prospect, self.comesLast) = (name, prospect, comesLast)
      self.value = value
    }
  }

  private static let figures: [Figure] =
    [
      Figure(name: "mechanism", .settled) { .word($0.run.mechanism) },
      Figure(name: "clock", .settled) { .word($0.run.clock.rawValue) },
      Figure(name: "kind", .settled) { .word($0.run.plan.first?.kind.rawValue ?? "none") },
      // Of a limit that changed, the largest.
      Figure(name: "limit", .grows) { metrics in
        metrics.run.limit.map { _ in .count(metrics.run.limits.peak) }
          ?? .absent(because: "no limit")
      },
      Figure(name: "workers", .settled) {
        $0.run.workers.map(MetricValue.count) ?? .absent(because: "the wall clock has threads")
      },
      Figure(name: "cores", .settled) { _ in .count(ProcessInfo.processInfo.activeProcessorCount) },
      Figure(name: "tasks", .grows) { .count($0.run.plan.count) },
      Figure(name: "seed", .settled) { .count(Int(clamping: $0.run.seed)) },
      Figure(name: "makespan", .grows) { .duration($0.summary.makespan) },
      Figure(name: "throughput") { .rate($0.summary.throughput) },
      Figure(name: "peak_running", .grows) { .count($0.summary.peakRunning) },
      Figure(name: "peak_waiting", .grows) { .count($0.summary.peakWaiting) },
      Figure(name: "threads_peak") { .count($0.summary.threadsPeak) },
      Figure(name: "utilisation") { $0.utilisation },
      Figure(name: "arrival_rate") { .rate($0.load.arrivalRate) },
      Figure(name: "occupancy_mean") { .number($0.load.meanOccupancy) },
      Figure(name: "little_ratio") { $0.littleRatio },
      Figure(name: "fifo_inversions") { .count($0.summary.fifoInversions) },
      Figure(name: "order_breaks") { .count($0.summary.orderBreaks) },
      Figure(name: "finished", .grows) { .count($0.summary.finished) },
      Figure(name: "failed", .grows) { .count($0.summary.failed) },
      Figure(name: "cancelled", .grows) { .count($0.summary.cancelled) },
      Figure(name: "cancelled_waiting", .grows) { .count($0.summary.cancelledWhileWaiting) },
      Figure(name: "cancelled_running", .grows) { .count($0.summary.cancelledWhileRunning) },
      Figure(name: "rejected", .grows) { .count($0.summary.rejected) },
      Figure(name: "unended") { .count($0.summary.unended.count) },
      Figure(name: "over_admissions", .grows) { .count($0.summary.overAdmissions) },
      Figure(name: "violations", comesLast: true) { .count($0.summary.violations.count) },
      Figure(name: "permits_left", comesLast: true) {
        $0.run.permitsLeft.map(MetricValue.count)
          ?? $0.absence("the mechanism cannot tell its permits")
      },
      Figure(name: "completion", comesLast: true) {
        $0.run.completion.map(MetricValue.duration)
          ?? $0.absence("the mechanism does not say when all is done")
      },
      Figure(name: "last_end", .grows) { metrics in
        metrics.lives.compactMap(\.ended).max().map(MetricValue.duration)
          ?? .absent(because: "nothing ended")
      },
    ]
    + WorkFigure.allCases.map { figure in
      Figure(name: figure.rawValue, comesLast: true) { metrics in
        metrics.run.work[figure].map(MetricValue.count)
          ?? metrics.absence("the run did no such work")
      }
    }

  /// The figures with a percentile or a task: `waiting_p99`, `waiting(t07)`.
  ///
  /// Of a run under way, with what has come of an open one by now.
  private static let spans: [(name: String, of: @Sendable (TaskLife, Int64?) -> Int64?)] = [
    ("waiting", { $0.waiting(by: $1) }), ("service", { $0.service(by: $1) }),
    ("response", { $0.response(by: $1) }),
  ]
  private static let statistics = ["mean", "min", "p50", "p90", "p95", "p99", "max"]
  private static let moments: [(name: String, of: @Sendable (TaskLife, Int64?) -> Int64?)] = [
    ("arrived", { life, _ in life.arrived }), ("admitted", { life, _ in life.admitted }),
    ("ended", { life, _ in life.ended }),
  ]

  package static let forms: [String] =
    figures.map(\.name)
    + spans.flatMap { span in statistics.map { "\(span.name)_\($0)" } }
    + (spans.map(\.name) + moments.map(\.name)).map { "\($0)(tNN)" }

  package var metricForms: [String] { Self.forms }

  package func value(of metric: Metric) -> MetricValue? {
    if let argument = metric.argument { return value(of: metric.name, task: argument) }
    if let figure = Self.figures.first(where: { $0.name == metric.name }) {
      return figure.value(self)
    }
    for span in Self.spans where metric.name.hasPrefix(span.name + "_") {
      let statistic = String(metric.name.dropFirst(span.name.count + 1))
      guard Self.statistics.contains(statistic) else { return nil }
      let values = lives.compactMap { span.of($0, run.now) }.sorted()
      if values.isEmpty { return .absent(because: "no task has a \(span.name) time") }
      return .duration(Self.value(of: statistic, values))
    }
    return nil
  }

  package func prospect(of metric: Metric) -> MetricProspect {
    guard run.isOpen else { return .settled }
    if metric.argument == nil, let figure = Self.figures.first(where: { $0.name == metric.name }) {
      return prospect(of: figure)
    }
    guard run.isUnderWay else { return .settled }
    // A task's moment or span stays once it is there, and once the task has ended nothing comes.
    guard let argument = metric.argument, let number = ValueSyntax.task(argument),
      lives.indices.contains(number - 1)
    else { return .open }
    let life = lives[number - 1]
    let own = (Self.spans + Self.moments).first { $0.name == metric.name }
    return life.ended != nil || own?.of(life, nil) != nil ? .settled : .open
  }

  private func prospect(of figure: Figure) -> MetricProspect {
    // What was found wrong stays wrong, save an overtaking: whoever was overtaken may leave.
    if figure.name == "violations" { return summary.orderBreaks == 0 ? .grows : .open }
    if figure.comesLast { return .open }
    return run.isUnderWay ? figure.prospect : .settled
  }

  package var unsettledBecause: String? {
    guard run.isOpen else { return nil }
    let state = run.now.map { "the run goes on, at \(DurationText.text($0))" }
    return (state ?? "the run in the background is open") + ". 'wait' ends it"
  }

  /// That something is not there; of a run that nobody has waited for, because only the end tells it.
  private func absence(_ reason: String) -> MetricValue {
    .absent(because: run.isOpen ? "it is told when the run has ended" : reason)
  }

  private static func value(of statistic: String, _ sorted: [Int64]) -> Int64 {
    switch statistic {
    case "mean": Percentiles(sorted).mean
    case "min": sorted[0]
    case "max": sorted[sorted.count - 1]
    default: Percentiles.nearestRank(Int(statistic.dropFirst()) ?? 50, of: sorted)
    }
  }

  private func value(of name: String, task: String) -> MetricValue? {
    guard let span = (Self.spans + Self.moments).first(where: { $0.name == name }),
      let number = ValueSyntax.task(task), lives.indices.contains(number - 1)
    else { return nil }
    return span.of(lives[number - 1], run.now).map(MetricValue.duration)
      ?? .absent(because: "\(label(number)) never got so far")
  }

  package func objection(to metric: Metric) -> String? {
    guard let argument = metric.argument else { return nil }
    if Self.figures.contains(where: { $0.name == metric.name }) {
      return "\(metric.name) is a figure of the whole run. Leave (\(argument)) out"
    }
    guard (Self.spans + Self.moments).contains(where: { $0.name == metric.name }) else {
      return nil
    }
    guard ValueSyntax.task(argument) != nil else {
      return "'\(argument)' is no task. Write its name, such as \(metric.name)(t03)"
    }
    return "there is no task \(argument): this run has \(NumberText.count(lives.count, "task"))"
  }

  private var utilisation: MetricValue {
    let start = lives.compactMap(\.arrived).min() ?? 0
    let offered = run.limits.area(from: start, to: start + summary.makespan)
    guard offered > 0 else {
      return .absent(because: run.limit == nil ? "no limit" : "the run took no time")
    }
    return .percent(load.timeRunning / offered * 100)
  }

  /// L over λW: 1 by Little's law.
  private var littleRatio: MetricValue {
    let times = lives.compactMap { life in
      life.ended.flatMap { end in life.arrived.map { Double(end - $0) } }
    }
    // Many long times together are more than 64 bits hold.
    let mean = times.reduce(0, +) / Double(max(times.count, 1)) / 1e9
    guard mean > 0, load.arrivalRate > 0 else { return .absent(because: "nothing took any time") }
    return .number(load.meanOccupancy / (load.arrivalRate * mean))
  }

  // MARK: Witnesses

  package func witness(of metric: Metric) -> String? {
    switch metric.name {
    // Nothing ended last in a run that goes on.
    case "makespan" where run.isUnderWay: return nil
    case "makespan", "last_end":
      return last(\.ended).map { "\($0.name) ended last, at \($0.at)" }
    // Who took longest says nothing of a percentile.
    case "waiting_max":
      return longest(\.waiting).map { "\($0.name) waited longest, from \($0.from) to \($0.to)" }
    case "response_max":
      return longest(\.response).map { "\($0.name) took longest, from \($0.from) to \($0.to)" }
    case "service_max":
      return longest(\.service).map { "\($0.name) served longest, until \($0.to)" }
    case "peak_running":
      return peak
    case "violations", "over_admissions", "order_breaks":
      return summary.violations.first
    case "unended":
      return summary.unended.first.map {
        "\(run.label(of: $0)) \(run.isUnderWay ? "has not ended" : "never ended")"
      }
    case "cancelled", "cancelled_waiting", "cancelled_running":
      let one = lives.first { $0.end == .cancelledWhileWaiting || $0.end == .cancelledWhileRunning }
      return one.map { life in
        "\(run.label(of: life.task)) at \(DurationText.text(life.ended ?? 0)), "
          + (life.end == .cancelledWhileWaiting ? "while waiting" : "while running")
      }
    default:
      return nil
    }
  }

  package func plainly(_ metric: Metric) -> String? {
    guard metric.name == "fifo_inversions" else { return nil }
    let count = summary.fifoInversions
    return "\(count == 0 ? "nobody" : NumberText.grouped(count)) began before an earlier arrival"
  }

  private func label(_ number: Int) -> String { run.label(of: TaskID(number)) }

  private func last(_ moment: KeyPath<TaskLife, Int64?>) -> (name: String, at: String)? {
    lives.compactMap { life in life[keyPath: moment].map { (life.task, $0) } }
      .max { $0.1 < $1.1 }
      .map { (run.label(of: $0.0), DurationText.text($0.1)) }
  }

  private func longest(
    _ span: KeyPath<TaskLife, Int64?>
  ) -> (name: String, from: String, to: String)? {
    let longest = lives.compactMap { life in life[keyPath: span].map { (life, $0) } }
      .max { $0.1 < $1.1 }
    guard let (life, length) = longest, let arrived = life.arrived else { return nil }
    let start = span == \TaskLife.service ? life.admitted ?? arrived : arrived
    return (
      run.label(of: life.task), DurationText.text(start), DurationText.text(start + length)
    )
  }

  /// When the most ran at once, and who.
  private var peak: String? {
    var running: [TaskID] = []
    for event in run.events {
      if event.kind == .admitted { running.append(event.task) }
      if event.kind.isEnd { running.removeAll { $0 == event.task } }
      if running.count == summary.peakRunning, !running.isEmpty {
        let names = ListText.first(4, of: running.map { run.label(of: $0) })
        return "\(names) at \(DurationText.text(event.time))"
      }
    }
    return nil
  }
}

/// Time averages, each counted by itself from the events.
private struct Load {
  /// Nanoseconds of service, of all tasks together.
  private(set) var timeRunning = 0.0
  /// How many tasks were inside, waiting or running, averaged over the makespan.
  private(set) var meanOccupancy = 0.0
  /// Arrivals a second of makespan.
  private(set) var arrivalRate = 0.0

  /// `now` is the moment of a run under way.
  init(_ events: [TraceEvent], makespan: Int64, now: Int64?) {
    guard makespan > 0 else { return }
    var running = 0
    var inside = 0
    var arrivals = 0
    var admitted: Set<TaskID> = []
    var before = events.first?.time ?? 0
    var timeInside = 0.0
    for event in events where event.task > .run {
      timeRunning += Double(running) * Double(event.time - before)
      timeInside += Double(inside) * Double(event.time - before)
      before = event.time
      switch event.kind {
      case .arrived:
        arrivals += 1
        inside += 1
      case .admitted:
        running += 1
        admitted.insert(event.task)
      case let kind where kind.isEnd:
        inside -= 1
        if admitted.remove(event.task) != nil { running -= 1 }
      default:
        break
      }
    }
    if let now {
      timeRunning += Double(running) * Double(now - before)
      timeInside += Double(inside) * Double(now - before)
    }
    meanOccupancy = timeInside / Double(makespan)
    arrivalRate = Double(arrivals) / Double(makespan) * 1e9
  }
}
