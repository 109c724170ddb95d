import Mechanisms

/// One row of a drawing over time: a glyph and its role for each cell.
///
/// A cell holds several things when they are shorter than it. It then shows the most telling one: a failure,
/// a cancellation, a step that was stolen or came from the slot, a finish, in this order, otherwise the state
/// that takes most of the cell. What is shown nowhere and would be missed is counted in `hidden`, so
/// that the drawing can say so.
struct GlyphLine {
  private let axis: TimeAxis
  private let glyphs: GlyphSet
  private var drawn: [Role]
  /// How much of each cell its state takes.
  private var coverage: [Int64]
  /// Spans and marks that are to be seen nowhere.
  private(set) var hidden = 0
  /// How far the last span could go on, if all else stayed as it is, before the row would look different.
  private(set) var steadyUntil: Int64 = 0

  typealias Role = Style.Role

  init(axis: TimeAxis, glyphs: GlyphSet) {
    self.axis = axis
    self.glyphs = glyphs
    // One more than the axis has, for what happens at the very end.
    drawn = Array(repeating: .ordinary, count: axis.cells + 1)
    coverage = Array(repeating: 0, count: axis.cells + 1)
  }

  /// Draws states, then marks over them.
  mutating func draw(
    _ spans: [(start: Int64, end: Int64, role: Role)],
    marks: some Collection<(time: Int64, role: Role)>
  ) {
    var owner = [Int](repeating: -1, count: drawn.count)
    for (number, span) in spans.enumerated() {
      for cell in cells(from: span.start, to: span.end) {
        let begin = Int64(cell) * axis.cell
        let share = min(span.end, begin + axis.cell) - max(span.start, begin)
        guard owner[cell] < 0 || share > coverage[cell] else { continue }
        coverage[cell] = share
        drawn[cell] = span.role
        owner[cell] = number
      }
    }
    if let last = spans.last {
      steadyUntil = steadiness(of: last) { owner[$0] == spans.count - 1 }
    }
    var markOwner = [Bool](repeating: false, count: drawn.count)
    for mark in marks {
      let cell = min(axis.cell(of: mark.time), drawn.count - 1)
      if markOwner[cell] {
        hidden += 1
        guard mark.role.weight > drawn[cell].weight else { continue }
      }
      markOwner[cell] = true
      drawn[cell] = mark.role
      owner[cell] = -1
    }
    var isSeen = [Bool](repeating: false, count: spans.count)
    for number in owner where number >= 0 { isSeen[number] = true }
    for (span, seen) in zip(spans, isSeen) where !seen && isMissed(span) { hidden += 1 }
  }

  /// How far the last span could go on: to the end of its last cell, or, where another state takes more of that
  /// cell, until it takes as much.
  private func steadiness(
    of span: (start: Int64, end: Int64, role: Role),
    isSeen: (_ cell: Int) -> Bool
  ) -> Int64 {
    let cell = cells(from: span.start, to: span.end).upperBound - 1
    let begin = Int64(cell) * axis.cell
    let end = begin + axis.cell
    return isSeen(cell) ? end : min(end, max(span.start, begin) + coverage[cell])
  }

  /// Whether a reader would miss a span that is not drawn.
  ///
  /// A service, always: that a task ran is news. A wait of less than a quarter of a cell is what the
  /// wall clock puts before every admission, and saying so after each run would tell nothing.
  private func isMissed(_ span: (start: Int64, end: Int64, role: Role)) -> Bool {
    span.role == .running || span.end - span.start >= axis.cell / 4
  }

  private func cells(from start: Int64, to end: Int64) -> Range<Int> {
    let first = min(axis.cell(of: start), drawn.count - 1)
    let last = end > start ? min(axis.cell(of: end - 1), drawn.count - 1) : first
    return first..<last + 1
  }

  /// The row as text, runs of one role painted together, blanks at its end left away.
  func text(style: Style) -> String {
    let length = (drawn.lastIndex { $0 != .ordinary } ?? -1) + 1
    var text = ""
    var start = 0
    while start < length {
      let role = drawn[start]
      let end = drawn[start..<length].firstIndex { $0 != role } ?? length
      text += style.paint(String(repeating: role.glyph(glyphs), count: end - start), role)
      start = end
    }
    return text
  }
}

extension Style.Role {
  /// The glyph of a state or a mark.
  func glyph(_ glyphs: GlyphSet) -> Character {
    switch self {
    case .waiting: glyphs.waiting
    case .running: glyphs.running
    case .blocked: glyphs.blocked
    case .suspended: glyphs.suspended
    case .ready: glyphs.ready
    case .stolen: glyphs.stolen
    case .slot: glyphs.slot
    case .cancelled: glyphs.cancelled
    case .failed: glyphs.failed
    case .finished: glyphs.finished
    case .ordinary, .heading, .faint, .good, .bad: " "
    }
  }

  /// Which of two marks in one cell is the more telling.
  fileprivate var weight: Int {
    switch self {
    case .failed: 10
    case .cancelled: 9
    case .stolen: 8
    case .slot: 7
    case .finished: 6
    case .running: 5
    case .blocked: 4
    case .suspended: 3
    case .ready: 2
    case .waiting: 1
    case .ordinary, .heading, .faint, .good, .bad: 0
    }
  }

  /// The role of a task's state.
  init(_ phase: Timeline.Phase) {
    switch phase {
    case .waiting: self = .waiting
    case .blocked: self = .blocked
    case .running: self = .running
    case .suspended: self = .suspended
    case .ready: self = .ready
    }
  }

  /// The role of a task's end.
  init(_ end: TaskLife.End) {
    switch end {
    case .finished: self = .finished
    case .failed: self = .failed
    case .cancelledWhileWaiting, .cancelledWhileRunning, .rejected: self = .cancelled
    }
  }

  /// The role of a step that came to its worker in a way worth telling.
  init(_ route: TraceEvent.Route) {
    switch route {
    case .stolen: self = .stolen
    case .slot: self = .slot
    }
  }

  /// The role of an event where nothing but the event itself is drawn.
  init(_ kind: TraceEvent.Kind) {
    if let end = TaskLife.End(kind) {
      self.init(end)
      return
    }
    switch kind {
    case .admitted, .resumed, .progress: self = .running
    case .blocked: self = .blocked
    case .suspended: self = .suspended
    default: self = .waiting
    }
  }
}
