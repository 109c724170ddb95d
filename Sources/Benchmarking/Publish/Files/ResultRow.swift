internal import Mechanisms

/// One figure of one process with everything needed to read it: a row of `results.csv`.
package struct ResultRow: Hashable, Sendable {
  package var runID: String
  package var cell: Cell
  /// The contestant's label; nil where no mechanism was measured.
  package var mechanism: String?
  package var executor: Executor?
  package var serviceKind: String?
  package var achievedUtilisation: Double?
  package var seed: UInt64
  package var block: Int
  package var orderInBlock: Int
  package var fork: Int
  /// Nil where the trial broke down before it measured anything.
  package var measure: Measure?
  package var foreignPercent: Double?
  package var distance: ProcessorDistance?
  /// Why the value must not be used; nil where it may.
  package var invalidReason: String?

  package static let schema = "bench-results/4"
  /// The first knew neither executors nor processors, the first three no distance.
  package static let readableSchemas = [
    "bench-results/1", "bench-results/2", "bench-results/3", schema,
  ]
  /// Those of runs that can be put together again.
  static let publishedSchemas = Array(readableSchemas.suffix(2))

  /// What a row of the first schema would have in the column `executor`.
  package static func executor(ofEarlier label: String) -> String {
    let id = label.hasSuffix("-again") ? String(label.dropLast("-again".count)) : label
    return Catalogue.entry(id)?.profile.clock == .any ? Executor.global.rawValue : ""
  }

  /// The columns, in this order; scripts rely on them.
  package static let columns = [
    "schema", "run_id", "workload", "mechanism", "limit", "tasks", "loop", "arrivals",
    "service_kind", "service_dist", "service_ns", "rho_target", "rho_achieved", "cancel_fraction",
    "seed", "block", "order_in_block", "fork", "rep", "metric", "stat", "unit", "better", "value",
    "n", "foreign_cpu_pct", "valid", "invalid_reason", "executor", "processors",
    "distance_before_ns", "distance_after_ns",
  ]

  package var cells: [String] {
    let metric = measure.flatMap { Metric.named[$0.metric] }
    return [
      Self.schema, runID, cell.workload, mechanism ?? "", CSV.number(cell.limit),
      CSV.number(cell.tasks), cell.loop?.rawValue ?? "", cell.arrivals ?? "",
      serviceKind ?? cell.serviceKind ?? "", cell.serviceDistribution ?? "",
      CSV.number(cell.service), CSV.number(cell.utilisation), CSV.number(achievedUtilisation),
      CSV.number(cell.cancelFraction), String(seed), String(block), String(orderInBlock),
      String(fork), CSV.number(measure?.repetition), measure?.metric ?? "", measure?.stat ?? "",
      metric?.unit ?? "", metric?.better.rawValue ?? "", CSV.number(measure?.value),
      CSV.number(measure?.count), CSV.number(foreignPercent.map(Self.twoDecimals)),
      invalidReason == nil ? "true" : "false", invalidReason ?? "",
      executor?.rawValue ?? "", CSV.number(cell.processors),
      CSV.number(distance?.before), CSV.number(distance?.after),
    ]
  }

  private static func twoDecimals(_ value: Double) -> Double { (value * 100).rounded() / 100 }
}
