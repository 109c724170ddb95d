package import Experiments
package import Mechanisms

/// Runs, a line each.
package enum RunList {
  package struct Entry: Sendable {
    package let number: Int
    package var name: String?
    package let run: Run
    package let summary: RunSummary

    package init(number: Int, run: Run) {
      self.number = number
      self.run = run
      summary = run.summary
    }
  }

  /// The runs that ended, and those in the background, as far as they have come.
  package static func text(
    _ entries: [Entry],
    inBackground open: [(run: Run, name: String?)] = [],
    _ format: TextFormat
  ) -> String {
    let last = open.map { background($0.run, $0.name, format) }.joined()
    guard !entries.isEmpty else {
      return last.isEmpty ? "no run yet. Try: run 12 limiter limit=3\n" : last
    }
    return table(entries, format) + last
  }

  /// What the list says of a run that nobody has waited for.
  private static func background(_ run: Run, _ name: String?, _ format: TextFormat) -> String {
    let state = UnderWayText.sentence(run) ?? "every task has ended, and 'wait' makes a run of it"
    let called = name.map { ", called '\($0)'" } ?? ""
    let line = "in the background, \(run.mechanism)\(called): \(state)"
    return Columns.wrap(line, width: format.width, indent: 2).map { $0 + "\n" }.joined()
  }

  private static func table(_ entries: [Entry], _ format: TextFormat) -> String {
    let hasNames = entries.contains { $0.name != nil }
    let columns = [
      TextTable.Column(heading: "run", rank: 0),
      TextTable.Column(heading: "mechanism", alignsRight: false, rank: 0),
      TextTable.Column(heading: "limit", rank: 3),
      TextTable.Column(heading: "tasks", rank: 4),
      TextTable.Column(heading: "clock", alignsRight: false, rank: 6),
      TextTable.Column(heading: "makespan", rank: 0),
      TextTable.Column(heading: "wait p99", rank: 5),
      TextTable.Column(heading: "result", alignsRight: false, rank: 2),
    ]
    let rows = entries.map { entry in
      let (run, summary) = (entry.run, entry.summary)
      return [
        String(entry.number), run.mechanism, run.limit == nil ? "none" : run.limitValues,
        NumberText.grouped(run.plan.count), run.clock.rawValue,
        DurationText.text(summary.makespan), DurationText.text(summary.waiting.p99),
        summary.violations.isEmpty && run.stoppedBecause == nil
          ? "\(format.glyphs.good)" : "\(format.glyphs.bad)",
      ]
    }
    guard hasNames else { return TextTable(columns: columns, rows: rows).text(format) }
    let name = TextTable.Column(heading: "name", alignsRight: false, rank: 0)
    let named = zip(rows, entries).map { row, entry in
      [row[0], entry.name ?? ""] + row.dropFirst()
    }
    return TextTable(columns: [columns[0], name] + columns.dropFirst(), rows: named).text(format)
  }

  package static func json(
    _ entries: [Entry],
    inBackground open: [(run: Run, name: String?)] = []
  ) -> String {
    let last = open.map { run, name in
      let summary = run.summary
      return JSONObject.line(
        [
          ("run", .null), ("name", name.map { .string($0) } ?? .null),
          ("mechanism", .string(run.mechanism)),
          ("limit", run.limit.map { .number($0) } ?? .null),
          ("tasks", .number(run.plan.count)), ("clock", .string(run.clock.rawValue)),
          ("makespan_ns", run.isUnderWay ? .null : .number(Int(summary.makespan))),
          ("violations", .number(summary.violations.count)),
        ] + UnderWayText.members(run)
      )
    }
    return entries.map { entry in
      JSONObject.line([
        ("run", .number(entry.number)), ("name", entry.name.map { .string($0) } ?? .null),
        ("mechanism", .string(entry.run.mechanism)),
        ("limit", entry.run.limit.map { .number($0) } ?? .null),
        ("tasks", .number(entry.run.plan.count)), ("clock", .string(entry.run.clock.rawValue)),
        ("makespan_ns", .number(Int(entry.summary.makespan))),
        ("violations", .number(entry.summary.violations.count)),
      ])
    }.joined() + last.joined()
  }
}
