/// `stamps.csv.gz`: every visit of one open loop of the first fork, so that what is derived from stamps,
/// the recursion of Kiefer and Wolfowitz above all, can be computed again.
extension RunFiles {
  static let stampColumns =
    ["schema"] + keyColumns + [
      "fork", "visit", "counts", "intended_ns", "arrival_ns", "admission_ns", "departure_ns",
    ]

  func stampTable() -> String {
    let rows = ForkFigures.countedTrials(records).flatMap { record, trial -> [[String]] in
      guard let stamps = trial.report.stamps else { return [] }
      let cell = plan.entries[record.entry].cell
      let warmUp = PathLength(cell, budget: plan.scale.budget).warmUp
      let head =
        ["bench-stamps/1"]
        + keyCells(record.entry, trial.contestant, serviceKind: trial.report.serviceKind)
      return stamps.enumerated().map { index, stamps in
        head + [
          String(record.fork), String(index + 1), index < warmUp ? "false" : "true",
          String(stamps.intended), String(stamps.arrival), String(stamps.admission),
          String(stamps.departure),
        ]
      }
    }
    return CSV.text(header: Self.stampColumns, rows)
  }
}
