import Experiments
import Mechanisms

/// What was drawn of a run that is watched: from one picture to the next only what looks different is drawn again.
///
/// It belongs to one log, which grows. A picture that is drawn with it is the one that is drawn without.
package struct KeptDrawing: Sendable {
  /// What all of it depends on.
  private struct Sheet: Hashable, Sendable {
    var format: TextFormat
    var horizon: Int64
    var tasks: Int
  }

  /// A row, and what it was drawn from.
  private struct Row: Sendable {
    var events: ArraySlice<TraceEvent>
    var isSelected: Bool
    /// Those at which it looks like this.
    var moments: ClosedRange<Int64>
    var line: String
  }

  private struct Curves: Sendable {
    var running: GrowingCells
    var limit: GrowingCells
    var waiting: GrowingCells
    var values: [[Int]] = []
    var lines: [String] = []

    init(length: Int64, of limit: Int?) {
      running = GrowingCells(length: length, .lasting(cap: limit))
      self.limit = GrowingCells(length: length, .lasting(cap: nil))
      waiting = GrowingCells(length: length, .largest)
    }
  }

  private let sheet: Sheet
  let layout: GanttLayout
  let axisLine: String
  private var rows: [Int: Row] = [:]
  private var curves: Curves
  /// How many rows were drawn again for the last picture.
  private(set) var drawnAgain = 0

  /// Nothing is drawn yet, on an axis to that time; `limit` is the one that the run began with.
  init(_ format: TextFormat, until horizon: Int64, tasks: Int, limit: Int?) {
    sheet = Sheet(format: format.ofAnyHeight, horizon: horizon, tasks: tasks)
    layout = GanttLayout(format, until: horizon, tasks: tasks)
    axisLine = layout.axisLine
    curves = Curves(length: layout.axis.cell, of: limit)
  }

  /// Whether what was drawn may stay in such a picture.
  func fits(_ format: TextFormat, until horizon: Int64, tasks: Int) -> Bool {
    sheet == Sheet(format: format.ofAnyHeight, horizon: horizon, tasks: tasks)
  }

  // MARK: Rows

  /// The rows of some tasks as they stood at a moment.
  mutating func rows(
    of shown: Range<Int>,
    selected: Int?,
    in log: TimelineLog,
    at moment: Int64
  ) -> [String] {
    if rows.count > shown.count { rows = rows.filter { shown.contains($0.key) } }
    let stale = shown.filter { place in
      guard let row = rows[place] else { return true }
      return !row.moments.contains(moment) || row.isSelected != (place == selected)
        || row.events != log.events(of: place, by: moment)
    }
    drawnAgain = stale.count
    if !stale.isEmpty {
      let run = log.run(of: stale, at: moment)
      for (place, lane) in zip(stale, run.timeline.tasks) {
        let events = log.events(of: place, by: moment)
        let glyphs = layout.row(of: lane)
        let name = TaskID(place + 1).label(amongst: sheet.tasks)
        rows[place] = Row(
          events: events,
          isSelected: place == selected,
          moments: moment...Self.last(lane, glyphs, events, at: moment, run.clock),
          line: layout.label(name, isMarked: place == selected)
            + glyphs.text(style: sheet.format.style)
        )
      }
    }
    return shown.compactMap { rows[$0]?.line }
  }

  /// The last moment at which a row looks as it does, if no event of its task comes before.
  private static func last(
    _ lane: Timeline.TaskLane,
    _ glyphs: GlyphLine,
    _ events: ArraySlice<TraceEvent>,
    at moment: Int64,
    _ clock: RunClock
  ) -> Int64 {
    // In virtual time a row tells besides what the task should have done by then.
    guard clock == .real else { return moment }
    if events.isEmpty || lane.life.ended != nil { return .max }
    // A state that has just begun is not drawn yet, and then it is, in place of another.
    guard events.allSatisfy({ $0.time < moment }) else { return moment }
    return max(moment, glyphs.steadyUntil)
  }

  // MARK: Curves

  /// How many ran and waited by a moment, and the limit where it has changed.
  mutating func curves(of log: TimelineLog, at moment: Int64) -> [String] {
    let begun = layout.cells(begunBy: moment)
    let known = log.curves(by: moment)
    let running = curves.running.first(begun, of: known.running)
    let limit = log.limitChanged ? curves.limit.first(begun, of: known.limit) : nil
    let waiting = curves.waiting.first(begun, of: known.waiting)
    let values = [running, [known.running.peak], limit ?? [], waiting]
    if values != curves.values {
      curves.values = values
      curves.lines = layout.sparklines(
        running: running,
        most: known.running.peak,
        limit: limit,
        waiting: waiting
      )
    }
    return curves.lines
  }
}

extension TextFormat {
  /// The same where it does not matter how many lines there may be.
  fileprivate var ofAnyHeight: TextFormat {
    var format = self
    format.height = nil
    return format
  }
}
