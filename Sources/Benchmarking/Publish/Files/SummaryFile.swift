internal import Foundation

/// The summary as a table and as JSON Lines: the same lines, the same names.
extension RunFiles {
  static let summarySchema = "bench-summary/4"

  static let summaryColumns = [
    "schema", "run_id", "workload", "mechanism", "limit", "tasks", "arrivals", "service_kind",
    "service_dist", "service_ns", "rho_target", "cancel_fraction", "metric", "stat", "unit",
    "better", "forks", "median", "ci_low", "ci_high", "ci_coverage", "reference", "ratio",
    "ratio_ci95_low", "ratio_ci95_high", "p", "p_holm", "p_same", "p_same_holm", "family",
    "detectable_pct", "verdict", "executor", "processors", "over_forks", "waited_pct",
    "distance",
  ]

  /// `summary.csv`: each figure over its forks.
  func summaryTable() -> String {
    CSV.text(
      header: Self.summaryColumns,
      summary.lines.map { line in
        summaryCells(line).map { cell in
          switch cell {
          case .text(let text): text
          case .number(let number): CSV.number(number.rounded(digits: 7))
          case .absent: ""
          }
        }
      }
    )
  }

  /// The same as JSON, an object a line; what is not known is left out.
  package func jsonLines() -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return summary.lines.map { line in
      var object: [String: SummaryCell] = [:]
      for (column, cell) in zip(Self.summaryColumns, summaryCells(line)) {
        if case .absent = cell { continue }
        object[column] = cell
      }
      let bytes = (try? encoder.encode(object)) ?? Data()
      return String(decoding: bytes, as: UTF8.self) + "\n"
    }.joined()
  }

  private enum SummaryCell: Encodable {
    case text(String)
    case number(Double)
    case absent

    init(_ text: String?) { self = text.map { .text($0) } ?? .absent }
    init(_ number: Double?) { self = number.map { .number($0) } ?? .absent }
    init(_ number: (some BinaryInteger)?) { self.init(number.map { Double($0) }) }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .text(let text): try container.encode(text)
      case .number(let number):
        if let whole = Int64(exactly: number) {
          try container.encode(whole)
        } else {
          try container.encode(number)
        }
      case .absent: try container.encodeNil()
      }
    }
  }

  private func summaryCells(_ line: Summary.Line) -> [SummaryCell] {
    let entry = plan.entries[line.entry]
    let cell = entry.cell
    let metric = Metric.named[line.metric]
    let comparison = line.comparison
    return [
      .text(Self.summarySchema), .text(runID), .text(cell.workload),
      SummaryCell(entry.contestants[line.contestant].label), SummaryCell(cell.limit),
      SummaryCell(cell.tasks), SummaryCell(cell.arrivals), SummaryCell(line.serviceKind),
      SummaryCell(cell.serviceDistribution), SummaryCell(cell.service),
      SummaryCell(cell.utilisation), SummaryCell(cell.cancelFraction), .text(line.metric),
      .text(line.stat), SummaryCell(metric?.unit), SummaryCell(metric?.better.rawValue),
      SummaryCell(line.forks), .number(line.median), SummaryCell(line.interval?.low),
      SummaryCell(line.interval?.high), SummaryCell(line.coverage),
      SummaryCell(comparison?.reference),
      SummaryCell(comparison?.ratio?.value), SummaryCell(comparison?.ratio?.interval.low),
      SummaryCell(comparison?.ratio?.interval.high), SummaryCell(comparison?.paired?.p),
      SummaryCell(comparison?.paired == nil ? nil : comparison?.corrected),
      SummaryCell(comparison?.paired?.pSame),
      SummaryCell(comparison?.paired == nil ? nil : comparison?.correctedSame),
      SummaryCell(comparison?.family), SummaryCell(comparison?.detectable.map { $0 * 100 }),
      SummaryCell(comparison?.verdict.rawValue),
      SummaryCell(entry.contestants[line.contestant].executor?.rawValue),
      SummaryCell(cell.processors), .text(line.isMean ? "mean" : "median"),
      SummaryCell(
        comparison == nil
          ? nil : summary.line(line.entry, line.contestant, Headline(.waited, "mean"))?.median
      ),
      SummaryCell(summary.distances.cells[line.entry]?.ofCell),
    ]
  }
}
