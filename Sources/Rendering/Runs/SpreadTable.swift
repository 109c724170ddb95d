internal import Mechanisms

/// A figure of several runs of the same: its median and its range.
package struct Spread: Hashable, Sendable {
  package enum Unit: String, Hashable, Sendable {
    case nanoseconds = "ns"
    case perSecond = "per_s"
    case percent
    case number
  }

  package let name: String
  package let unit: Unit
  /// In the order of the runs, without those that have no such figure.
  package let values: [Double]

  package init(name: String, unit: Unit, values: [Double]) {
    (self.name, self.unit, self.values) = (name, unit, values)
  }

  package var least: Double { values.min() ?? 0 }
  package var most: Double { values.max() ?? 0 }
  package var isConstant: Bool { least == most }

  /// The value in the middle; of an even number, the mean of the two there.
  package var median: Double {
    let sorted = values.sorted()
    guard let last = sorted.indices.last else { return 0 }
    return (sorted[last / 2] + sorted[(last + 1) / 2]) / 2
  }

  /// The range in parts of the median; nil where that says nothing.
  fileprivate var relativeRange: Double? {
    isConstant || median <= 0 ? nil : (most - least) / median
  }

  fileprivate func text(_ value: Double) -> String {
    switch unit {
    case .nanoseconds: DurationText.text(Int64(exactly: value.rounded()) ?? .max)
    case .perSecond: NumberText.rate(value) + "/s"
    case .percent: NumberText.rate(value) + " %"
    case .number:
      Int(exactly: value).map(NumberText.grouped) ?? NumberText.fixed(value, decimals: 2)
    }
  }
}

/// The figures of several runs of the same, a row each.
package enum SpreadTable {
  /// Those that differ in a table, those that do not in a sentence.
  package static func text(_ spreads: [Spread], _ format: TextFormat) -> String {
    let columns = [
      TextTable.Column(heading: "figure", alignsRight: false, rank: 0),
      TextTable.Column(heading: "median", rank: 0),
      TextTable.Column(heading: "least", rank: 2),
      TextTable.Column(heading: "most", rank: 1),
      TextTable.Column(heading: "range", rank: 3),
    ]
    let rows = spreads.filter { !$0.isConstant }.map { spread in
      [
        spread.name, spread.text(spread.median), spread.text(spread.least),
        spread.text(spread.most), spread.relativeRange.map(NumberText.percent) ?? "",
      ]
    }
    let table = rows.isEmpty ? "" : TextTable(columns: columns, rows: rows).text(format)
    let constant = spreads.filter(\.isConstant).map { "\($0.name) \($0.text($0.median))" }
    guard !constant.isEmpty else { return table }
    let isOne = spreads.allSatisfy { $0.values.count == 1 }
    let lines = Columns.wrap(
      "\(isOne ? "of the only run" : "the same in every run"): \(constant.joined(separator: ", "))",
      width: format.width,
      indent: 2
    )
    return table + lines.map { $0 + "\n" }.joined()
  }

  /// The same in sentences only, for a reader who hears it.
  package static func describe(_ spreads: [Spread]) -> String {
    spreads.map { spread in
      let median = spread.text(spread.median)
      return spread.isConstant
        ? "\(spread.name): \(median) in every run.\n"
        : "\(spread.name): median \(median), from \(spread.text(spread.least)) "
          + "to \(spread.text(spread.most)).\n"
    }.joined()
  }

  /// A line of JSON for each figure, with its value in each run.
  package static func json(_ spreads: [Spread]) -> String {
    var json = JSONText()
    for spread in spreads {
      json.object { json in
        json.member("figure", spread.name)
        json.member("unit", spread.unit.rawValue)
        for (name, value) in [
          ("median", spread.median), ("least", spread.least), ("most", spread.most),
        ] as [(StaticString, Double)] {
          json.key(name)
          json.raw(number(value))
        }
        json.key("values")
        json.array(spread.values) { $0.raw(number($1)) }
      }
      json.newline()
    }
    return json.text
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { String($0) } ?? NumberText.fixed(value, decimals: 3)
  }
}
