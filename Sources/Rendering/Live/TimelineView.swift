import Experiments
package import Mechanisms

/// The timeline of a run as it stood at a moment, on an axis with room for what is to come.
///
/// A pure function of the log, the moment, what is selected and the size: a run that goes on is drawn as one
/// that is played again, and the last frame is the final timeline.
package struct TimelineView: Sendable {
  package var log: TimelineLog
  /// The place of the task that is selected.
  package var selected: Int?
  /// The moments that were marked, in the order of time.
  package private(set) var marks: [Int64] = []
  /// How long the run takes, as far as anybody knew when it began.
  private let expected: Int64

  package init(_ log: TimelineLog, expecting length: Int64) {
    self.log = log
    expected = max(1, length)
  }

  package mutating func mark(_ moment: Int64) {
    guard !marks.contains(moment) else { return }
    marks.append(moment)
    marks.sort()
  }

  /// Where the axis ends: it grows by halves, and at last is as long as the run.
  package var horizon: Int64 {
    if log.isOver { return max(1, log.lastTime) }
    var horizon = expected
    while horizon < log.lastTime { horizon += horizon / 2 + 1 }
    return horizon
  }

  /// The axis, the marks and the curves.
  private var linesBesideRows: Int { 3 + (log.limitChanged ? 1 : 0) + (marks.isEmpty ? 0 : 1) }

  /// How many lines a picture has at least, however few the format allows.
  package var fewestLines: Int { linesBesideRows + 2 }

  /// The picture at a moment, at most as high as the format allows.
  ///
  /// `seen` is how far the run has come: the axis reaches that far, whatever moment is shown.
  package func lines(at moment: Int64, seen: Int64 = 0, _ format: TextFormat) -> [String] {
    var kept: KeptDrawing?
    return lines(at: moment, seen: seen, format, keeping: &kept)
  }

  /// The same picture; what was drawn of this log before is not drawn again where it looks the same.
  package func lines(
    at moment: Int64,
    seen: Int64 = 0,
    _ format: TextFormat,
    keeping kept: inout KeptDrawing?
  ) -> [String] {
    let count = log.plan.count
    let room = format.height.map { max(2, $0 - linesBesideRows) } ?? .max
    let capacity = count <= room ? count : room - 1
    let shown = page(of: capacity, at: moment)
    var horizon = horizon
    while !log.isOver, horizon < seen { horizon += horizon / 2 + 1 }
    var drawing =
      kept.take() ?? KeptDrawing(format, until: horizon, tasks: count, limit: log.promisedLimit)
    if !drawing.fits(format, until: horizon, tasks: count) {
      drawing = KeptDrawing(format, until: horizon, tasks: count, limit: log.promisedLimit)
    }
    var lines = [drawing.axisLine]
    if !marks.isEmpty { lines.append(drawing.layout.line(marking: marks)) }
    lines += drawing.rows(of: shown, selected: selected, in: log, at: moment)
    if shown.count < count {
      lines.append(
        drawing.layout.label(format.glyphs.ellipsis) + rest(besides: shown, at: moment, format)
      )
    }
    lines += drawing.curves(of: log, at: moment)
    kept = drawing
    return lines
  }

  /// The tasks that have a row: those of the page with the one selected, or else with the first that has not
  /// ended.
  private func page(of capacity: Int, at moment: Int64) -> Range<Int> {
    let count = log.plan.count
    guard capacity < count else { return 0..<count }
    let first = log.firstUnended(at: moment)
    let start = (selected ?? first ?? count - 1) / capacity * capacity
    // The last page is as full as the others.
    let begin = min(start, count - capacity)
    return begin..<begin + capacity
  }

  /// What the tasks without a row do.
  private func rest(besides shown: Range<Int>, at moment: Int64, _ format: TextFormat) -> String {
    let counts = zip(log.counts(at: moment), log.counts(of: shown, at: moment)).map { $0 - $1 }
    let pieces = zip(counts, TimelineLog.State.all).filter { $0.0 > 0 }.map { $1.text($0) }
    let text =
      "(\(NumberText.grouped(log.plan.count - shown.count)) more: \(pieces.joined(separator: ", ")))"
    return format.style.paint(text, .faint)
  }

  /// How many tasks did what at a moment.
  package func standing(at moment: Int64) -> String {
    let ended = log.counts(at: moment)[TimelineLog.State.ended.rawValue]
    return "\(NumberText.grouped(ended)) of \(NumberText.grouped(log.plan.count)) ended"
  }

  /// What the task that is selected waits for, who is ahead of it, and what has happened to it, by a moment.
  ///
  /// What was read of this log before is not read again.
  package func history(
    at moment: Int64,
    _ format: TextFormat,
    keeping kept: inout Why?
  ) -> [String] {
    guard let selected else { return [] }
    let told = log.why(selected, at: moment, keeping: &kept)
    let events = log.events(of: selected, by: moment).suffix(6).map {
      "\(DurationText.text($0.time)) \(EventText.name(of: $0.kind))"
    }
    return Columns.wrap(told, width: format.width, indent: 2)
      + (events.isEmpty
        ? [] : Columns.wrap(events.joined(separator: ", "), width: format.width, indent: 2))
  }

  /// Selects the task so many rows further down, or up.
  package mutating func select(by step: Int, at moment: Int64) {
    let count = log.plan.count
    guard count > 0 else { return }
    guard let now = selected else {
      selected = log.firstUnended(at: moment) ?? 0
      return
    }
    selected = min(max(0, now + step), count - 1)
  }
}
