/// Curves over two axes, each with its name at its end.
struct LinePlot {
  struct Curve {
    var name: String
    /// A style class of the palette; nil draws it as theory: dashed, in the colour of the text.
    var style: String?
    var mechanism: String?
    var points: [(x: Double, y: Double)]
    /// Where known, how sure each point is.
    var intervals: [Interval?] = []
    var hasMarkers = true
    /// Steps instead of slopes: the value stays what it was until the next point.
    var isStepped = false

    /// One of a mechanism, in its colour.
    static func of(_ contestant: Contestant, _ points: [(x: Double, y: Double)]) -> Curve {
      Curve(
        name: contestant.name ?? "",
        style: Palette.style(of: contestant.mechanism),
        mechanism: contestant.mechanism,
        points: points
      )
    }
  }

  var title: String
  var subtitle: String
  var x: Axis
  var y: Axis
  var curves: [Curve]

  static let width = 760.0
  private static let height = 440.0
  private static let frame = (left: 84.0, right: 590.0, top: 80.0, bottom: 384.0)

  var svg: String {
    var svg = SVG()
    svg.text(title, at: SVG.Point(x: 16, y: 26), class: "title")
    svg.text(subtitle, at: SVG.Point(x: 16, y: 45), class: "small")
    drawAxes(&svg)
    for curve in curves { draw(curve, &svg) }
    drawNames(&svg)
    return svg.document(width: Self.width, height: Self.height, label: "\(title). \(subtitle)")
  }

  private func drawAxes(_ svg: inout SVG) {
    let frame = Self.frame
    for tick in x.ticks {
      guard let position = x.position(tick) else { continue }
      let at = frame.left + position * (frame.right - frame.left)
      svg.line(SVG.Point(x: at, y: frame.top), SVG.Point(x: at, y: frame.bottom), class: "grid")
      svg.text(
        x.tickLabel(tick),
        at: SVG.Point(x: at, y: frame.bottom + 18),
        anchor: .middle,
        class: "small"
      )
    }
    for tick in y.ticks {
      guard let position = y.position(tick) else { continue }
      let at = frame.bottom - position * (frame.bottom - frame.top)
      svg.line(SVG.Point(x: frame.left, y: at), SVG.Point(x: frame.right, y: at), class: "grid")
      svg.text(
        y.tickLabel(tick),
        at: SVG.Point(x: frame.left - 8, y: at + 4),
        anchor: .end,
        class: "small"
      )
    }
    svg.line(
      SVG.Point(x: frame.left, y: frame.bottom),
      SVG.Point(x: frame.right, y: frame.bottom),
      class: "axis"
    )
    svg.text(
      x.label,
      at: SVG.Point(x: (frame.left + frame.right) / 2, y: frame.bottom + 40),
      anchor: .middle,
      class: "soft"
    )
    svg.text(y.label, at: SVG.Point(x: frame.left - 68, y: frame.top - 10), class: "small")
  }

  private func place(_ point: (x: Double, y: Double)) -> SVG.Point? {
    guard let across = x.position(point.x), let up = y.position(point.y) else { return nil }
    let frame = Self.frame
    return SVG.Point(
      x: frame.left + across * (frame.right - frame.left),
      y: frame.bottom - min(max(up, 0), 1) * (frame.bottom - frame.top)
    )
  }

  private func draw(_ curve: Curve, _ svg: inout SVG) {
    svg.group(curve.style ?? "", title: curve.name, mechanism: curve.mechanism) { svg in
      var points = curve.points.compactMap(place)
      if curve.isStepped {
        points = points.enumerated().flatMap { index, point in
          index == 0 ? [point] : [SVG.Point(x: point.x, y: points[index - 1].y), point]
        }
      }
      svg.path(points, class: curve.style == nil ? "theory" : "curve")
      for (point, interval) in zip(curve.points, curve.intervals) {
        guard let interval, let low = place((point.x, interval.low)),
          let high = place((point.x, interval.high))
        else { continue }
        svg.line(low, high, class: "whisker")
      }
      guard curve.hasMarkers, curve.style != nil else { return }
      for point in points {
        svg.add(
          "circle",
          ["cx": SVG.number(point.x), "cy": SVG.number(point.y), "r": "3", "class": "dot"]
        )
      }
    }
  }

  /// At the ends of the curves, moved apart where they would overlap.
  private func drawNames(_ svg: inout SVG) {
    let ends = curves.compactMap { curve in
      curve.points.last.flatMap(place).map { (curve: curve, end: $0) }
    }.sorted { $0.end.y < $1.end.y }
    let gap = 15.0
    var heights: [Double] = []
    for end in ends { heights.append(max(end.end.y, (heights.last ?? -.infinity) + gap)) }
    // What was pushed below the frame pushes the others up again.
    var floor = Self.frame.bottom + 6
    for index in heights.indices.reversed() {
      heights[index] = min(heights[index], floor)
      floor = heights[index] - gap
    }
    for (end, height) in zip(ends, heights) {
      svg.group(end.curve.style ?? "", title: nil, mechanism: end.curve.mechanism) { svg in
        svg.line(
          SVG.Point(x: end.end.x + 4, y: end.end.y),
          SVG.Point(x: Self.frame.right + 16, y: height),
          class: end.curve.style == nil ? "grid" : "tail"
        )
        svg.text(
          end.curve.name,
          at: SVG.Point(x: Self.frame.right + 20, y: height + 4),
          class: end.curve.style == nil ? "soft" : "name"
        )
      }
    }
  }
}

extension [LinePlot.Curve] {
  var xs: [Double] { flatMap { $0.points.map(\.x) } }
  var ys: [Double] { flatMap { $0.points.map(\.y) } }
}
