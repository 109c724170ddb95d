// The run over time: a row for each task or each worker, and below them how many ran and waited.
//
// Everything is laid on one axis of cells of a round length. Where there are more tasks than lines,
// some are left out: the middle if a few are, all but an even sample if most are. Either way a line
// says how many are not shown and what became of them, so that a failure is never folded away unseen.

package import Experiments
import Mechanisms
internal import WorkStealing

/// Draws a run as text, by task or by worker.
package struct Gantt {
  private let run: Run
  private let timeline: Timeline
  private let layout: GanttLayout
  private var format: TextFormat { layout.format }

  private init(_ run: Run, _ format: TextFormat) {
    self.run = run
    timeline = run.timeline
    layout = GanttLayout(format, until: timeline.end, tasks: timeline.tasks.count)
  }

  /// A row for each task: when it waited, ran, was suspended, and how it ended.
  ///
  /// - Complexity: O(n) for n events, plus the rows shown.
  package static func tasks(_ run: Run, _ format: TextFormat, legend: Bool = false) -> String {
    Gantt(run, format).drawTasks(legend: legend)
  }

  /// A row for each worker: which were held, and by work or by waiting.
  ///
  /// - Complexity: O(n log n) for n events.
  package static func workers(_ run: Run, _ format: TextFormat, legend: Bool = false) -> String {
    Gantt(run, format).drawWorkers(legend: legend) + lanes(run, format)
  }

  /// What the workers of the lanes did, which no span shows.
  private static func lanes(_ run: Run, _ format: TextFormat) -> String {
    guard let lanes = run.lanes, let workers = run.workers else { return "" }
    let pieces = [
      "lanes, \(NumberText.count(workers, "worker"))", NumberText.count(lanes.jobs, "job"),
      NumberText.count(lanes.steals, "steal"),
      "\(NumberText.count(lanes.sleeps, "sleep")), woken \(NumberText.count(lanes.wakes, "time"))",
    ]
    let routes = Set(run.events.compactMap(\.route)).sorted { $0.rawValue < $1.rawValue }
    let marks = routes.map { route in
      "\(Style.Role(route).glyph(format.glyphs)) \(route == .slot ? "from the slot" : "stolen")"
    }
    return
      (Columns.flow(pieces, separator: format.glyphs.separator, width: format.width)
      + Columns.flow(marks, separator: "  ", width: format.width))
      .map { $0 + "\n" }.joined()
  }

  // MARK: Tasks

  private func drawTasks(legend: Bool) -> String {
    let lanes = timeline.tasks
    guard !lanes.isEmpty else { return "no tasks\n" }
    return draw(lanes, legend: legend) { lane in
      (lane.life.task.label(amongst: lanes.count), layout.row(of: lane))
    } gap: { range, fold in
      gapLines(lanes[range].map(\.life.end), fold: fold)
    }
  }

  private func gapLines(_ ends: [TaskLife.End?], fold: Fold) -> [String] {
    let failed = ends.count { $0 == .failed }
    let cancelled = ends.count { $0 == .cancelledWhileWaiting || $0 == .cancelledWhileRunning }
    let rejected = ends.count { $0 == .rejected }
    let unended = ends.count { $0 == nil }
    var what =
      fold.isSample
      ? "1 task in \(NumberText.grouped(fold.step)) of \(NumberText.grouped(ends.count))"
      : "\(NumberText.grouped(ends.count)) more like these"
    let others = [
      (failed, "failed"), (cancelled, "cancelled"), (rejected, "rejected"),
      (unended, run.isUnderWay ? "not ended yet" : "never ended"),
    ].filter { $0.0 > 0 }.map { "\(NumberText.grouped($0.0)) \($0.1)" }
    if !others.isEmpty {
      let list = others.joined(separator: ", ")
      what =
        fold.isSample
        ? "\(what); in all \(list)" : "\(NumberText.grouped(ends.count)) more: \(list)"
    }
    return gapLines(what)
  }

  private func gapLines(_ what: String) -> [String] {
    Columns.wrap("(\(what))", width: layout.room).enumerated().map { index, line in
      layout.label(index == 0 ? format.glyphs.ellipsis : "") + format.style.paint(line, .faint)
    }
  }

  // MARK: Workers

  private func drawWorkers(legend: Bool) -> String {
    let lanes = timeline.workers.filter(isDrawn)
    guard !lanes.isEmpty else { return "no event of this run names a worker\n" }
    return draw(lanes, legend: legend, note: onlySteps ? stepsNote : nil) { lane in
      (lane.worker.label, row(of: lane))
    } gap: { range, fold in
      let count = NumberText.grouped(fold.isSample ? lanes.count : range.count)
      return gapLines(
        fold.isSample ? "1 worker in \(fold.step) of \(count)" : "\(count) more workers"
      )
    }
  }

  /// Whether no task ever held a worker, so that there are no stretches of time to draw.
  private var onlySteps: Bool { timeline.held.steps.isEmpty }

  private var stepsNote: [String] {
    let text = "work that suspends holds no worker: a mark is a moment at which one took a step"
    return Columns.wrap(text, width: format.width).map { format.style.paint($0, .faint) }
  }

  /// Whether anything of a worker is drawn: where work holds its worker, who only takes tasks in has no mark.
  private func isDrawn(_ lane: Timeline.WorkerLane) -> Bool {
    onlySteps || !lane.spans.isEmpty || lane.marks.contains(where: \.isShown)
  }

  private func row(of lane: Timeline.WorkerLane) -> GlyphLine {
    var row = GlyphLine(axis: layout.axis, glyphs: format.glyphs)
    let spans = lane.spans.map { span in
      // A task in service works, even if it sleeps on its thread; a task that waits for a permit
      // blocks its thread.
      (start: span.start, end: span.end, role: Style.Role(span.phase))
    }
    let marks = lane.marks.compactMap { mark -> (time: Int64, role: Style.Role)? in
      if let route = mark.route, !mark.kind.isEnd { return (mark.time, Style.Role(route)) }
      // Where work holds its worker the spans show it, and only ends are marked.
      if !onlySteps, !mark.isShown { return nil }
      return (mark.time, Style.Role(mark.kind))
    }
    row.draw(spans, marks: marks)
    return row
  }

  // MARK: What both share

  /// The axis, a row for each lane that has room, and what is below; `note` instead of how many states
  /// are too short to be drawn.
  private func draw<Lane>(
    _ lanes: [Lane],
    legend: Bool,
    note: [String]? = nil,
    row: (Lane) -> (name: String, glyphs: GlyphLine),
    gap: (Range<Int>, Fold) -> [String]
  ) -> String {
    let fixed = 4 + (legend ? 2 : 0)
    let room = format.height.map { max(3, $0 - fixed) } ?? format.mostRows
    let fold = Fold(count: lanes.count, room: room)
    var lines = [layout.axisLine]
    var hidden = 0
    for entry in fold.entries {
      switch entry {
      case .row(let index):
        let (name, glyphs) = row(lanes[index])
        hidden += glyphs.hidden
        lines.append(layout.label(name) + glyphs.text(style: format.style))
      case .gap(let range):
        lines += gap(range, fold)
      }
    }
    lines += sparklines + (note ?? hiddenNote(hidden))
    if legend { lines += legendLines }
    return lines.joined(separator: "\n") + "\n"
  }

  private var sparklines: [String] {
    func cells(_ function: StepFunction, _ choice: GrowingCells.Choice) -> [Int] {
      let axis = layout.axis
      return function.cells(count: axis.cells, length: axis.cell, choice)
    }
    return layout.sparklines(
      running: cells(timeline.running, .lasting(cap: run.facts.limit)),
      most: timeline.running.peak,
      limit: run.limitChanged ? cells(timeline.limit, .lasting(cap: nil)) : nil,
      waiting: cells(timeline.waiting, .largest)
    )
  }

  private func hiddenNote(_ hidden: Int) -> [String] {
    guard hidden > 0 else { return [] }
    let what = hidden == 1 ? "1 state is" : "\(NumberText.grouped(hidden)) states are"
    let text = "\(what) too short to be drawn: a cell is \(DurationText.text(layout.axis.cell))"
    return Columns.wrap(text, width: format.width).map { format.style.paint($0, .faint) }
  }

  private var legendLines: [String] {
    let roles: [(Style.Role, String)] = [
      (.waiting, "waiting"), (.blocked, "thread blocked"), (.running, "running"),
      (.suspended, "suspended"), (.ready, "ready, no worker"), (.finished, "finished"),
      (.failed, "failed"), (.cancelled, "cancelled"),
    ].filter { role, _ in
      // It takes a virtual run with few workers, so it is explained where it is drawn.
      role != .ready || timeline.tasks.contains { $0.spans.contains { $0.phase == .ready } }
    }
    let pieces = roles.map { "\($0.0.glyph(format.glyphs)) \($0.1)" }
    return Columns.flow(pieces, separator: "  ", width: format.width)
  }
}

extension Timeline.Mark {
  /// Whether it is drawn where spans show who holds a worker.
  fileprivate var isShown: Bool { kind.isEnd || route != nil }
}
