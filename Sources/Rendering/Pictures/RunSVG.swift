// A run as one SVG picture: a row for each task over one axis of time, and below how many ran and
// waited. It follows the reader's light or dark preference, and no state is told by colour alone:
// waiting is a thin line, a blocked thread a hatched band, running a full bar, suspension a dashed
// outline, and each kind of end has its own mark.

internal import Basics
package import Experiments
internal import Exploration
package import Mechanisms

/// A run as a picture.
package enum RunSVG {
  /// The colours and marks of every picture, also for programs that are no browsers.
  static let styles = {
    let colours = PageHead.colours
    let literals = StyleLiterals.firstValues(in: colours)
    return colours + "\n"
      + StyleLiterals.added(to: embedded(PackageResources.RunSVG_css), literals)
  }()

  /// The most rows a picture has; beyond, an even sample is drawn, and it says so.
  private static let mostRows = 2_000

  /// The whole file.
  ///
  /// The summary is written under the title.
  ///
  /// - Complexity: O(n log n) for n events.
  package static func text(_ run: Run, _ summary: RunSummary) -> String {
    let timeline = run.timeline
    var picture = Picture(run, summary, timeline)
    picture.drawAxis()
    picture.drawRows()
    picture.drawCounts()
    picture.drawLegend()
    return picture.finished
  }

  /// The rows drawn: all tasks, or an even sample of them.
  fileprivate static func rows(of timeline: Timeline) -> [Timeline.TaskLane] {
    let step = max(1, (timeline.tasks.count + mostRows - 1) / mostRows)
    return stride(from: 0, to: timeline.tasks.count, by: step).map { timeline.tasks[$0] }
  }

  private struct Picture {
    private let run: Run
    private let summary: RunSummary
    private let timeline: Timeline
    private let rows: [Timeline.TaskLane]
    private let rowHeight: Double
    private let axis: TimeAxis
    private var body = ""

    private let left = 92.0
    private let width = 1_000.0
    private let top: Double
    /// What stands above the rows, in lines that fit into the picture in wide letters too.
    private let title: [String]
    private let note: [String]
    private let countsHeight = 44.0

    init(_ run: Run, _ summary: RunSummary, _ timeline: Timeline) {
      self.run = run
      self.summary = summary
      self.timeline = timeline
      rows = RunSVG.rows(of: timeline)
      rowHeight =
        switch rows.count {
        case ...60: 18
        case ...200: 8
        case ...600: 4
        default: 1_600 / Double(rows.count)
        }
      axis = TimeAxis(end: timeline.end, room: 100)
      let clock = run.clock == .virtual ? "virtual time" : "wall clock"
      let tasks = NumberText.count(timeline.tasks.count, "task")
      let words = "\(tasks) through \(run.mechanism), \(run.limitText), \(clock), seed \(run.seed)"
      let drawn =
        rows.count < timeline.tasks.count ? ": \(NumberText.grouped(rows.count)) of them drawn" : ""
      title = Columns.wrap(words + drawn, width: 88)
      note = SummaryText.line(run, summary, TextFormat(width: 112))
        .split(separator: "\n").map(String.init)
      top = 84 + 20 * Double(title.count + note.count - 2)
    }

    private var chartWidth: Double { width - left - 24 }
    private var rowsBottom: Double { top + Double(rows.count) * rowHeight }

    private func x(_ time: Int64) -> Double {
      left + chartWidth * Double(time) / Double(max(1, timeline.end))
    }

    private func n(_ number: Double) -> String {
      let text = NumberText.fixed(number, decimals: 2)
      var trimmed = Substring(text)
      while trimmed.last == "0" { trimmed.removeLast() }
      if trimmed.last == "." { trimmed.removeLast() }
      return String(trimmed)
    }

    private mutating func line(_ text: String) { body += text + "\n" }

    private mutating func label(
      _ text: String,
      _ x: Double,
      _ y: Double,
      _ kind: String = "t",
      anchor: String = "start"
    ) {
      line(
        #"<text class="\#(kind)" x="\#(n(x))" y="\#(n(y))" text-anchor="\#(anchor)">"#
          + "\(XMLText.escaped(text))</text>"
      )
    }

    // MARK: Parts

    mutating func drawAxis() {
      let bottom = rowsBottom + countsHeight * 2 + 40
      let end = (run.isUnderWay ? "now, " : "") + DurationText.text(timeline.end)
      // The end has its own label, and needs the room of that.
      let last = x(timeline.end) - 8.5 * Double(end.count) - 28
      let marks = axis.ticks.filter { x($0.time) < last }.map { (x($0.time), $0.label) }
      for (x, text) in marks + [(x(timeline.end), end)] {
        line(
          #"<line class="grid" x1="\#(n(x))" y1="\#(n(top - 4))" x2="\#(n(x))" y2="\#(n(bottom))"/>"#
        )
        label(text, x, top - 10, anchor: x == left ? "start" : text == end ? "end" : "middle")
      }
      label("time, \(axis.unitName)", left - 8, top - 10, anchor: "end")
      turnedLabel("tasks", (top + rowsBottom) / 2)
      turnedLabel("how many", rowsBottom + countsHeight + 16)
    }

    /// The title of what goes upwards, at the left edge.
    private mutating func turnedLabel(_ text: String, _ y: Double) {
      line(
        #"<text class="t" transform="translate(18 \#(n(y))) rotate(-90)" text-anchor="middle">\#(text)</text>"#
      )
    }

    mutating func drawRows() {
      for (index, lane) in rows.enumerated() {
        let y = top + Double(index) * rowHeight
        let name = run.label(of: lane.life.task)
        let title = "\(name): \(LifeText.line(lane.life, now: run.now))"
        line("<g><title>\(XMLText.escaped(title))</title>")
        if rowHeight >= 18 || index.isMultiple(of: max(1, Int(18 / rowHeight))) {
          label(name, left - 8, y + max(rowHeight, 12) * 0.72, anchor: "end")
        }
        for span in lane.spans { drawSpan(span, y: y) }
        if let end = lane.life.end, let time = lane.life.ended {
          drawEnd(end, x: x(time), y: y)
        }
        line("</g>")
      }
    }

    /// The colour of what runs, and little of it.
    private static let ready = #"running" fill-opacity=".25"#

    private mutating func drawSpan(_ span: Timeline.Span, y: Double) {
      let start = x(span.start)
      // What took no time is still to be seen.
      let length = max(0.6, x(span.end) - start)
      let (name, share): (String, Double) =
        switch span.phase {
        case .waiting: ("waiting", 0.16)
        case .blocked: ("blocked", 0.7)
        case .running: ("running", 0.7)
        case .suspended: ("suspended", 0.4)
        case .ready: (Self.ready, 0.7)
        }
      let height = max(1, rowHeight * share)
      line(
        #"<rect class="\#(name)" x="\#(n(start))" y="\#(n(y + (rowHeight - height) / 2))" "#
          + #"width="\#(n(length))" height="\#(n(height))"/>"#
      )
    }

    private mutating func drawEnd(_ end: TaskLife.End, x: Double, y: Double) {
      let middle = y + rowHeight / 2
      let size = min(5, max(1.5, rowHeight * 0.3))
      switch end {
      case .finished:
        // In rows as thin as hairs, only the ends that went wrong stand out.
        if rowHeight < 3 { return }
        line(
          #"<line class="end" x1="\#(n(x))" y1="\#(n(middle - size))" x2="\#(n(x))" y2="\#(n(middle + size))"/>"#
        )
      case .failed:
        // A full diamond.
        line(
          #"<path class="failed" d="M\#(n(x)) \#(n(middle - size))L\#(n(x + size)) \#(n(middle))"#
            + #"L\#(n(x)) \#(n(middle + size))L\#(n(x - size)) \#(n(middle))Z"/>"#
        )
      case .cancelledWhileWaiting, .cancelledWhileRunning, .rejected:
        line(
          #"<path class="cancelled" d="M\#(n(x - size)) \#(n(middle - size))L\#(n(x + size)) \#(n(middle + size))"#
            + #"M\#(n(x - size)) \#(n(middle + size))L\#(n(x + size)) \#(n(middle - size))"/>"#
        )
      }
    }

    mutating func drawCounts() {
      var y = rowsBottom + 18
      for (name, function) in [("running", timeline.running), ("waiting", timeline.waiting)] {
        // A task that is admitted at once waits for no time, and does not count as waiting.
        let most = name == "running" ? function.peak : function.largest
        let peak = max(1, most)
        let scale = (countsHeight - 8) / Double(peak)
        let base = y + countsHeight - 8
        func steps(_ function: StepFunction) -> String {
          // A limit far above what ran is drawn at the top.
          function.steps.map { step in
            "H\(n(x(step.time)))V\(n(base - min(Double(step.value) * scale, countsHeight - 8)))"
          }.joined() + "H\(n(x(timeline.end)))"
        }
        let path = "M\(n(left)) \(n(base))\(steps(function))V\(n(base))Z"
        label(name, left - 8, base - 4, anchor: "end")
        label("at most \(most)", left + 4, y - 2, "s")
        line(#"<path class="count" d="\#(path)"/>"#)
        if name == "running", run.limitChanged {
          let path = "M\(n(left)) \(n(base))\(steps(timeline.limit))"
          line(#"<path class="limit" d="\#(path)"><title>\#(run.limitText)</title></path>"#)
        }
        y += countsHeight + 10
      }
    }

    mutating func drawLegend() {
      var items = [
        ("waiting", "waiting"), ("blocked", "waiting, thread blocked"), ("running", "running"),
        ("suspended", "suspended"),
      ]
      if showsReady { items.append((Self.ready, "ready, no worker")) }
      var x = left
      var y = legendTop
      // What a mark and its text take, in wide letters too.
      func room(_ mark: Double, _ text: String) -> Double { mark + Double(text.count) * 8.4 }
      for (kind, text) in items {
        let height = kind == "waiting" ? 3.0 : kind == "suspended" ? 7 : 11
        line(
          #"<rect class="\#(kind)" x="\#(n(x))" y="\#(n(y - 4 - height / 2))" width="22" height="\#(n(height))"/>"#
        )
        label(text, x + 28, y, "s")
        x += room(44, text)
      }
      let marks: [(TaskLife.End, String)] = [
        (.finished, "finished"), (.failed, "failed"), (.cancelledWhileRunning, "cancelled"),
      ]
      if showsReady { (x, y) = (left + 6, y + Self.legendLine) }
      for (end, text) in marks {
        drawEnd(end, x: x, y: y - 4 - rowHeight / 2)
        label(text, x + 10, y, "s")
        x += room(30, text)
      }
    }

    private var showsReady: Bool {
      timeline.tasks.contains { $0.spans.contains { $0.phase == .ready } }
    }

    private static let legendLine = 22.0
    private var legendTop: Double { rowsBottom + countsHeight * 2 + 64 }

    var finished: String {
      SVGSheet.file(
        height: legendTop + 18 + (showsReady ? Self.legendLine : 0),
        title: title,
        notes: note,
        description: Describe.run(run, summary),
        body: body
      )
    }
  }
}
