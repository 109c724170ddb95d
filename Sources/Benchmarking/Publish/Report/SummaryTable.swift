/// The summary on standard output: one table a cell, one line a mechanism, fastest first.
package struct SummaryTable {
  private let summary: Summary

  package init(_ summary: Summary) { self.summary = summary }

  package var text: String {
    var text = ""
    for (index, entry) in summary.plan.entries.enumerated() {
      guard let workload = BenchWorkloads.named(entry.cell.workload) else { continue }
      let rows = rows(of: index, entry, workload.headline)
      guard !rows.isEmpty else { continue }
      text += "\n" + heading(index, entry, workload) + "\n" + Self.aligned(rows)
    }
    for violation in summary.violations { text += "\ninvalid: \(violation)" }
    if !summary.violations.isEmpty { text += "\n" }
    return text
  }

  private func heading(
    _ index: Int,
    _ entry: Plan.Entry,
    _ workload: any BenchWorkload
  ) -> String {
    var line = entry.cell.name
    if let headline = workload.headline {
      line += " · \(headline.metric.id), \(headline.stat)"
    }
    if let pair = summary.pairs.first(where: { $0.entry == index }) {
      line += " · A/A \(Quantity.digits(pair.comparison.ratio.value))"
    }
    return line
  }

  private func rows(of index: Int, _ entry: Plan.Entry, _ headline: Headline?) -> [[String]] {
    guard let headline else { return [] }
    let ranked = (summary.ranking(index) ?? []).map { line in
      let unit = headline.metric.unit
      let interval =
        line.interval.map { Quantity.text($0, unit: unit) }
        ?? "\(line.reasonForNoInterval ?? ""): no interval"
      return [
        "  " + (entry.contestants[line.contestant].name ?? ""),
        Quantity.text(line.median, unit: unit), interval,
      ] + comparison(line, entry, unit) + [notes(line)]
    }
    return ranked + entry.notLimiting.map { ["  " + $0, "", "does not limit this"] }
  }

  private func comparison(
    _ line: Summary.Line,
    _ entry: Plan.Entry,
    _ unit: String
  ) -> [String] {
    guard let comparison = line.comparison else {
      let isReference = entry.reference != nil && entry.reference(of: line.contestant) == nil
      return isReference ? ["1.00", "reference"] : ["", ""]
    }
    return [
      comparison.ratio.map { Quantity.digits($0.value) } ?? "",
      comparison.words(forUnit: unit),
    ]
  }

  /// The share that waited.
  private func notes(_ line: Summary.Line) -> String {
    summary.line(line.entry, line.contestant, Headline(.waited, "mean"))
      .map { "\(Quantity.digits($0.median)) % waited" } ?? ""
  }

  /// Columns of one width each; figures to the right, words to the left.
  static func aligned(_ rows: [[String]]) -> String {
    let columns = rows.map(\.count).max() ?? 0
    let widths = (0..<columns).map { column in
      rows.map { column < $0.count ? $0[column].count : 0 }.max() ?? 0
    }
    return rows.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        let padding = String(repeating: " ", count: widths[column] - cell.count)
        line += [1, 3].contains(column) ? padding + cell : cell + padding
        line += "  "
      }
      while line.last == " " { line.removeLast() }
      return line + "\n"
    }.joined()
  }
}
