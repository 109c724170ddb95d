package import Experiments
package import Mechanisms

/// The log of a run, a line for each event unless it is folded.
package enum EventsText {
  /// The events of the run, or of one task, in the order of time.
  ///
  /// Each line has the time, the task, what happened, where, and which task's step made it possible.
  /// With a height, the middle is left out and a line says how much that was. Of a run under way, the last
  /// line says what time it is.
  package static func list(_ run: Run, of task: TaskID? = nil, _ format: TextFormat) -> String {
    let events = task.map { task in run.events.filter { $0.task == task } } ?? run.events
    guard !events.isEmpty || run.isUnderWay else {
      return (task.map { "no event names \(run.label(of: $0))" } ?? "no events") + "\n"
    }
    let clock = ClockText(events.map(\.time) + [run.now].compactMap(\.self))
    let fold = Fold(
      count: events.count,
      room: format.height.map { max(3, $0) },
      allowsSample: false
    )
    let width = clock.text(run.now ?? events[events.count - 1].time).count
    let labelWidth = run.label(of: TaskID(1)).count
    var lines: [String] = []
    for entry in fold.entries {
      switch entry {
      case .gap(let range):
        lines.append(
          format.style.paint(
            Columns.right(format.glyphs.ellipsis, width)
              + "  (\(NumberText.count(range.count, "more event")))",
            .faint
          )
        )
      case .row(let index):
        let event = events[index]
        let name = Columns.left(event.task == .run ? "" : run.label(of: event.task), labelWidth)
        var line = "\(Columns.right(clock.text(event.time), width))  \(name)  "
        line += format.style.paint(EventText.words(for: event.kind), Style.Role(event.kind))
        if let worker = event.worker { line += " on \(worker.label)" }
        if let cause = event.cause, cause != .run, cause != event.task {
          line += ", made possible by \(run.label(of: cause))"
        }
        lines.append(line)
      }
    }
    if let now = run.now {
      let blank = Columns.left("", labelWidth)
      lines.append("\(Columns.right(clock.text(now), width))  \(blank)  now")
    }
    return lines.joined(separator: "\n") + "\n"
  }
}

/// Times of one list, all in one unit and with the same decimals, so that they line up and differ
/// where the events do.
private struct ClockText {
  private let unit: (name: String, nanoseconds: Int64)
  private let decimals: Int

  init(_ times: [Int64]) {
    let last = times.last ?? 0
    let unit = DurationText.units.last { last >= $0.nanoseconds } ?? DurationText.units[0]
    var decimals = 0
    var step = unit.nanoseconds
    while decimals < 6, step > 1, !times.allSatisfy({ $0.isMultiple(of: step) }) {
      step /= 10
      decimals += 1
    }
    self.unit = unit
    self.decimals = decimals
  }

  func text(_ time: Int64) -> String {
    let number = NumberText.fixed(Double(time) / Double(unit.nanoseconds), decimals: decimals)
    return "\(number) \(unit.name)"
  }
}
