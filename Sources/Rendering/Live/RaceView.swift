internal import Basics
package import Mechanisms

/// The same tasks on several mechanisms, one below the other on one axis, as they stood at a moment.
///
/// A pure function of the events taken so far and the moment: a race that goes on is drawn as one that is
/// played again.
package struct RaceView: Sendable {
  private var lanes: [RaceLane]

  package init(_ lanes: [RaceLane]) { self.lanes = lanes }

  /// Takes events of the mechanism in that place.
  package mutating func take(_ events: [TraceEvent], of place: Int) { lanes[place].take(events) }

  /// The moment of the race at that time of each run's own clock.
  package func moment(at times: [Int64]) -> Int64 {
    zip(lanes, times).map { $0.moment(at: $1) }.max() ?? 0
  }

  /// Whether every task of every mechanism has ended.
  package var isOver: Bool { lanes.allSatisfy { $0.end != nil } }

  /// When the last task of all ended, or else the time of the latest event.
  package var end: Int64 { lanes.map { $0.end ?? $0.lastTime }.max() ?? 0 }

  /// The next moment at which something happened.
  package func moment(after moment: Int64) -> Int64? {
    lanes.compactMap { lane in lane.moments.first { $0 > moment } }.min()
  }

  /// The moment before at which something happened.
  package func moment(before moment: Int64) -> Int64? {
    lanes.compactMap { lane in lane.moments.last { $0 < moment } }.max()
  }

  // MARK: Standing

  /// How far one has come: who has served more tasks is further, then who ended earlier.
  ///
  /// A task that was cancelled brings nobody further.
  private func progress(of lane: RaceLane, at moment: Int64) -> (Int, Int, Int64) {
    let served = lane.served.value(at: moment) ?? 0
    if let end = lane.end, end <= moment { return (served, 1, -end) }
    return (served, 0, 0)
  }

  /// The places of those that are ahead; empty where all are level.
  private func leaders(at moment: Int64) -> [Int] {
    let all = lanes.map { progress(of: $0, at: moment) }
    guard let best = all.max(by: <) else { return [] }
    let ahead = all.indices.filter { all[$0] == best }
    return ahead.count == lanes.count ? [] : ahead
  }

  /// Who is ahead: "limiter and pool are ahead".
  package func standing(at moment: Int64) -> String {
    let ahead = leaders(at: moment)
    let names = ListText.all(ahead.map { lanes[$0].name })
    guard let first = ahead.first else {
      return isOver && moment >= end ? "all ended together" : "all level"
    }
    let firstEnd = lanes.compactMap(\.end).min()
    if let end = lanes[first].end, end <= moment {
      return end == firstEnd ? "\(names) ended first" : "\(names) finished the most tasks"
    }
    return "\(names) \(ahead.count == 1 ? "is" : "are") ahead"
  }

  /// All, those that ended first before the others.
  package var inOrderOfEnd: [String] {
    lanes.enumerated().sorted { one, other in
      (one.element.end ?? .max, one.offset) < (other.element.end ?? .max, other.offset)
    }.map(\.element.name)
  }

  // MARK: Picture

  /// How things stood at a moment, on an axis that goes to `end`.
  ///
  /// Three lines for each mechanism; where the format has no room for that, two or one.
  package func lines(at moment: Int64, until end: Int64, _ format: TextFormat) -> [String] {
    let room = format.height ?? .max
    let rows = [3, 2].first { $0 * lanes.count + 1 <= room } ?? 1
    let isNarrow = format.width < 50
    let margin = isNarrow ? 7 : 11
    let axis = TimeAxis(end: end, room: format.width - margin - 1)
    let ahead = leaders(at: moment)
    let names = lanes.map(\.name.count).max() ?? 0
    // One height for all, at every moment: who waits less is to be seen.
    let mostWaiting = lanes.map(\.tasks).max() ?? 0
    let running = lanes.map { $0.running.known(at: moment) }
    let mostRunning = running.map(\.peak).max() ?? 0
    var lines: [String] = []
    if rows > 1 {
      let ticks = axis.line(width: format.width - margin)
      lines.append(String(repeating: " ", count: margin) + format.style.paint(ticks, .faint))
    }
    for (place, lane) in lanes.enumerated() {
      lines.append(head(lane, isAhead: ahead.contains(place), names, at: moment, format))
      if rows > 1 {
        let text = Sparkline.row(
          cells(running[place], .lasting(cap: lane.limit), at: moment, axis),
          top: mostRunning,
          digits: true,
          format.glyphs
        )
        let label = Columns.left(isNarrow ? "  run" : "  running", margin)
        lines.append(label + format.style.paint(text, .running))
      }
      if rows > 2 {
        let text = Sparkline.row(
          cells(lane.waiting.known(at: moment), .largest, at: moment, axis),
          top: mostWaiting,
          digits: false,
          format.glyphs
        )
        let label = Columns.left(isNarrow ? "  wait" : "  waiting", margin)
        lines.append(label + format.style.paint(text, .waiting))
      }
    }
    return lines.map(Columns.trimmed)
  }

  /// What stands for each cell that has begun.
  private func cells(
    _ counts: StepFunction,
    _ choice: GrowingCells.Choice,
    at moment: Int64,
    _ axis: TimeAxis
  ) -> [Int] {
    let begun = min(axis.cells, axis.cell(of: moment) + 1)
    return counts.cells(count: begun, length: axis.cell, choice)
  }

  private func head(
    _ lane: RaceLane,
    isAhead: Bool,
    _ names: Int,
    at moment: Int64,
    _ format: TextFormat
  ) -> String {
    let mark = isAhead ? format.glyphs.mark : " "
    let name = "\(mark) \(lane.name)"
    var line = Columns.left(name, names + 2) + "  "
    for (index, piece) in state(of: lane, at: moment).enumerated() {
      let next = (index == 0 ? "" : format.glyphs.separator) + piece
      guard line.count + next.count <= format.width else { break }
      line += next
    }
    let cut = String(line.prefix(format.width))
    return isAhead ? format.style.paint(cut, .heading) : cut
  }

  private func state(of lane: RaceLane, at moment: Int64) -> [String] {
    let tasks = NumberText.grouped(lane.tasks)
    if let end = lane.end, end <= moment {
      return ["\(tasks) of \(tasks) ended", "the last after \(DurationText.text(end))"]
    }
    let count = { (counts: StepFunction) in counts.value(at: moment) ?? 0 }
    let blocked = count(lane.blocked)
    let states: [(Int, TimelineLog.State)] = [
      (count(lane.running), .running), (count(lane.waiting) - blocked, .waiting),
      (blocked, .blocked),
    ]
    return ["\(NumberText.grouped(count(lane.ended))) of \(tasks) ended"]
      + states.filter { $0.0 > 0 }.map { $1.text($0) }
  }
}
