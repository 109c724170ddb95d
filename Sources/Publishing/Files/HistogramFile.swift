internal import Trials

/// `histograms.csv`: the spectrum of every latency, all forks together.
extension RunFiles {
  static let histogramSchema = "bench-histograms/1"

  static let histogramColumns = [
    "schema", "run_id", "workload", "mechanism", "limit", "tasks", "service_kind", "service_dist",
    "rho_target", "metric", "unit", "percentile", "value", "count_at_or_below", "total",
  ]

  func histogramTable() -> String {
    let rows = histograms.keys.flatMap { key -> [[String]] in
      let entry = plan.entries[key.entry]
      let cell = entry.cell
      let metric = Metric.named[key.metric]
      let head = [
        Self.histogramSchema, runID, cell.workload, entry.contestants[key.contestant].label ?? "",
        CSV.number(cell.limit), CSV.number(cell.tasks), cell.serviceKind ?? "",
        cell.serviceDistribution ?? "", CSV.number(cell.utilisation), key.metric,
        metric?.unit ?? "",
      ]
      return histograms.spectrum(key).map { step in
        head + [
          CSV.number(step.percentile), CSV.number(step.value), CSV.number(step.count),
          CSV.number(step.total),
        ]
      }
    }
    return CSV.text(header: Self.histogramColumns, rows)
  }
}
