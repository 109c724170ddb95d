/// A row a mechanism: its value with an interval, or a dot for each fork.
struct RowPlot {
  struct Row {
    var name: String
    var style: String
    var mechanism: String?
    var values: [Double]
    var middle: Double?
    var interval: Interval?
    /// What is written at the end of the row.
    var note: String
  }

  struct Panel {
    var title: String
    var rows: [Row]
    /// A range to shade, such as the noise around 1.
    var band: Interval?
  }

  var title: String
  var subtitle: String
  var axisLabel: String
  var unit: String
  var spacing: Axis.Spacing
  var panels: [Panel]
  /// Where to draw a line from top to bottom, such as at 1.
  var mark: Double?
  /// Whether all panels share one axis, so that they can be compared.
  var sharesAxis: Bool

  private static let width = 760.0
  private static let left = 196.0
  private static let right = 596.0
  private static let rowHeight = 20.0

  var svg: String {
    var svg = SVG()
    svg.text(title, at: SVG.Point(x: 16, y: 26), class: "title")
    svg.text(subtitle, at: SVG.Point(x: 16, y: 45), class: "small")
    var top = 62.0
    let common = axis(panels.flatMap { values(of: $0) })
    for panel in panels {
      draw(panel, sharesAxis ? common : axis(values(of: panel)), &top, &svg)
    }
    svg.text(
      axisLabel,
      at: SVG.Point(x: (Self.left + Self.right) / 2, y: top + 6),
      anchor: .middle,
      class: "soft"
    )
    return svg.document(width: Self.width, height: top + 24, label: "\(title). \(subtitle)")
  }

  private func values(of panel: Panel) -> [Double] {
    panel.rows.flatMap { row in
      row.values + [row.middle, row.interval?.low, row.interval?.high].compactMap { $0 }
    } + [panel.band?.low, panel.band?.high, mark].compactMap { $0 }
  }

  private func axis(_ values: [Double]) -> Axis {
    Axis(axisLabel, unit: unit, spacing: spacing, covering: values)
  }

  private func draw(_ panel: Panel, _ axis: Axis, _ top: inout Double, _ svg: inout SVG) {
    func at(_ value: Double) -> Double? {
      axis.position(value).map { Self.left + min(max($0, 0), 1) * (Self.right - Self.left) }
    }
    if !panel.title.isEmpty {
      svg.text(panel.title, at: SVG.Point(x: 16, y: top + 12), class: "")
      top += 22
    }
    let bottom = top + Double(panel.rows.count) * Self.rowHeight
    if let band = panel.band, let low = at(band.low), let high = at(band.high) {
      svg.add(
        "rect",
        [
          "x": SVG.number(low), "y": SVG.number(top), "width": SVG.number(max(1, high - low)),
          "height": SVG.number(bottom - top), "class": "band",
        ]
      )
    }
    for tick in axis.ticks {
      guard let x = at(tick) else { continue }
      svg.line(SVG.Point(x: x, y: top), SVG.Point(x: x, y: bottom), class: "grid")
      svg.text(
        axis.tickLabel(tick),
        at: SVG.Point(x: x, y: bottom + 14),
        anchor: .middle,
        class: "small"
      )
    }
    if let mark, let x = at(mark) {
      svg.line(SVG.Point(x: x, y: top), SVG.Point(x: x, y: bottom), class: "one")
    }
    for (index, row) in panel.rows.enumerated() {
      let y = top + (Double(index) + 0.5) * Self.rowHeight
      svg.group(row.style, title: "\(row.name): \(row.note)", mechanism: row.mechanism) { svg in
        svg.text(row.name, at: SVG.Point(x: Self.left - 10, y: y + 4), anchor: .end, class: "name")
        if let interval = row.interval, let low = at(interval.low), let high = at(interval.high) {
          svg.line(SVG.Point(x: low, y: y), SVG.Point(x: max(high, low + 1), y: y), class: "range")
        }
        for value in row.values {
          guard let x = at(value) else { continue }
          svg.add(
            "circle",
            ["cx": SVG.number(x), "cy": SVG.number(y), "r": "2.5", "class": "dot"]
          )
        }
        if let middle = row.middle, let x = at(middle) {
          svg.add(
            "circle",
            ["cx": SVG.number(x), "cy": SVG.number(y), "r": "4.5", "class": "ring"]
          )
        }
      }
      svg.text(row.note, at: SVG.Point(x: Self.right + 10, y: y + 4), class: "small")
    }
    top = bottom + 34
  }
}
