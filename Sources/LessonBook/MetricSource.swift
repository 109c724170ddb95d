/// The name of a figure: `makespan`, or with what it is about, `waiting(t10)`.
package struct Metric: Hashable, Sendable, CustomStringConvertible {
  package let name: String
  package let argument: String?

  package init(_ name: String, _ argument: String? = nil) {
    self.name = name
    self.argument = argument
  }

  package var description: String { argument.map { "\(name)(\($0))" } ?? name }
}

/// What may become of a figure while what it is about goes on.
package enum MetricProspect: Hashable, Sendable {
  /// It stays what it is.
  case settled
  /// It may grow, and cannot shrink.
  case grows
  /// It may become anything.
  case open
}

/// Something that has figures: a run, an exploration, a graded exercise.
///
/// Checks, expectations and predictions read nothing else, so whatever can answer here can be
/// checked by a lesson and by a script alike.
package protocol MetricSource: Sendable {
  /// Every name it knows, as it is written: `makespan`, `waiting(tNN)`.
  var metricForms: [String] { get }

  /// The value of a metric; nil where there is no such metric.
  func value(of metric: Metric) -> MetricValue?

  /// Why there is no such metric, where more is wrong than its name; without a full stop.
  func objection(to metric: Metric) -> String?

  /// What may become of the value.
  func prospect(of metric: Metric) -> MetricProspect

  /// Why values that are not settled are not: "the run goes on, at 50 ms"; nil where all are.
  var unsettledBecause: String? { get }

  /// Which task made the value what it is, and when: "t12 ended last, at 400 ms".
  func witness(of metric: Metric) -> String?

  /// What the value says in plain words, where the metric's name says little: "nobody began before an earlier
  /// arrival".
  func plainly(_ metric: Metric) -> String?

  /// What the learner did that has these figures: "run 3 ('run 12 limiter limit=4')"; nil where nobody can tell.
  var origin: String? { get }
}

extension MetricSource {
  package func objection(to metric: Metric) -> String? { nil }

  package func prospect(of metric: Metric) -> MetricProspect { .settled }

  package var unsettledBecause: String? { nil }

  package func witness(of metric: Metric) -> String? { nil }

  /// Of an exercise's grading, also where only its figures were kept, from an earlier day.
  package func plainly(_ metric: Metric) -> String? {
    guard metric.name == "passed", value(of: metric) == .word("no") else { return nil }
    return "your file did not pass when it was last graded"
      + (witness(of: metric).map { ". What failed: \($0)" } ?? "")
  }

  package var origin: String? { nil }
}

/// Figures with what the learner did to get them.
package struct OriginatedSource<Source: MetricSource>: MetricSource {
  private let source: Source
  package let origin: String?

  package init(_ source: Source, from origin: String) {
    (self.source, self.origin) = (source, origin)
  }

  package var metricForms: [String] { source.metricForms }

  package func value(of metric: Metric) -> MetricValue? { source.value(of: metric) }

  package func objection(to metric: Metric) -> String? { source.objection(to: metric) }

  package func prospect(of metric: Metric) -> MetricProspect { source.prospect(of: metric) }

  package var unsettledBecause: String? { source.unsettledBecause }

  package func witness(of metric: Metric) -> String? { source.witness(of: metric) }

  package func plainly(_ metric: Metric) -> String? { source.plainly(metric) }
}

/// Figures in a table, each under its metric as it is written: `waiting(t10)`.
package struct MetricTable: MetricSource, Hashable, Codable {
  package var values: [String: MetricValue]
  package var witnesses: [String: String]

  package init(_ values: [String: MetricValue], witnesses: [String: String] = [:]) {
    self.values = values
    self.witnesses = witnesses
  }

  package var metricForms: [String] { values.keys.sorted() }

  package func value(of metric: Metric) -> MetricValue? { values[metric.description] }

  package func witness(of metric: Metric) -> String? { witnesses[metric.description] }
}
