internal import Basics
package import Experiments
internal import Mechanisms

/// The workers of a run as a picture: a row for each, and in it what it ran, and where that came from.
package enum WorkersSVG {
  private static let rowHeight = 64.0
  private static let letter = 8.5

  /// The whole file; nil where no event names a worker.
  package static func text(_ run: Run) -> String? {
    let timeline = run.timeline
    let workers = timeline.workers
    guard !workers.isEmpty else { return nil }
    let clock = run.clock == .virtual ? "virtual time" : "wall clock"
    let what = NumberText.count(run.plan.count, "task")
    let stolen = run.events.count { $0.route == .stolen }
    let slot = run.events.count { $0.route == .slot }
    var sheet = SVGSheet(
      title:
        "What \(NumberText.count(workers.count, "worker")) ran: \(what) through \(run.mechanism), "
        + "\(run.limitText), \(clock)",
      notes: ["a mark is a step of a task, named above it; what stands close is named once"],
      description: workers.map { lane in
        "\(lane.worker.label) took \(NumberText.count(lane.marks.count, "step"))."
      }.joined(separator: "\n")
        + "\n\(slot) of them came from the slot, and \(stolen) were stolen from another worker.",
      height: rowHeight * Double(workers.count)
    )
    let x = sheet.timeAxis(until: timeline.end)
    for (index, lane) in workers.enumerated() {
      let middle = sheet.top + rowHeight * (Double(index) + 0.6)
      sheet.label(lane.worker.label, SVGSheet.left - 8, middle + 5, anchor: "end")
      sheet.line(
        "grid",
        from: (SVGSheet.left, middle),
        to: (SVGSheet.width - SVGSheet.right, middle)
      )
      for span in lane.spans {
        let kind = span.phase == .blocked ? "blocked" : "running"
        sheet.bar(
          kind,
          x: x(span.start),
          y: middle - 9,
          width: max(0.6, x(span.end) - x(span.start)),
          height: 18,
          words: run.label(of: span.task)
        )
      }
      // Who is named last, and from where on there is room again.
      var free = -Double.infinity
      for mark in lane.marks {
        let place = x(mark.time)
        let name = run.label(of: mark.task)
        draw(mark.route, at: (place, middle), of: &sheet, words: name)
        let width = letter * Double(name.count)
        guard place - width / 2 >= free, place + width / 2 <= SVGSheet.width - 4 else { continue }
        sheet.label(name, place, middle - 18, anchor: "middle")
        free = place + width / 2 + letter
      }
    }
    drawLegend(&sheet)
    return sheet.finished(below: 48)
  }

  private static func drawLegend(_ sheet: inout SVGSheet) {
    let items: [(TraceEvent.Route?, String)] = [
      (nil, "from a queue"),
      (.slot, "from the slot: the step before made it ready"),
      (.stolen, "stolen from another worker"),
    ]
    var place = SVGSheet.left
    for (route, words) in items {
      draw(route, at: (place, sheet.bottom + 23), of: &sheet, words: words)
      sheet.label(words, place + 12, sheet.bottom + 28, "s")
      place += 36 + 8.4 * Double(words.count)
    }
  }

  /// A bar, a triangle that points upwards, or one that points to the left.
  private static func draw(
    _ route: TraceEvent.Route?,
    at place: (x: Double, y: Double),
    of sheet: inout SVGSheet,
    words: String
  ) {
    let (x, y) = place
    switch route {
    case nil: sheet.bar("waiting", x: x - 2, y: y - 9, width: 4, height: 18, words: words)
    case .slot:
      sheet.path(
        "running",
        through: [(x - 6, y + 7), (x, y - 8), (x + 6, y + 7)],
        closed: true,
        words: words
      )
    case .stolen:
      sheet.path(
        "failed",
        through: [(x + 8, y - 8), (x - 8, y), (x + 8, y + 8)],
        closed: true,
        words: words
      )
    }
  }
}
