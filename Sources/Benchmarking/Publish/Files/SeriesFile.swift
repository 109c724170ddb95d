/// `series.csv.gz`: figures over time, such as the threads of a trial.
extension RunFiles {
  static let seriesColumns =
    ["schema"] + keyColumns + ["fork", "metric", "unit", "time_ns", "value"]

  func seriesTable() -> String {
    let rows = records.flatMap { record in
      record.trials.flatMap { trial -> [[String]] in
        let head =
          ["bench-series/2"]
          + keyCells(record.entry, trial.contestant, serviceKind: trial.report.serviceKind)
        return trial.report.series.flatMap { series in
          // Only where the value changes: between two rows it stays what it was.
          series.changes.map { change in
            head + [
              String(record.fork), series.metric, Metric.named[series.metric]?.unit ?? "",
              String(change.time), CSV.number(change.value),
            ]
          }
        }
      }
    }
    return CSV.text(header: Self.seriesColumns, rows)
  }
}

extension Series {
  /// The first and the last reading and those that differ from the one before.
  var changes: [(time: Int64, value: Double)] {
    zip(times, values).enumerated().compactMap { index, reading in
      let isEdge = index == 0 || index == times.count - 1
      return isEdge || values[index - 1] != reading.1 ? (reading.0, reading.1) : nil
    }
  }
}
