/// The columns that say what was measured: the tables of a run join on them.
extension RunFiles {
  package static let keyColumns = [
    "run_id", "workload", "mechanism", "limit", "tasks", "service_kind", "service_dist",
    "rho_target",
    "arrivals", "service_ns", "cancel_fraction", "executor", "processors",
  ]

  /// The same for one contestant; empty where it does not apply.
  func keyCells(_ entry: Int, _ contestant: Int, serviceKind: String?) -> [String] {
    let cell = plan.entries[entry].cell
    let who = plan.entries[entry].contestants[contestant]
    return [
      runID, cell.workload, who.label ?? "", CSV.number(cell.limit), CSV.number(cell.tasks),
      serviceKind ?? cell.serviceKind ?? "", cell.serviceDistribution ?? "",
      CSV.number(cell.utilisation), cell.arrivals ?? "", CSV.number(cell.service),
      CSV.number(cell.cancelFraction), who.executor?.rawValue ?? "", CSV.number(cell.processors),
    ]
  }
}
