internal import Foundation

/// The run in some lines that one can paste into a review: the front page's mechanisms, how sure it is, what else ran.
package struct Digest {
  private let summary: Summary

  package init(_ summary: Summary) { self.summary = summary }

  /// The mechanisms that people choose among first.
  private static let front = ["operation-queue", "gcd-semaphore", "limiter", "pool"]

  private static let columns: [(words: String, workload: String)] = [
    ("a pass", "uncontended"), ("a hand-off", "hand-off"), ("64 compete", "contended-yield"),
    ("a batch's task", "fan-out"),
  ]

  /// A row a mechanism, those of the front page first: what each costs, and the verdict against the reference.
  package var table: String {
    let names = summary.plan.entries.flatMap { $0.contestants.filter { $0.executor != .lanes } }
      .filter { !$0.isAgain }.compactMap(\.mechanism)
    var order = Self.front.filter(names.contains)
    for name in names where !order.contains(name) { order.append(name) }
    // While the front page alone is measured, the other columns are empty.
    let columns = Self.columns.filter { column in
      order.contains { !cell($0, column.workload).isEmpty }
    }
    guard !columns.isEmpty else { return "" }
    var rows = [["mechanism"] + columns.map(\.words), columns.map { _ in "---" } + ["---"]]
    for name in order {
      let cells = columns.map { cell(name, $0.workload) }
      if cells.contains(where: { !$0.isEmpty }) { rows.append([name] + cells) }
    }
    let widths = (0...columns.count).map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      "| "
        + zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        .joined(separator: " | ") + " |\n"
    }.joined()
  }

  /// The largest cell of a workload; of those that compete, with more than one permit.
  private func entry(_ workload: String) -> Int? {
    summary.plan.entries.indices.last { summary.plan.entries[$0].cell.workload == workload }
  }

  private func cell(_ name: String, _ workload: String) -> String {
    guard let index = entry(workload), let headline = summary.plan.entries[index].headline else {
      return ""
    }
    let entry = summary.plan.entries[index]
    let found = entry.compared.first {
      entry.contestants[$0].mechanism == name && entry.contestants[$0].executor != .lanes
    }
    guard let found, let line = summary.line(index, found, headline) else { return "" }
    let figure = Quantity.text(line.median, unit: headline.metric.unit)
    guard let comparison = line.comparison else { return "\(figure), reference" }
    // What cannot be compared has no ratio that says anything.
    let ratio = comparison.exclusion == nil ? comparison.ratio : nil
    return "\(figure), \(comparison.verdict.rawValue)"
      + (ratio.map { " (\(Quantity.digits($0.value)))" } ?? "")
  }

  /// The table, how sure it is, and how it was measured.
  package func text(_ environment: EnvironmentRecord) -> String {
    let verdicts = summary.verdicts
    func number(_ verdict: Verdict) -> Int { verdicts[verdict] ?? 0 }
    let undecided = summary.lines.compactMap(\.comparison).filter { $0.verdict == .undecided }
      .compactMap(\.detectable)
    var lines = [
      "\(verdicts.values.reduce(0, +)) comparisons: \(number(.faster)) faster, \(number(.slower)) slower, "
        + "\(number(.same)) the same within 3 %, \(number(.undecided)) undecided"
        + (median(undecided).map {
          " (half of them would have shown \(Quantity.digits($0 * 100)) %)"
        } ?? "")
        + ", \(number(.incomparable) + number(.aboveLimit)) not comparable"
    ]
    let distances = summary.pairs.map { abs($0.comparison.ratio.value - 1) * 100 }
    if let middle = median(distances), let most = distances.max() {
      lines.append(
        "the reference against itself: \(Quantity.digits(middle)) % apart in the median of "
          + "\(Quantity.count(distances.count, "cell")), \(Quantity.digits(most)) % at most, judged different "
          + "\(Quantity.count(summary.pairs.count(where: \.isDecided), "time"))"
      )
    }
    if let foreign = summary.foreign {
      lines.append(
        "other processes took \(Quantity.digits(foreign.middle)) % of the machine in the median block, "
          + "\(Quantity.digits(foreign.most)) % at most; \(summary.disturbedBlocks) of "
          + "\(Quantity.count(summary.blocks, "block")) disturbed"
      )
    }
    if let distance = summary.distances.words {
      let others = summary.distances.otherCells.map { entry, kind in
        "\(summary.plan.entries[entry].cell.name) (\(kind.ofCell))"
      }
      lines.append(
        distance
          + (others.isEmpty ? "" : "; made of other blocks: \(others.joined(separator: ", "))")
      )
    }
    for violation in summary.violations.prefix(10) { lines.append("invalid: \(violation)") }
    if summary.violations.count > 10 {
      lines.append("invalid: \(summary.violations.count - 10) more")
    }
    lines.append(
      [
        environment.commit.map { "commit \($0.prefix(12))" }, environment.processor,
        environment.processorsOnline.map { "\($0) processors" }, environment.toolchain,
        environment.interrupted.map { "interrupted: \($0)" },
        environment.leftOut.map { "left out to end in time: \($0)" },
      ].compactMap { $0 }.joined(separator: " · ")
    )
    return table + lines.map { "- \($0)\n" }.joined()
  }
}
