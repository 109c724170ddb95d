internal import Basics

/// Decides what to send so that a block of lines changes in place.
///
/// The cursor rests at the start of the row below the block. Only rows that differ are written
/// again: over a slow link a whole block 20 times a second would never arrive.
struct LivePainter {
  /// Whether nothing else is on the screen: its block begins at the top then, and a resize wipes all.
  private let ownsScreen: Bool
  private var shown: [String] = []
  /// The lines that were given last, as they were before they were cut: to cut a line costs more than all else,
  /// and from one frame to the next few lines change.
  private var uncut: [String] = []
  private var size: TerminalSize?

  init(ownsScreen: Bool = false) { self.ownsScreen = ownsScreen }

  /// What turns the block on the screen into `lines`, cut to a window of `size`.
  mutating func paint(_ lines: [String], size new: TerminalSize) -> String {
    let lines = fit(lines, to: new)
    let resized = size != nil && size != new
    let old = resized ? [] : shown
    var result = resized ? remove(from: new) : Self.up(shown.count)
    for (index, line) in lines.enumerated() {
      if index < old.count, old[index] == line {
        result += "\n"
      } else {
        result += (index < old.count ? "\u{1B}[2K" : "") + line + "\n"
      }
    }
    if lines.count < old.count { result += "\u{1B}[J" }
    let changed = resized || lines != shown
    shown = lines
    size = new
    return changed ? result : ""
  }

  /// What takes the block off a window that has this size now.
  ///
  /// Where a window became narrower or lower, nobody knows where the block is: some terminals wrap its rows anew
  /// and some cut them, and a frame that was under way meanwhile was drawn for the old size. All that is seen
  /// is wiped then, and what was above the block with it.
  mutating func remove(from now: TerminalSize) -> String {
    defer { shown = [] }
    guard !shown.isEmpty else { return "" }
    if ownsScreen { return "\u{1B}[H\u{1B}[J" }
    if let size, now.columns < size.columns || now.rows < size.rows { return "\u{1B}[H\u{1B}[J" }
    return Self.up(shown.count) + "\u{1B}[J"
  }

  /// Another program has had the screen: what was shown is out of reach now.
  mutating func forget() {
    shown = []
    size = nil
  }

  private static func up(_ rows: Int) -> String {
    rows > 0 ? "\r\u{1B}[\(rows)A" : ""
  }

  /// One row is left for the cursor; of lines beyond the window there is no way to come back up.
  private mutating func fit(_ lines: [String], to new: TerminalSize) -> [String] {
    let room = max(new.rows - 1, 1)
    var kept = lines
    if lines.count > room {
      kept = Array(lines.prefix(room - 1)) + ["(\(lines.count - room + 1) more lines)"]
    }
    defer { uncut = kept }
    return kept.enumerated().map { index, line in
      if new == size, index < min(uncut.count, shown.count), uncut[index] == line {
        return shown[index]
      }
      let cut = CellWidth.truncate(line, to: new.columns)
      return cut.unicodeScalars.contains("\u{1B}") ? cut + "\u{1B}[0m" : cut
    }
  }
}

/// Keeps frames apart: at most 20 a second, and after a key at most 100.
struct FramePacer {
  static let interval = Duration.milliseconds(50)
  /// The shortest from one frame to the next, where a key was pressed.
  private static let shortest = Duration.milliseconds(10)
  private var last: ContinuousClock.Instant?
  private var distance = Self.interval

  /// Lets the next frame come as soon as it may after the last.
  mutating func hasten() { distance = Self.shortest }

  /// How long until the next frame may be shown; zero when it is due now, and then it counts as
  /// shown.
  mutating func wait(at now: ContinuousClock.Instant) -> Duration {
    if let last, now < last + distance { return now.duration(to: last + distance) }
    last = now
    distance = Self.interval
    return .zero
  }
}
