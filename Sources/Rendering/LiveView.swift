package import Tracing
internal import Workloads

/// A run that is under way, as a block of lines redrawn in place.
///
/// A bar for each task while they fit; of more, as many as there is room for from the first that has
/// not ended, so that a task keeps its row while it can, or those that run first. What does not fit is
/// folded into counts. Below them how many ran and waited, and the threads in use.
package struct LiveView: Sendable {
  package private(set) var board: LiveBoard
  private let facts: RunFacts
  /// What the person can do, said in the last line.
  private let hint: String
  package var keys = WatchKeys()

  package init(_ board: LiveBoard, facts: RunFacts, hint: String) {
    self.board = board
    self.facts = facts
    self.hint = hint
  }

  package mutating func take(_ events: [TraceEvent]) {
    board.take(events)
    board.sample(serviceHoldsWorker: facts.serviceHoldsWorker)
  }

  /// The lines of this moment, `now` nanoseconds into the run, at most as high as the format allows.
  package func lines(now: Int64, _ format: TextFormat) -> [String] {
    let footer = (keys.showsHelp ? help(format) : []) + footer(now: now, format)
    let room = max(1, (format.height ?? 24) - footer.count - 2)
    return taskLines(now: now, room: room, format) + footer
  }

  // MARK: Tasks

  private func taskLines(now: Int64, room: Int, _ format: TextFormat) -> [String] {
    let count = board.states.count
    let columns = format.width >= 76 && count > room ? 2 : 1
    let width = (format.width - 2 * (columns - 1)) / columns
    let fits = count <= room * columns
    let capacity = fits ? count : max(1, (room - 1) * columns)
    let order =
      keys.sortsByState
      ? board.states.indices.sorted { rank($0) < rank($1) } : page(of: capacity)
    let shown = order.prefix(capacity)
    let cells = shown.map { cell($0, now: now, width: width, format) }
    let rows = (cells.count + columns - 1) / columns
    var lines = (0..<rows).map { row in
      stride(from: row, to: cells.count, by: rows).map { cells[$0] }.joined(separator: "  ")
    }
    if !fits {
      lines.append(String(("  " + fold(order.dropFirst(shown.count), format)).prefix(format.width)))
    }
    return lines
  }

  /// All tasks by number, from the page on that holds the one sought, or else the first that has not
  /// ended: page by page, for a row that moves with every end cannot be followed.
  private func page(of capacity: Int) -> [Int] {
    let count = board.states.count
    let unended = board.states.firstIndex { if case .ended = $0 { false } else { true } }
    let sought = keys.found.flatMap { $0 <= count ? $0 - 1 : nil }
    let start = (sought ?? unended ?? max(0, count - 1)) / max(1, capacity) * capacity
    return Array(start..<count) + Array(0..<start)
  }

  /// Running first, then those that wait, then those that ended, the latest of them first.
  private func rank(_ index: Int) -> (Int, Int) {
    switch board.states[index] {
    case .running: (0, index)
    case .blocked, .waiting: (1, index)
    case .ended: (2, -index)
    case .pending: (3, index)
    }
  }

  private func cell(_ index: Int, now: Int64, width: Int, _ format: TextFormat) -> String {
    let mark = keys.found == index + 1 ? "> " : "  "
    let name = mark + TaskID(index + 1).label(amongst: board.plan.count) + "  "
    let room = max(8, min(40, width - name.count - 12))
    let (bar, note, role) = picture(of: index, now: now, room: room, format)
    let text = name + Columns.left(bar, room) + " " + note
    let padded = Columns.left(String(text.prefix(width)), width)
    return format.style.paint(padded, role)
  }

  private func picture(
    of index: Int,
    now: Int64,
    room: Int,
    _ format: TextFormat
  ) -> (bar: String, note: String, role: Style.Role) {
    let glyphs = format.glyphs
    func bar(_ share: Double) -> String {
      let filled = Int((share * Double(room)).rounded(.down))
      return String(repeating: glyphs.running, count: filled)
        + String(repeating: glyphs.waiting, count: room - filled)
    }
    switch board.states[index] {
    case .pending: return ("", "to come", .faint)
    case .waiting: return (String(repeating: glyphs.waiting, count: 2), "waiting", .waiting)
    case .blocked: return (String(repeating: glyphs.blocked, count: 2), "blocked", .blocked)
    case .running(let since, let share):
      // Work that reports nothing is shown by the time it has had.
      let planned = max(1, board.plan[index].service)
      let known = share.map { Double($0) / 100 }
      let part = known ?? min(1, Double(max(0, now - since)) / Double(planned))
      return (bar(part), share.map { "\($0) %" } ?? "running", .running)
    case .ended(let kind):
      return (bar(kind == .finished ? 1 : 0), EventText.name(of: kind), role(of: kind))
    }
  }

  private func role(of kind: TraceEvent.Kind) -> Style.Role {
    switch kind {
    case .failed, .rejected: .failed
    case .cancelled: .cancelled
    default: .finished
    }
  }

  private func fold(_ hidden: some Sequence<Int>, _ format: TextFormat) -> String {
    var counts: [(String, Int)] = [
      ("running", 0), ("blocked, each holding a thread", 0), ("waiting", 0), ("ended", 0),
      ("to come", 0),
    ]
    for index in hidden {
      switch board.states[index] {
      case .running: counts[0].1 += 1
      case .blocked: counts[1].1 += 1
      case .waiting: counts[2].1 += 1
      case .ended: counts[3].1 += 1
      case .pending: counts[4].1 += 1
      }
    }
    let parts = counts.filter { $0.1 > 0 }.map { "\(NumberText.grouped($0.1)) \($0.0)" }
    return "\(format.glyphs.ellipsis) and " + parts.joined(separator: ", ")
  }

  // MARK: Counts

  private func help(_ format: TextFormat) -> [String] {
    Columns.flow(
      WatchKeys.help.map { "\($0) \($1)" },
      separator: format.glyphs.separator,
      width: format.width
    )
  }

  private func footer(now: Int64, _ format: TextFormat) -> [String] {
    let history = board.history
    let room = max(8, format.width - 24)
    func line(_ name: String, _ values: [Int]) -> String {
      Columns.left(name, 9) + Columns.right(String(values.last ?? 0), 6) + "  "
        + sparkline(values, room: room, format.glyphs)
    }
    var lines = [
      line("running", history.map(\.running)), line("waiting", history.map(\.waiting)),
    ]
    if history.contains(where: { $0.held > 0 }) {
      lines.append(line("threads", history.map(\.held)))
    }
    let counts = "\(DurationText.text(now)), \(board.ended) of \(board.plan.count) ended"
    var told = [counts]
    if let limit = board.limit { told.append("limit now \(limit)") }
    if keys.isPaused { told.append("held: p goes on") }
    if let entry = keys.entry {
      told.append("\(entry.purpose.rawValue): \(entry.number.text)_")
    } else if let message = keys.message {
      told.append(message)
    } else {
      told += [hint, "? lists the keys"]
    }
    let pieces = Columns.flow(
      told,
      separator: format.glyphs.separator,
      width: format.width
    )
    return lines + pieces.map { format.style.paint(String($0.prefix(format.width)), .faint) }
  }

  /// The values squeezed into the room, each column showing the largest it stands for.
  private func sparkline(_ values: [Int], room: Int, _ glyphs: GlyphSet) -> String {
    guard let top = values.max(), top > 0 else { return "" }
    let columns = min(room, values.count)
    return String(
      (0..<columns).map { column -> Character in
        let from = column * values.count / columns
        let to = max(from + 1, (column + 1) * values.count / columns)
        let value = values[from..<to].max() ?? 0
        return value == 0 ? " " : Sparkline.level(value, of: top, glyphs)
      }
    )
  }
}
