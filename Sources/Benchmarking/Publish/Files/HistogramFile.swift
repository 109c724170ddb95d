/// `histograms.csv.gz`: every latency that was reported by the forks which kept their promises, in buckets: of an open
/// loop and an overload by all of them, else by the first.
///
/// The buckets are the same in every run, eight to a doubling, so that those of two histograms can be
/// added up.
extension RunFiles {
  static let histogramColumns =
    ["schema"] + keyColumns + ["metric", "unit", "bucket_low", "bucket_high", "count"]

  func histogramTable() -> String {
    let rows = histograms.keys.flatMap { key -> [[String]] in
      let line = summary.line(key.entry, key.contestant, key.metric, "mean")
      let head =
        ["bench-histograms/2"]
        + keyCells(key.entry, key.contestant, serviceKind: line?.serviceKind) + [
          key.metric, Metric.named[key.metric]?.unit ?? "",
        ]
      return histograms.buckets(key).map { bucket in
        head + [
          CSV.number(bucket.range.lowerBound), CSV.number(bucket.range.upperBound),
          CSV.number(bucket.count),
        ]
      }
    }
    return CSV.text(header: Self.histogramColumns, rows)
  }
}
