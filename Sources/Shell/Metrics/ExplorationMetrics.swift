internal import Experiments
internal import LessonBook
internal import Mechanisms
internal import Rendering

/// The figures of an exploration by the names that checks use.
struct ExplorationMetrics: MetricSource {
  private let report: ExplorationReport

  init(_ report: ExplorationReport) { self.report = report }

  private static let figures:
    [(name: String, value: @Sendable (ExplorationReport) -> MetricValue)] = [
      ("explored", { .word($0.scenario.mechanism.id) }),
      ("explored_tasks", { .count($0.scenario.tasks) }),
      (
        "explored_limit",
        { $0.scenario.effectiveLimit.map(MetricValue.count) ?? .absent(because: "no limit") }
      ),
      ("explored_cancel", { .word($0.scenario.cancels ? "any" : "none") }),
      ("explored_fail", { .word($0.scenario.fails ? "all" : "none") }),
      (
        "explored_bound",
        { $0.scenario.overtakingBound.map(MetricValue.count) ?? .absent(because: "no bound") }
      ),
      ("strategy", { .word($0.strategy.rawValue) }),
      ("coverage", { .word(isWhole($0) ? "exhaustive" : "bounded") }),
      ("violation", { .word($0.found?.minimum.violation?.kind ?? "none") }),
      ("schedules", { .count($0.schedules) }),
      ("schedules_failed", { .count($0.failed) }),
      ("steps", { .count($0.steps) }),
      (
        "minimal_steps",
        { $0.found.map { .count($0.minimum.length) } ?? .absent(because: "nothing failed") }
      ),
      (
        "minimal_preemptions",
        { $0.found.map { .count($0.minimum.preemptions) } ?? .absent(because: "nothing failed") }
      ),
    ]

  /// Whether every schedule was looked at: all between jobs, whatever was looked at inside code besides, or all within
  /// no lower bound on pre-emptions than the default.
  private static func isWhole(_ report: ExplorationReport) -> Bool {
    report.schedulesBetweenJobs != nil
      || report.isExhaustive
        && (report.preemptions ?? .max) >= ExplorationPlan.defaultPreemptions
  }

  var metricForms: [String] { Self.figures.map(\.name) }

  func value(of metric: Metric) -> MetricValue? {
    guard metric.argument == nil else { return nil }
    return Self.figures.first { $0.name == metric.name }?.value(report)
  }

  func witness(of metric: Metric) -> String? {
    metric.name == "violation" ? report.found?.minimum.violation?.message : nil
  }

  func plainly(_ metric: Metric) -> String? {
    switch metric.name {
    case "coverage" where Self.isWhole(report): return nil
    case "coverage" where report.isExhaustive:
      let most = NumberText.count(report.preemptions ?? 0, "pre-emption")
      return "it looked only at schedules with at most \(most)"
    case "coverage" where !report.isExhaustive:
      if report.stoppedAtFirst { return "it stopped at the first failure: add 'all'" }
      return report.wasInterrupted
        ? "it was interrupted" : "it did not look at every schedule"
    case "violation" where report.found == nil: return "no promise was broken"
    default: return nil
    }
  }
}
