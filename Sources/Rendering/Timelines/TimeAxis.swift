import Mechanisms

/// How time is laid out over the cells of a line: cells of a round length, ticks on their edges.
struct TimeAxis {
  /// Nanoseconds in a cell.
  let cell: Int64
  /// How many cells the run takes.
  let cells: Int
  /// Cells from one tick to the next.
  private let stride: Int
  let unitName: String
  /// Nanoseconds in a grain, of which cells and ticks have a whole number, and grains in a unit: a power of ten.
  private let grain: Int64
  private let grainsInUnit: Int64

  /// - Parameters:
  ///   - end: the time of the last event.
  ///   - room: the most cells there may be, at least 1.
  init(end: Int64, room: Int) {
    // Seventy years are enough, and leave room to calculate in.
    let end = min(max(1, end), .max / 4)
    let unit = Self.units.last { end >= $0.from } ?? Self.units[0]
    (unitName, grain, grainsInUnit) = (unit.name, unit.grain, unit.grains)
    let span = (end + grain - 1) / grain
    let room = Int64(max(1, room))
    let cell = Self.roundLength(atLeast: (span + room - 1) / room)
    self.cell = cell * grain
    cells = Int((span + cell - 1) / cell)
    // Wide gaps read best, but an axis of a single label says nothing.
    let label = Self.number(span, per: grainsInUnit).count
    let wide = Self.tickStride(cell: cell, span: span, atLeast: max(8, label + 3))
    stride =
      wide * 2 <= cells ? wide : Self.tickStride(cell: cell, span: span, atLeast: label + 2)
  }

  /// From which length on an axis counts in which unit, as durations are told, and how a unit is divided.
  private static let units: [(name: String, from: Int64, grain: Int64, grains: Int64)] =
    DurationText.units.map { ($0.name, $0.nanoseconds, 1, $0.nanoseconds) } + [
      ("m", 120_000_000_000, 60_000_000, 1_000), ("h", 7_200_000_000_000, 3_600_000_000, 1_000),
    ]

  /// The cell that begins with or holds `time`; one past the last for an event at the very end.
  func cell(of time: Int64) -> Int { Int(max(0, time) / cell) }

  /// The round times that are labelled, in units.
  var ticks: [(time: Int64, label: String)] {
    Swift.stride(from: 0, through: cells, by: stride).map { tick in
      let time = Int64(tick) * cell
      return (time, Self.number(time / grain, per: grainsInUnit))
    }
  }

  /// The line of tick labels, each beginning over the cell whose beginning it names; the last, which
  /// carries the unit, ends at the edge where it would go beyond it.
  func line(width: Int) -> String {
    var labels = ticks.map { (column: Int($0.time / cell), text: $0.label) }
    let last = labels.removeLast()
    let text = last.text + " " + unitName
    let column = max(0, min(last.column, width - text.count))
    // The last label says more than the one before it.
    if labels.count > 1, let before = labels.last, before.column + before.text.count >= column {
      labels.removeLast()
    }
    let line = labels.reduce("") { Columns.left($0, $1.column) + $1.text }
    if line.count < column || labels.isEmpty { return Columns.left(line, column) + text }
    return line + " " + unitName
  }

  /// The smallest of 1, 1.25, 2, 2.5, 4, 5 times a power of ten that is at least `least` and whole.
  ///
  /// All of them divide a power of ten, so that ticks at round times fall on the edges of cells.
  static func roundLength(atLeast least: Int64) -> Int64 {
    var power: Int64 = 1
    while true {
      for hundredths: Int64 in [100, 125, 200, 250, 400, 500] {
        let (product, overflow) = power.multipliedReportingOverflow(by: hundredths)
        if overflow { return least }
        if product.isMultiple(of: 100), product / 100 >= least { return product / 100 }
      }
      power *= 10
    }
  }

  /// The fewest cells that make a round time and leave room between the labels.
  private static func tickStride(cell: Int64, span: Int64, atLeast room: Int) -> Int {
    var power: Int64 = 1
    while true {
      for factor: Int64 in [1, 2, 5] {
        let (length, overflow) = power.multipliedReportingOverflow(by: factor)
        if overflow || length > span { return Int.max / 4 }
        if length.isMultiple(of: cell), length / cell >= Int64(room) {
          return Int(length / cell)
        }
      }
      power *= 10
    }
  }

  /// `time` in units, as many decimals as it takes.
  private static func number(_ time: Int64, per unit: Int64) -> String {
    let whole = time / unit
    var fraction = String(time % unit + unit).dropFirst()
    while fraction.last == "0" { fraction.removeLast() }
    return fraction.isEmpty ? String(whole) : "\(whole).\(fraction)"
  }
}
