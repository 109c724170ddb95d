package import Experiments

/// Two withdrawals side by side, with the balance after each step.
package enum OverdraftText {
  package static func text(
    _ entries: [Overdraft.Entry],
    _ remedy: Overdraft.Remedy,
    _ format: TextFormat
  ) -> String {
    let title = [
      "two withdrawals of \(Overdraft.amount) from \(Overdraft.balance)",
      "remedy \(remedy.rawValue)", "virtual time",
    ]
    let table = TextTable(
      columns: [
        TextTable.Column(heading: "step", rank: 2),
        TextTable.Column(heading: "withdrawal 1", alignsRight: false, rank: 0),
        TextTable.Column(heading: "withdrawal 2", alignsRight: false, rank: 0),
        TextTable.Column(heading: "balance", rank: 0),
      ],
      rows: entries.enumerated().map { index, entry in
        [
          String(index + 1), entry.withdrawal == 1 ? entry.text : "",
          entry.withdrawal == 2 ? entry.text : "", String(entry.balance),
        ]
      }
    )
    let left = entries.last?.balance ?? 0
    let verdict =
      left < 0
      ? "\(format.glyphs.bad) overdrawn by \(-left): each looked before the other took"
      : "\(format.glyphs.good) never below zero"
    return Columns.flow(title, separator: format.glyphs.separator, width: format.width)
      .joined(separator: "\n") + "\n\n" + table.text(format) + "\n" + verdict + "\n"
  }

  package static func json(_ entries: [Overdraft.Entry]) -> String {
    entries.enumerated().map { index, entry in
      JSONObject.line([
        ("step", .number(index + 1)), ("withdrawal", .number(entry.withdrawal)),
        ("what", .string(entry.text)), ("balance", .number(entry.balance)),
      ])
    }.joined()
  }
}
