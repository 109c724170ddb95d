internal import Experiments
internal import LessonBook
internal import Mechanisms

/// The figures of a game with the scheduler, by the names that checks use.
struct GameMetrics: MetricSource {
  private let values: [(name: String, value: MetricValue)]
  private let story: String?

  init(_ game: ScheduleGame) {
    values = [
      ("played", .word(game.scenario.mechanism.id)),
      ("violation", .word(game.violation?.kind ?? "none")),
      ("steps", .count(game.steps.count)),
    ]
    story = game.violation?.message
  }

  var metricForms: [String] { values.map(\.name) }

  func value(of metric: Metric) -> MetricValue? {
    metric.argument == nil ? values.first { $0.name == metric.name }?.value : nil
  }

  func witness(of metric: Metric) -> String? { metric.name == "violation" ? story : nil }
}
