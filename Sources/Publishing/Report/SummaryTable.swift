internal import Statistics
internal import Trials

/// The summary on standard output: one block a cell, one line a mechanism, fastest first.
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
    let noisy = summary.tooNoisy.map { summary.plan.entries[$0].cell.name }
    if noisy.count == summary.plan.entries.count {
      text += "\ntoo noisy to say anything"
    } else {
      for name in noisy { text += "\ntoo noisy to say: \(name)" }
    }
    let undecidable = summary.lines.count { $0.comparison?.verdict == .undecidable }
    if undecidable > 0 {
      text +=
        "\n\(undecidable) comparisons are undecidable: \(summary.plan.forks) forks cannot tell even a "
        + "large difference from chance among so many comparisons; promises are checked all the same. "
        + "Take --forks 10, or compare less with --filter\n"
    }
    if !noisy.isEmpty {
      text +=
        "\nother processes disturbed more than half of the forks; measure again when they are done\n"
    }
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
    if let noise = summary.noise[index] {
      line += " · A/A noise ±\(Quantity.digits(noise.band * 100)) %"
    }
    return line
  }

  private func rows(of index: Int, _ entry: Plan.Entry, _ headline: Headline?) -> [[String]] {
    guard let headline else { return [] }
    return (summary.ranking(index) ?? []).map { line in
      let unit = headline.metric.unit
      let interval =
        line.interval.map { Quantity.text($0, unit: unit) }
        ?? "\(line.reasonForNoInterval ?? ""): no interval"
      return [
        "  " + (entry.contestants[line.contestant].name ?? ""),
        Quantity.text(line.median, unit: unit), interval,
      ] + comparison(line, entry, unit) + [notes(line)]
    }
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

  /// The share that waited, and the two groups that the forks fall into.
  private func notes(_ line: Summary.Line) -> String {
    var notes: [String] = []
    let waited = summary.line(line.entry, line.contestant, Headline(.waited, "mean"))
    if let waited { notes.append("\(Quantity.digits(waited.median)) % waited") }
    let unit = Metric.named[line.metric]?.unit ?? ""
    if !line.modes.isEmpty {
      notes.append(
        line.modes.map { "\(Quantity.text($0.median, unit: unit)) in \($0.forks) forks" }
          .joined(separator: " or ")
      )
    }
    return notes.joined(separator: " · ")
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
