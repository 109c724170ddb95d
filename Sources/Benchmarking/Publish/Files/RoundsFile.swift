/// `rounds.csv.gz`: what each round of a shared process found, from which the ratios are made.
extension RunFiles {
  static let roundsSchema = "bench-rounds/1"
  static let roundsColumns =
    ["schema"] + keyColumns + ["fork", "order_in_block", "round", "metric", "stat", "value"]

  package func roundsTable() -> String {
    let rows = records.filter { plan.entries[$0.entry].isPaired }.flatMap { record in
      record.trials.enumerated().flatMap { order, trial -> [[String]] in
        let head =
          [Self.roundsSchema]
          + keyCells(record.entry, trial.contestant, serviceKind: trial.report.serviceKind)
          + [String(record.fork), String(order + 1)]
        return trial.report.measures.compactMap { measure in
          measure.repetition.map {
            head + [String($0), measure.metric, measure.stat, CSV.number(measure.value)]
          }
        }
      }
    }
    return CSV.text(header: Self.roundsColumns, rows)
  }
}
