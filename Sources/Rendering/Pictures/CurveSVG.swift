internal import Basics
internal import Experiments
internal import Mechanisms

/// The utilisation curve as a picture: a mark for each run, how long tasks waited against how busy the permits were.
package enum CurveSVG {
  /// The whole file; nil where there are too few runs for a curve.
  package static func text(_ entries: [RunList.Entry]) -> String? {
    let points = UtilisationCurve.points(entries)
    guard points.count > 1, let first = entries.first else { return nil }
    let most = points.map(\.waiting).max() ?? 0
    func words(_ point: UtilisationCurve.Point) -> String {
      "\(NumberText.percent(point.used)) of the permits in use: a mean wait of "
        + DurationText.text(point.waiting)
    }
    var sheet = SVGSheet(
      title: "How long a task waits, against the share of the permits in use",
      notes: [
        "\(first.run.mechanism), \(first.run.limitText): a mark is a run of "
          + "\(NumberText.count(first.run.plan.count, "task")) that arrive at a rate of its own"
      ],
      description: points.map { words($0) + "." }.joined(separator: "\n"),
      height: 360
    )
    let y = sheet.durationAxis(until: most)
    func x(_ used: Double) -> Double { SVGSheet.left + (SVGSheet.chartWidth - 16) * used }
    for percent in stride(from: 0, through: 100, by: 20) {
      let place = x(Double(percent) / 100)
      sheet.line("grid", from: (place, sheet.top), to: (place, sheet.bottom))
      sheet.label("\(percent) %", place, sheet.bottom + 20, anchor: "middle")
    }
    sheet.label(
      "share of the permits in use, on average",
      x(0.5),
      sheet.bottom + 42,
      anchor: "middle"
    )
    sheet.turnedLabel("mean wait")
    sheet.path("limit", through: points.map { (x($0.used), y($0.waiting)) })
    for point in points {
      let (x, y) = (x(point.used), y(point.waiting))
      sheet.dot("running", x: x, y: y, radius: 6, words: words(point))
      if points.count <= 12 {
        sheet.label(DurationText.text(point.waiting), x - 10, y - 8, "s", anchor: "end")
      }
    }
    return sheet.finished(below: 56)
  }
}
