import Experiments
import Mechanisms

/// How long tasks waited against how busy the permits were: a mark for each run of a session.
package enum UtilisationCurve {
  private static let height = 10

  struct Point {
    let number: Int
    let used: Double
    let waiting: Int64
  }

  /// A mark for each run with a limit, from the least busy to the busiest.
  static func points(_ entries: [RunList.Entry]) -> [Point] {
    entries.compactMap { entry in
      SummaryText.utilisation(entry.run, entry.summary).map {
        Point(number: entry.number, used: min($0, 1), waiting: entry.summary.waiting.mean)
      }
    }.sorted { ($0.used, $0.number) < ($1.used, $1.number) }
  }

  /// Those that lie on one curve with the newest that has a limit: of the same mechanism, limit and kind of work.
  package static func alike(_ entries: [RunList.Entry]) -> [RunList.Entry] {
    guard let newest = entries.last(where: { SummaryText.utilisation($0.run, $0.summary) != nil })
    else { return [] }
    return entries.filter { entry in
      entry.run.mechanism == newest.run.mechanism && entry.run.limit == newest.run.limit
        && entry.run.plan.first?.kind == newest.run.plan.first?.kind
    }
  }

  /// The curve of some runs; `others` are so many of the session that do not belong to it.
  package static func text(
    _ entries: [RunList.Entry],
    others: Int = 0,
    _ format: TextFormat
  ) -> String {
    let points = points(entries)
    guard points.count > 1, let run = entries.last?.run else {
      let text =
        "a curve takes two runs of one mechanism with one limit, at different rates. 'runs' lists what there is"
      return Columns.wrap(text, width: format.width).map { $0 + "\n" }.joined()
    }
    let left =
      others == 0 ? "" : "; \(NumberText.count(others, "other run")) of this session not shown"
    let whose = "the runs of \(run.mechanism), \(run.limitText)\(left)"
    return (picture(points, format) + [""]).joined(separator: "\n") + "\n" + table(points, format)
      + Columns.wrap(whose, width: format.width).map { $0 + "\n" }.joined()
  }

  private static func picture(_ points: [Point], _ format: TextFormat) -> [String] {
    let top = max(1, points.map(\.waiting).max() ?? 1)
    let label = DurationText.text(top)
    let margin = label.count + 2
    let columns = min(50, format.width - margin - 3)
    var cells = [[Character]](
      repeating: Array(repeating: " ", count: columns + 1),
      count: height + 1
    )
    for point in points {
      let column = Int((point.used * Double(columns)).rounded())
      let row = Int((Double(point.waiting) / Double(top) * Double(height)).rounded())
      cells[row][column] = format.glyphs.running
    }
    let rows = cells.enumerated().reversed().map { index, row in
      let name = index == height ? label : index == 0 ? "0 s" : ""
      return Columns.trimmed(Columns.right(name, margin) + " " + String(row))
    }
    let axis = Columns.left("0 %", columns / 2) + Columns.left("50 %", columns - columns / 2 - 3)
    let start = String(repeating: " ", count: margin + 1) + axis + "100 %"
    let what = " of permits used"
    return ["mean wait"] + rows + [start + (start.count + what.count <= format.width ? what : "")]
  }

  private static func table(_ points: [Point], _ format: TextFormat) -> String {
    TextTable(
      columns: [
        TextTable.Column(heading: "run", rank: 0),
        TextTable.Column(heading: "permits used", rank: 0),
        TextTable.Column(heading: "mean wait", rank: 0),
      ],
      rows: points.map {
        [String($0.number), NumberText.percent($0.used), DurationText.text($0.waiting)]
      }
    ).text(format)
  }

  package static func json(_ entries: [RunList.Entry]) -> String {
    entries.map { entry in
      JSONObject.line([
        ("run", .number(entry.number)),
        (
          "permits_used_percent",
          SummaryText.utilisation(entry.run, entry.summary)
            .map { .number(Int(($0 * 100).rounded())) } ?? .null
        ),
        ("waiting_mean_ns", .number(Int(entry.summary.waiting.mean))),
      ])
    }.joined()
  }
}
