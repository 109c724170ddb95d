package import Experiments
import Mechanisms

/// What two ways of sending requests saw of the same stall, side by side.
package enum StallText {
  package static func text(_ open: Run, _ closed: Run, _ format: TextFormat) -> String {
    let title = [
      "a server that stands still for \(DurationText.text(Stall.length))",
      "then \(Stall.requests) requests of \(DurationText.text(Stall.service)), one every "
        + DurationText.text(Stall.interval),
      "virtual time",
    ]
    let summaries = [open.summary, closed.summary]
    func row(_ name: String, _ value: (RunSummary) -> Int64) -> [String] {
      [name] + summaries.map { DurationText.text(value($0)) }
    }
    let sent = [open, closed].map { run in
      let lives = TaskLife.all(in: run.events, tasks: run.facts.tasks).dropFirst()
      return String(lives.count { ($0.arrived ?? .max) < Stall.length })
    }
    let table = TextTable(
      columns: [
        TextTable.Column(heading: "", alignsRight: false, rank: 0),
        TextTable.Column(heading: "open loop", rank: 0),
        TextTable.Column(heading: "closed loop", rank: 0),
      ],
      rows: [
        ["sent during the stall"] + sent,
        row("response p50") { $0.response.p50 }, row("response p99") { $0.response.p99 },
        row("response max") { $0.response.max }, row("makespan") { $0.makespan },
      ]
    )
    return Columns.flow(title, separator: format.glyphs.separator, width: format.width)
      .joined(separator: "\n") + "\n\n" + table.text(format)
  }
}
